"""Errors and warnings about data and settings, with what to do about them.

See docs/decisions/0003-two-errors-for-users.md.
"""

from __future__ import annotations


class DataError(ValueError):
    """Data that cannot be used: which file and line, what was read, what was expected, what to do.

    Attributes
    ----------
    path : str or None
        The file (or folder) at fault, None for data that never was a file.
    line : int or None
        Its line, counted from 1; None where no single line is at fault.
    found, expected, remedy : str
        What was read, what should have been there, and what the user can do about it.

    Examples
    --------
    >>> from rankviz import DataError
    >>> from rankviz.datasets import parse_letor
    >>> try:
    ...     parse_letor(b"1 qid:1 1:0.5\\n2 qid:1 1:nan\\n", name="train.txt")
    ... except DataError as error:
    ...     print(error.path, error.line)
    train.txt 2
    """

    def __init__(
        self,
        found: str,
        *,
        expected: str,
        remedy: str,
        path: object | None = None,
        line: int | None = None,
    ) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        self.found, self.expected, self.remedy = found, expected, remedy
        where = "" if self.path is None else f"{self.path}, " if line is not None else f"{self.path}: "
        where += "" if line is None else f"line {line}: "
        super().__init__(f"{where}{found}. Expected: {expected}. {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between processes, which the keyword-only constructor would not."""
        return _rebuild_error, (self.found, self.expected, self.remedy, self.path, self.line)


def _rebuild_error(found: str, expected: str, remedy: str, path: str | None, line: int | None) -> DataError:
    return DataError(found, expected=expected, remedy=remedy, path=path, line=line)


class DataWarning(UserWarning):
    r"""Data that was used after a repair worth knowing about (regrouped queries, padded features).

    Examples
    --------
    >>> import warnings
    >>> from rankviz import DataWarning
    >>> from rankviz.datasets import parse_letor
    >>> text = b"1 qid:1 1:0.5\n0 qid:2 1:0.1\n0 qid:1 1:0.2\n"  # query 1 stands in two places
    >>> with warnings.catch_warnings(record=True, category=DataWarning) as caught:
    ...     warnings.simplefilter("always")
    ...     parse_letor(text, name="train.txt").qid.tolist()
    [1, 1, 2]
    >>> len(caught)
    1
    """


class SettingError(ValueError):
    """A setting that is not known, out of its range, or does not go with another; it says what would do.

    Examples
    --------
    >>> from rankviz import RunSpec, SettingError
    >>> try:
    ...     RunSpec("synthetic-demo", C=-1.0)
    ... except SettingError as error:
    ...     print(error)
    C=-1.0 must be a positive finite number
    """


class SettingWarning(UserWarning):
    """A setting that was given and is not read with the choices made: the model is the same without it.

    `fit` and `fit_curve` warn with it, so that a kernel beside a map that has none is not mistaken for one
    that was trained with.

    Examples
    --------
    >>> import warnings
    >>> from rankviz import RankSVM, SettingWarning
    >>> with warnings.catch_warnings(record=True, category=SettingWarning) as caught:
    ...     warnings.simplefilter("always")
    ...     model = RankSVM(degree=2, feature_map="exact").fit([[1.0], [0.0]], [1, 0], qid=[1, 1])
    >>> print(caught[0].message)
    degree=2 is not read with kernel='rbf'; it is with kernel='polynomial'
    """

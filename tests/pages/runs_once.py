"""Train once for all tests of pages: later tests get the same records and progress events."""

from collections.abc import Iterable, Iterator

from rankviz import Fold, Progress, RunSpec
from rankviz.common.progress import Callback
from rankviz.runs.record import RunRecord
from rankviz.runs.run import execute_all

Told = tuple[RunSpec, RunRecord]


class RunsOnce:
    """`execute_all`, which trains the same specs on the same data only once.

    Runs are functions of their specs, which name the data by digest. What a run tells of its progress is
    told again at the same place, so that a page does what it does while training goes on. What was stopped or
    raised an error is not kept.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[RunSpec, ...], list[Progress | Told]] = {}

    def __call__(self, specs: Iterable[RunSpec], callback: Callback, *, fold: Fold) -> Iterator[Told]:
        asked = tuple(specs)
        assert all(spec.digest == fold.digest for spec in asked)
        if asked not in self._kept:
            yield from self._trained(asked, callback, fold)
            return
        for event in self._kept[asked]:
            if isinstance(event, Progress):
                callback(event)
            else:
                yield event

    def _trained(self, specs: tuple[RunSpec, ...], callback: Callback, fold: Fold) -> Iterator[Told]:
        events: list[Progress | Told] = []

        def tell(progress: Progress) -> bool | None:
            events.append(progress)
            return callback(progress)

        for found in execute_all(specs, tell, fold=fold):
            events.append(found)
            yield found
        if sum(not isinstance(event, Progress) for event in events) == len(specs):
            self._kept[specs] = events

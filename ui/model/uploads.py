"""A visitor's own data sets: uploaded or generated, in a folder that only this visitor sees."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.memory import return_freed_memory
from rankviz.datasets import DataError
from rankviz.datasets.archives import PACKED, Upload
from rankviz.datasets.synthetic import Recipe
from rankviz.datasets.upload_folders import record_address, record_visit, remove, remove_expired, room_left
from rankviz.datasets.uploads import Accepted, accept, keep_fold
from ui.controls.widgets import Bound
from ui.model import data_words as words
from ui.model import upload_memory
from ui.model.systems import scores_form
from ui.shell.texts import escaped
from ui.shell.visitors import address, keep_visitor
from ui.work.folds import FOLDS, datasets, own_root, search_again
from ui.work.runs import CHECKING, turn

_NEXT, _ERROR, _NOTES, _VERSION = "data-next", "upload-error", "upload-notes", "upload-version"
_FAILED = "upload-failed"  # since the last success: keeps the form open
_LINKED = "data-linked"
_START_RECIPE = Recipe()


def before_sidebar() -> None:
    """Choose the data set that was just added; handle a data set in the link that is not here."""
    _expire()
    record_visit(own_root())
    if _NEXT in st.session_state:
        st.session_state["data"] = st.session_state.pop(_NEXT)
    wanted = st.query_params.get("data", "")
    if "data" not in st.session_state and wanted and wanted not in datasets():
        st.session_state[_LINKED] = wanted
    if _LINKED in st.session_state:
        _say_it_is_not_here(st.session_state[_LINKED])


def _say_it_is_not_here(name: str) -> None:
    """Say that the link's data set is not here, with a button if its name defines how to generate it."""
    recipe = Recipe.named(name)
    if recipe is None or name in datasets():
        del st.session_state[_LINKED]
    if name in datasets():
        return
    said = words.NOT_HERE.format(name=escaped(name))
    if recipe is None:
        st.warning(said, icon=":material/warning:")
    else:
        _offer_to_generate(recipe, said)


def _offer_to_generate(recipe: Recipe, said: str) -> None:
    """Draw a button to generate it, because following a link must not write to the disk."""
    try:
        recipe.check_size()
        text, action = st.columns([5, 1], vertical_alignment="center")
        expected = words.CAN_BE_GENERATED.format(documents=recipe.expected_documents)
        text.warning(f"{said} {expected}", icon=":material/warning:")
        if action.button("Generate it", key="generate-linked", width="stretch"):
            _choose(_generate(recipe))
    except ValueError as error:  # DataError is one
        st.warning(
            f"{said} {words.CANNOT_BE_GENERATED.format(why=_sentence(error))}", icon=":material/warning:"
        )


@st.cache_resource(ttl=3600, show_spinner=False)
def _expire() -> int:
    """Remove uploads of visitors who have not returned for a month, and empty folders; once an hour."""
    return remove_expired()


def add_data(dataset: str) -> None:
    """Draw the form to add data, uploaded or generated, and scores of a system on the chosen data set."""
    if own_root().is_dir():
        keep_visitor()
    failed = _FAILED in st.session_state
    with st.expander(words.ADD, icon=":material/upload:", expanded=failed):
        upload, generate, scores = st.tabs(["Upload", "Generate", "Scores of a system"])
        with upload:
            _upload_form()
            st.caption(words.PRIVATE)
        with generate:
            _generator()
            st.caption(words.PRIVATE)
        with scores:
            scores_form(dataset)
            st.caption(words.SCORES_KEPT)


def own_data(dataset: str) -> None:
    """Draw a note if the chosen data set is the visitor's own, with a button to remove it."""
    found = datasets().get(dataset)
    if found is None or found.root != own_root().resolve():
        return
    if gap := words.missing_folds(escaped(dataset), found.folds):
        st.warning(gap, icon=":material/warning:")
    text, action = st.columns([5, 1], vertical_alignment="center")
    notes = st.session_state.get(_NOTES, {}).get(dataset, ())
    text.caption(" ".join([words.OWN.format(name=escaped(dataset)), *map(escaped, notes)]))
    action.button("Remove it", on_click=_remove, args=(found.folder,), width="stretch", key="remove-upload")


def _upload_form() -> None:
    version = st.session_state.setdefault(_VERSION, 0)
    key = f"upload-files-{version}"
    files, missing = upload_memory.file_field(words.FILES, key, on_change=_forget_error, help=words.FORMATS)
    if missing:
        _start_over(upload_memory.reason_missing())
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Name",
        key=f"upload-name-{version}",
        placeholder=words.UNNAMED,
        help=words.NAME,
        on_change="ignore",
    )
    if right.button("Check and add", type="primary", disabled=not files, width="stretch", key="upload-add"):
        _accept(upload_memory.uploads(files), name)
    if _ERROR in st.session_state:
        st.error(escaped(st.session_state[_ERROR]), icon=":material/error:")
        st.caption(words.NOTHING_ADDED)


def _start_over(why: str, name: str = "") -> None:
    """Run again with a form that has only a name, and a sentence."""
    _empty_form()
    st.session_state[f"upload-name-{st.session_state[_VERSION]}"] = name
    _fail(why)
    st.rerun()


def _empty_form() -> None:
    """Remove the files of this page; a form with other keys does not do this."""
    upload_memory.release_files()
    st.session_state[_VERSION] += 1


def _accept(files: list[Upload], name: str) -> None:
    line = st.progress(0.0, words.UNPACKING)
    _forget_error()
    try:
        accepted = _check(files, name, line)
    except DataError as error:
        if any(PACKED.search(file.name) for file in files):
            _start_over(str(error), name)  # the next archive must be alone
        _fail(str(error))
    else:
        _empty_form()
        st.session_state.pop(_FAILED, None)
        _choose(accepted.folder, accepted.notes)
    line.empty()


def _check(files: list[Upload], name: str, line: DeltaGenerator) -> Accepted:
    """Accept an upload when it is its turn."""
    with turn(CHECKING, line, words.WAITING):
        try:
            return accept(files, _place(), name=name, progress=lambda f: line.progress(f, words.READING))
        finally:
            return_freed_memory()


def _place() -> Path:
    """Return the folder for this visitor's next data set; record from which address it is filled."""
    root = own_root()
    record_address(root, address())
    return root


def _fail(why: str) -> None:
    st.session_state[_ERROR], st.session_state[_FAILED] = why, True


def _forget_error() -> None:
    st.session_state.pop(_ERROR, None)


def _choose(folder: Path, notes: tuple[str, ...] = ()) -> None:
    """Rerun with the data set in this folder chosen."""
    search_again()
    name = next(name for name, found in datasets().items() if found.folder == folder.resolve())
    st.session_state[_NEXT] = name
    st.session_state.setdefault(_NOTES, {})[name] = notes
    st.rerun()


def _remove(folder: Path) -> None:
    try:
        remove(folder, own_root())
        FOLDS.forget(folder)
        return_freed_memory()
    except DataError as error:
        st.toast(escaped(error), icon=":material/error:")
    search_again()


def _generator() -> None:
    """Draw the controls of the synthetic generator."""
    recipe = _recipe_controls()
    st.caption(words.GENERATED.format(documents=recipe.expected_documents, name=recipe.name))
    present = recipe.name in datasets()
    label = "Choose it" if present else "Generate"
    if st.button(label, type="primary", key="generate"):
        try:
            _choose(datasets()[recipe.name].folder if present else _generate(recipe))
        except ValueError as error:  # includes DataError
            st.error(_sentence(error), icon=":material/error:")


def _recipe_controls() -> Recipe:
    usual, sizes = _START_RECIPE, (_START_RECIPE.smallest, _START_RECIPE.largest)
    first, second, third = map(Bound, st.columns(3))
    queries = first.slider("gq", "Queries", 5, 1000, usual.queries, help=words.QUERIES)
    smallest, largest = second.slider("gd", "Documents per query", 1, 300, sizes, help=words.SIZES)
    features = third.slider("gf", "Features", 1, 100, usual.features, help="All from 0 to 1.")
    first, second, third = map(Bound, st.columns(3))
    about_nu, about_noise = {"step": 0.05, "help": words.NONLINEARITY}, {"step": 0.1, "help": words.NOISE}
    nonlinearity = first.slider("gv", "Non-linearity ν", 0.0, 1.0, usual.nonlinearity, **about_nu)
    noise = second.slider("gn", "Noise σ", 0.0, 3.0, usual.noise, **about_noise)
    grades = third.slider("gg", "Grades", 2, 5, usual.grades, help="0 is the most frequent.")
    last = Bound(st.columns(3)[0])
    seed = last.number("gs", "Seed of the data", 0, 2**31 - 1, usual.seed, help="Of all random draws.")
    return Recipe(queries, smallest, largest, features, grades, nonlinearity, noise, seed)


def _sentence(error: ValueError) -> str:
    return f"{escaped(error).rstrip('.')}."


def _generate(recipe: Recipe) -> Path:
    """Generate a recipe's data set for the visitor; ValueError if it would be too large."""
    root = _place()
    with turn(CHECKING, st.empty(), words.WAITING), st.spinner(f"Generating {recipe.name} …"):
        room_left(root).take(recipe.expected_bytes)  # check before generating what cannot be stored
        try:
            folder = keep_fold(recipe.make(), root, recipe.name)
        finally:
            return_freed_memory()
    search_again()
    return folder

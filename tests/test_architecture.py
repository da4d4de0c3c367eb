"""The boundaries of ARCHITECTURE.md, read from the imports."""

import ast
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CORE = sorted((REPOSITORY / "rankviz").rglob("*.py"))
APP = sorted(p for folder in ("pages", "ui") for p in (REPOSITORY / folder).rglob("*.py"))
APP += [p for p in [REPOSITORY / "app.py", REPOSITORY / "router.py"] if p.is_file()]

LAYERS = (
    {"common"},
    {"datasets"},
    {"metrics", "features"},
    {"learning"},
    {"shards"},
    {"models"},
    {"whatif"},
    {"runs"},
    {"store"},
    {"analysis"},
    {"plots"},
    {"command"},
    {"__main__"},
)
"""Packages of the core, each importing only from layers before its own (and from itself)."""

RISK = {"loss_facts", "map_loss", "score_losses", "score_risk", "losses", "pairs", "risk", "sorted_risk"}
"""Modules of rankviz.learning that know scores, pairs and costs, but no features."""

SOLVERS = {"cutting_planes", "hinge", "lbfgs", "newton", "objective", "sgd", "solvers"}
"""Modules of rankviz.learning that see an objective only."""

DECLARATIONS = {"loss_facts", "losses", "objective", "pairs", "solvers"}
"""Modules of rankviz.learning that say what there is; figures and pages may read them."""

APP_LAYERS = ("shell", "work", "controls")
"""Packages of the app that pages share, each importing only from those before its own; pages' own follow."""

RANK = {name: level for level, layer in enumerate(LAYERS) for name in layer}


@cache
def imports(path: Path) -> set[str]:
    """Dotted names that a module imports anywhere in it, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where a name comes from"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def package(name: str) -> str:
    return name.split(".")[0]


def part_of(path: Path) -> str:
    """The part of the core that a file belongs to: a module or a subpackage of rankviz."""
    return path.relative_to(REPOSITORY / "rankviz").parts[0].removesuffix(".py")


def parts_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("rankviz.")}


def learning_imported(path: Path) -> set[str]:
    """The modules of rankviz.learning that a file imports."""
    return {name.split(".")[2] for name in imports(path) if name.startswith("rankviz.learning.")}


def ui_imported(path: Path) -> set[str]:
    """The packages of the app that a file imports."""
    return {name.split(".")[1] for name in imports(path) if name.startswith("ui.")}


def label(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def of_each(paths: list[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """A test that a check holds for every file: one, for a thousand tiny ones take their time."""

    def decorate(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            for path in paths:
                try:
                    check(path)
                except AssertionError as error:
                    raise AssertionError(f"{label(path)}: {error}") from error

        test.__doc__ = check.__doc__
        return test

    return decorate


each_core_module, each_app_module = of_each(CORE), of_each(APP)


@each_core_module
def test_the_core_never_imports_the_app(path: Path) -> None:
    assert not {package(name) for name in imports(path)} & {"streamlit", "app", "pages", "ui"}


@each_core_module
def test_only_plots_draw(path: Path) -> None:
    assert part_of(path) == "plots" or "plotly" not in {package(name) for name in imports(path)}


@each_core_module
def test_dependencies_run_one_way(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    assert part in RANK, f"put {part} into a layer"
    for other in parts_imported(path) - {part}:
        assert RANK[other] < RANK[part], f"{label(path)} imports rankviz.{other}"


@each_core_module
def test_nobody_imports_from_the_front_door(path: Path) -> None:
    """`from rankviz import …` within the core would make every module depend on all."""
    public = {
        name for name in imports(path) if name.startswith("rankviz.") and name.split(".")[1] not in RANK
    }
    assert not public


@of_each([p for p in CORE if part_of(p) == "datasets"])
def test_datasets_know_no_numerics(path: Path) -> None:
    assert parts_imported(path) <= {"datasets", "common"}


@of_each([p for p in CORE if part_of(p) == "learning" and p.stem in RISK])
def test_the_risk_knows_no_features(path: Path) -> None:
    assert parts_imported(path) <= {"common", "learning"}
    assert learning_imported(path) <= RISK


@of_each([p for p in CORE if part_of(p) == "learning" and p.stem in SOLVERS])
def test_solvers_see_an_objective_only(path: Path) -> None:
    assert not parts_imported(path) & {"features", "datasets"}
    assert not learning_imported(path) & {"pairs", "losses"}


@each_app_module
def test_the_app_trains_through_execute_only(path: Path) -> None:
    assert learning_imported(path) <= DECLARATIONS - {"objective"}


@each_app_module
def test_pages_end_by_end_page_which_forgets_no_press(path: Path) -> None:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert "st.stop" not in map(ast.unparse, calls)


@each_app_module
def test_shared_packages_of_the_app_import_one_way(path: Path) -> None:
    later = dict(zip(APP_LAYERS, range(len(APP_LAYERS)), strict=True))
    own = later.get(path.parent.name, len(APP_LAYERS))
    for name in ui_imported(path):
        assert later.get(name, len(APP_LAYERS)) <= own, f"imports ui.{name}"


def test_packages_of_the_app_import_each_other_in_no_circle() -> None:
    arrows = {path.parent.name: set[str]() for path in APP if path.parent.parent.name == "ui"}
    for path in APP:
        if path.parent.name in arrows:
            arrows[path.parent.name] |= ui_imported(path) & arrows.keys() - {path.parent.name}
    assert arrows["controls"] == {"shell", "work"}
    assert next(iter(TopologicalSorter(arrows).static_order())) == "shell"


@of_each([p for p in CORE if part_of(p) == "plots"])
def test_plots_read_records_and_not_models(path: Path) -> None:
    """Plots may import declarations and results of solvers only."""
    models = {name for name in imports(path) if name.startswith("rankviz.models.")}
    assert all(name.split(".")[2] in ("dual_variables", "methods") for name in models)
    assert learning_imported(path) <= DECLARATIONS


def test_importing_the_library_loads_neither_streamlit_nor_plotly() -> None:
    code = "import sys, rankviz; print([m for m in ('streamlit', 'plotly') if m in sys.modules])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert run.stdout.strip() == "[]"

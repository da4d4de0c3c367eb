"""Test the results of the recipes in docs/how-to; `test_docs` only runs them."""

import re
import subprocess
import sys
from pathlib import Path

from rankviz.runs import RULES

REPOSITORY = Path(__file__).resolve().parent.parent


def code_of(recipe: Path) -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```", recipe.read_text(), re.DOTALL | re.MULTILINE))


def ran(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code]
    kept = {"PYTHONPATH": str(REPOSITORY), "HOME": str(folder), "OMP_NUM_THREADS": "2"}
    return subprocess.run(
        command, cwd=folder, env=kept, capture_output=True, text=True, check=False, timeout=300
    )


def test_the_search_of_the_recipe_compares_its_candidates(tmp_path: Path) -> None:
    """Each of the four has scores of its own, none NaN, and the refit model is the best of them."""
    check = """
import numpy as np
for name in ("NDCG@10", "MAP"):
    means = search.cv_results_[f"mean_test_{name}"]
    assert np.isfinite(means).all() and len(set(means)) == 4, means
assert search.best_index_ == search.cv_results_["mean_test_NDCG@10"].argmax()
train, test = next(GroupKFold(4).split(X, y, qid))
assert not set(qid[train]) & set(qid[test])
ours = RankSVM(C=1e-4).fit((X[train] - X[train].mean(0)) / X[train].std(0), y[train], qid=qid[train])
scores = ours.predict((X[test] - X[train].mean(0)) / X[train].std(0))
assert np.isclose(NDCG(10)(scores, y[test], qid[test]), search.cv_results_["split0_test_NDCG@10"][0])
"""
    done = ran(code_of(REPOSITORY / "docs" / "how-to" / "scikit-learn.md") + check, tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_rules_that_commands_name_are_there() -> None:
    texts = [path.read_text("utf-8") for path in (REPOSITORY / "docs" / "how-to").glob("*.md")]
    named = set(re.findall(r"--rule (\w+)", "\n".join(texts)))
    assert named
    assert named <= set(RULES)

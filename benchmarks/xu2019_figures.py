"""The figures that xu2019 prints and that `benchmarks.xu2019` sets ours beside."""

from __future__ import annotations

METRICS = ["MAP", "NDCG@1", "NDCG@3", "NDCG@5"]

TABLES_2_AND_4 = {
    "OHSUMED": {
        "plain": (0.4427, 0.5289, 0.4553, 0.4392),
        "factorised": (0.4518, 0.5671, 0.5113, 0.4889),
        "regularised": (0.4480, 0.5553, 0.4946, 0.4723),
    },
    "MQ2008": {
        "plain": (0.4713, 0.3686, 0.4277, 0.4730),
        "factorised": (0.4723, 0.3690, 0.4361, 0.4764),
        "regularised": (0.4755, 0.3690, 0.4315, 0.4719),
    },
}
"""RSVM, Fac-RSVM, Reg-RSVM: `METRICS`, means of five test folds."""

TABLE_6 = {
    49: {"plain": 8, "factorised": 5, "regularised": 5},
    45: {"plain": 92, "factorised": 5, "regularised": 6},
    35: {"plain": 234, "factorised": 5, "regularised": 15},
}
"""Ranks by query of OHSUMED fold 1."""

TABLE_7 = {
    1: (0.3472, 0.3939, 0.4250, 0.3962),
    3: (0.3475, 0.4242, 0.4236, 0.3877),
    5: (0.3486, 0.4242, 0.4127, 0.3860),
    10: (0.3481, 0.4242, 0.4127, 0.3801),
    20: (0.3476, 0.4242, 0.4127, 0.3877),
}
"""`METRICS` by K, OHSUMED fold 1."""

COUPLING = (0.1, 0.5, 1.0, 5.0, 10.0)
TABLE_8 = {
    0.1: (0.3530, 0.3472, 0.3491, 0.3461, 0.3417),
    0.5: (0.3523, 0.3416, 0.3478, 0.3461, 0.3419),
    1.0: (0.3489, 0.3543, 0.3491, 0.3465, 0.3418),
    5.0: (0.3507, 0.3540, 0.3468, 0.3458, 0.3416),
    10.0: (0.3566, 0.3525, 0.3490, 0.3465, 0.3414),
    50.0: (0.3523, 0.3512, 0.3483, 0.3459, 0.3418),
}
"""MAP by the paper's γ (`nuclear`), in the order of λ (`COUPLING`), OHSUMED fold 1."""

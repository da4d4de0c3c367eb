"""Threads of BLAS and of loops over blocks: one of BLAS in shared work, and as many as before afterwards."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rankviz.common import parallel
from rankviz.common.parallel import each, single_blas


def blas_threads() -> set[int]:
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_blas_uses_one_thread_within() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with single_blas():
            assert blas_threads() == {1}
            with single_blas():
                pass
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_errors_restore_it_too() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError):
            each(lambda n: 1 // n, [1, 0])
        assert blas_threads() == before


def test_threads_that_ask_at_once_restore_it() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before, seen = blas_threads(), list[set[int]]()

        def ask() -> None:
            for _ in range(20):
                with single_blas():
                    seen.append(blas_threads())

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: ask(), range(4)))
        assert len(seen) == 80
        assert blas_threads() == before


def test_nobody_waits_and_the_last_to_leave_restores_it() -> None:
    """A long fit in one thread of BLAS keeps no other from asking for the same."""
    with threadpool_limits(limits=2, user_api="blas"):
        before, seen = blas_threads(), list[set[int]]()
        fitting, leave = threading.Event(), threading.Event()

        def fit() -> None:
            with single_blas():
                fitting.set()
                assert leave.wait(60)
                seen.append(blas_threads())

        def other() -> None:
            with single_blas():
                seen.append(blas_threads())
            seen.append(blas_threads())

        long = threading.Thread(target=fit)
        long.start()
        assert fitting.wait(60)
        short = threading.Thread(target=other)
        short.start()
        short.join(60)
        waited = short.is_alive()
        leave.set()
        long.join()
        assert not waited
        assert seen == [{1}] * 3
        assert blas_threads() == before


@pytest.mark.parametrize("items", [[], [3], list(range(20))])
def test_each_keeps_the_order(items: list[int]) -> None:
    assert each(lambda n: n * n, items) == [n * n for n in items]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_products_with_a_large_matrix_are_the_same_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, columns: tuple[int, ...], dtype: type
) -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20_001, 130)).astype(dtype)
    v, u = (rng.standard_normal((size, *columns)).astype(dtype) for size in A.shape[::-1])
    assert parallel.reading_pays(A)
    found = []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv(parallel.ENVIRONMENT, threads)
        found.append((parallel.product(A, v), parallel.adjoint(A, u)))
    for one in found[1:]:
        for mine, first in zip(one, found[0], strict=True):
            np.testing.assert_array_equal(mine, first)
    rounding = 1e-11 if dtype is np.float64 else 1e-2
    exact = A.astype(np.float64)
    np.testing.assert_allclose(found[0][0], exact @ v, rtol=0, atol=rounding)
    np.testing.assert_allclose(found[0][1], u.astype(np.float64).T @ exact, rtol=0, atol=rounding)


def test_work_stays_in_its_thread_where_others_have_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    A, v = np.random.default_rng(0).normal(size=(parallel.SMALL_READ // 50, 100)), np.ones(100)
    shared = parallel.product(A, v)
    assert threading.get_ident() not in each(lambda _: threading.get_ident(), [1, 2])
    parallel.leave_cores_to_others(0, 100.0)
    assert threading.get_ident() not in each(lambda _: threading.get_ident(), [1, 2]), (
        "one other core is free"
    )
    parallel.leave_cores_to_others(1, 100.0)
    try:
        assert set(each(lambda _: threading.get_ident(), [1, 2])) == {threading.get_ident()}
        np.testing.assert_array_equal(parallel.product(A, v), shared)
    finally:
        parallel.leave_cores_to_others(1, 0.0)
    assert threading.get_ident() not in each(lambda _: threading.get_ident(), [1, 2])

"""Backends by name: this process, local worker processes, or a cluster's address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from rankviz.common.errors import SettingError
from rankviz.common.settings import instance
from rankviz.shards.backend import Backend, Here

HERE, LOCAL = "here", "local:"


@contextmanager
def place_of(where: str, shards: int | None = None) -> Iterator[Backend]:
    """Open the backend named `where`, and close it at the end.

    "here" uses threads of this process; "local:2" starts two local worker processes; other values are the
    address of a Dask scheduler, as "tcp://host:8786". Raises `SettingError` for an invalid address, a
    scheduler that does not answer, or without Dask.
    """
    instance("where", where, str, "a text: 'here', 'local:2' or the address of a Dask scheduler")
    if where == HERE:
        yield Here(shards)
        return
    if find_spec("distributed") is None:
        raise SettingError(f'where={where!r} needs Dask: pip install "rankviz[dask]"')
    from rankviz.shards.cluster import OnCluster, local_cluster

    if not where.startswith(LOCAL):
        with OnCluster(where, shards) as backend:
            yield backend
        return
    workers = where.removeprefix(LOCAL)
    if not (workers.isascii() and workers.isdecimal() and len(workers) <= 4 and 1 <= int(workers) <= 1024):
        raise SettingError(f"where={where!r} names no number of workers from 1 to 1,024, as local:2 does")
    with local_cluster(int(workers)) as address, OnCluster(address, shards) as backend:
        yield backend

"""Fixtures of the tests of shards: the backends."""

import pytest

from rankviz.shards import Backend, Here


@pytest.fixture(params=[5, 60], ids="{} shards".format)
def here(request: pytest.FixtureRequest) -> Backend:
    """This process, with shards of very different sizes; 60 are more than there are queries."""
    return Here(request.param, threads=2)

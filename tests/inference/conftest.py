"""An engine over the random Llama, and an oracle that has a network of its own: engines may change
theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.inference.oracle import Oracle
from tests.inference.random_models import STOP, build, engine_over
from workbench.inference.base import Work
from workbench.inference.engines import Engine


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> Iterator[None]:
    """Networks this small are slower on several cores, above all where tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def oracle() -> Oracle:
    return Oracle(build("llama"), STOP)


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def engine(work: Work) -> Iterator[Engine]:
    """A fresh engine over the random Llama; its counters are `work`."""
    with engine_over(build("llama"), work=work) as made:
        yield made

"""What tests of the store, the jobs and the terminal share: small instruments, real SQLite
files.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import pytest
from hypothesis import HealthCheck, settings

from stores.core.store import Store
from tests.warm import Subprocess
from workbench.domain.instruments import Instrument, IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.prompts import Template
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.jobs import launch

SHARED = Path(__file__).parents[2] / "shared" / "instruments"

LONGEST = (
    *("tui/test_typed_ahead.py", "tui/test_hostile_screens.py"),
    *("jobs/test_job_control.py", "jobs/test_remote_model.py", "tui/test_consistency_screen.py"),
    *(
        "cli/test_installed.py",
        "core/test_benchmarks.py",
        "report/test_report.py",
        "tui/test_report_dialog.py",
    ),
    *("tui/test_bias_study.py", "inference/test_engine_memory.py", "jobs/test_classifier.py"),
    *("tui/test_statement_editor.py", "tui/test_jobs_screen.py", "tui/test_bias_screen.py"),
    *(
        "tui/test_questionnaire_screen.py",
        "cli/test_consistency_commands.py",
        "jobs/test_annotation_processes.py",
    ),
    *(
        "jobs/test_jobs.py",
        "jobs/test_draft_jobs.py",
        "jobs/test_local_model.py",
        "jobs/test_published_study.py",
    ),
    *("tui/test_annotate_screen.py", "inference/test_engine_edges.py", "tui/test_checks_screen.py"),
    *(
        "golden/test_probvaa_lint.py",
        "jobs/test_ideal_questionnaire.py",
        "tui/test_survey_screen.py",
    ),
)
"""files that take longest, begun first: one that begins last keeps a process busy while the others
have no more to do"""

settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None)
settings.load_profile("same")
"""no test asserts a time, and two runs draw the same examples; `--hypothesis-profile explore` draws
others
"""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes again as cores: screens and jobs spend a good part of their time
    waiting.
    """
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(1, cores + cores // 2)


def pytest_configure() -> None:
    """Keep tests and their workers off the model hub, and let each of several processes compute in
    one thread: more threads than cores wait for one another by spinning.

    Bytecode is kept even where the environment says otherwise. Without it every process compiles
    every module, and every process of pytest-xdist rewrites 13,000 assertions: 45 of the 70 seconds
    that collecting takes.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # pytest-xdist tells its processes how wide the terminal is, and tables would obey.
    os.environ.pop("COLUMNS", None)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Tests open stores, and a person's list of recent ones is the person's.
    os.environ["XDG_STATE_HOME"] = mkdtemp()
    os.environ["WORKBENCH_CONFIG"] = mkdtemp(prefix="workbench-config-")  # not the user's own
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True, scope="session")
def warm_workers() -> Iterator[None]:
    """Let jobs start as copies of a process that has loaded the program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "subprocess", Subprocess)
        yield


@pytest.fixture(autouse=True)
def preferences_of_nobody() -> Iterator[None]:
    """Let no test see the theme, table or order that another one left."""
    yield
    for left in Path(os.environ["XDG_STATE_HOME"]).rglob("preferences.json"):
        left.unlink()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: processes of pytest-xdist must collect the same names, and what
    a compressor or a clock wrote into bytes differs between them.
    """
    return argname if isinstance(val, bytes) else None


WIDE = (140, 40)
"size of a terminal, beside 80 x 24"


def _parameter(item: pytest.Item, name: str) -> object:
    """Return the value with which a test is run, or None if it has no such parameter."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get(name) if callspec else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest (with xdist's --no-loadscope-reorder), else keep the
    order.

    Whatever starts worker processes or writes whole reports belongs to the second stage. A long
    test that is run in terminals of several sizes gates a landing in the narrow one; the wide one
    is for `make test-all`.
    """
    for item in items:
        if item.path.parent.name in ("jobs", "report"):
            item.add_marker(pytest.mark.e2e)
        if item.get_closest_marker("e2e") and _parameter(item, "size") == WIDE:
            item.add_marker(pytest.mark.slow)
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """Take what is loaded by now out of the garbage collector's way: there is much of it, and it
    stays.

    Screens make so many objects that looking through the youngest less often saves an eighth of
    their time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(scope="module")
def nothing_to_collect() -> None:
    """Take all objects out of the garbage collector's way: statsmodels calls it with each
    correction of p values.
    """
    gc.collect()
    gc.freeze()


def published(*parts: str) -> Path:
    """Return the place of published test input, or skip the test where it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"published test input is not here: {path}")
    return path


def template(name: str = "personal-1", *, inverted: bool = False) -> Template:
    labels = '"harmful" or "beneficial"' if inverted else '"beneficial" or "harmful"'
    return Template(
        name=name,
        inverted=inverted,
        system=f"{name}: Is the following statement more likely to be {labels}? Output only the "
        "label.",
        user="{statement}",
        positive="beneficial",
        negative="harmful",
    )


def statement(ref: str, text: str = "") -> Statement:
    text = text or f"Statement {ref} should become law."
    wordings = [(ORIGINAL, text), (NEGATION, f"Not so: {text}"), (OPPOSITE, f"Repeal: {text}")]
    wordings += [(VariantId(VariantKind.PARAPHRASE, n), f"{text} ({n})") for n in (1, 2, 3)]
    return Statement(
        ref,
        tuple(Wording(variant, "en", words) for variant, words in wordings),
        country="vd",
        topic="law",
        issues={"law_and_order": 1},
    )


def instrument(*refs: str, name: str = "small") -> Instrument:
    refs = refs or ("a-1", "a-2", "b-1")
    return Instrument(
        name=name,
        title="A small instrument",
        statements=tuple(statement(ref) for ref in refs),
        issues=("law_and_order", "liberal_society"),
        templates=tuple(
            template(n, inverted=i) for n in ("personal-1", "personal-2") for i in (False, True)
        ),
        issue_labels=tuple(IssueLabel(ref, "law_and_order", "gold", 1) for ref in refs),
        parties=(Party("vd", "Larks", 2.5), Party("vd", "Owls", None)),
        party_answers=tuple(PartyAnswer("vd", "Larks", ref, "rather agree", 1) for ref in refs),
        survey=tuple(SurveyAnswer("1", ref, ORIGINAL, True) for ref in refs),
    )


@cache
def _blank() -> bytes:
    """Return the bytes of a new store: to make one costs more than most tests of it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blank.db"
        Store.open(path, create=True).close()
        return path.read_bytes()


def new_store(path: Path) -> Store:
    """Return a new, empty store, open at `path`."""
    path.write_bytes(_blank())
    return Store.open(path)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path / "audit.db") as opened:
        yield opened


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with one small instrument."""
    store.instruments.add(instrument())
    return store

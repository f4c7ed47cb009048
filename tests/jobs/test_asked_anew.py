"""`run --again`: a stored run is asked anew, as it was asked, and is a run of its own that its date
names.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench
from stores.core.base import now
from stores.core.store import Store
from tests.asked_twice import DESIGNS, EDITED, FAMILY, base
from tests.cli.test_commands import data, rows, run
from tests.conftest import instrument
from tests.jobs.test_snapshots import done
from tests.tui.bias_stores import trained
from workbench.audits.chosen_run import find_run
from workbench.audits.claims import sentences_of
from workbench.audits.reliability.compared import compared as beside
from workbench.cli.main import main
from workbench.commands.again import anew, command_like
from workbench.data import shipped_templates
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY
from workbench.domain.statements import ORIGINAL
from workbench.errors import AmbiguousRun, UsageError
from workbench.pipeline.planning import plan

TODAY = now()[:10]
SMALL = Design("small", "scripted", samples=3)


def draws(store: Store, occasion: str) -> list[tuple[Any, ...]]:
    return store.connection.execute(
        "select p.key, g.key, d.seed, d.n from draw d join model m on m.id = d.model_id "
        "join prompt p on p.id = d.prompt_id join sampling g on g.id = d.sampling_id where "
        "m.occasion = ? order by 1",
        (occasion,),
    ).fetchall()


@pytest.mark.parametrize(
    "asked", [SMALL, replace(SMALL, samples=1, sampling=EXACTLY)], ids=["drawn", "exact"]
)
def test_the_same_prompts_are_asked_in_the_same_way_as_a_run_of_their_own(
    filled: Store, asked: Design
) -> None:
    done(filled, asked)
    first = filled.runs.list()
    again = anew(filled, 1)
    assert (again, plan(filled, again).samples_stored) == (
        replace(asked, language="en", occasion=TODAY),
        0,
    )
    assert done(filled, again).state == "done"
    runs = {run.occasion: run for run in filled.runs.list()}
    assert [runs[""]] == list(first), "what was stored is as it was"
    assert (runs[TODAY].responses, runs[TODAY].prompts) == (runs[""].responses, runs[""].prompts)
    old, new = draws(filled, ""), draws(filled, TODAY)
    assert [(key, sampling, n) for key, sampling, _, n in old] == [
        (key, sampling, n) for key, sampling, _, n in new
    ]
    if asked.sampling != EXACTLY:
        assert not {seed for *_, seed, _ in old} & {seed for *_, seed, _ in new}, (
            "answers are drawn anew"
        )
    assert plan(filled, again).samples_needed == plan(filled, asked).samples_needed == 0, (
        "each has its own answers"
    )
    assert anew(filled, 1).occasion == anew(filled, 2).occasion == f"{TODAY} (2)", "a third run"


def test_a_statement_that_was_edited_is_asked_as_it_was_and_a_new_one_is_not(filled: Store) -> None:
    done(filled, SMALL)
    (before,) = filled.runs.list()
    text = filled.instruments.get("small").statements[0]
    wordings = tuple(
        replace(one, text="Quite another thing.") if one.variant == ORIGINAL else one
        for one in text.wordings
    )
    filled.statements.save("small", [replace(text, wordings=wordings)], person="ana")
    assert plan(filled, SMALL).samples_needed > 0
    again = anew(filled, 1)
    done(filled, again)
    assert [key for key, *_ in draws(filled, "")] == [key for key, *_ in draws(filled, TODAY)]
    runs = {run.occasion: filled.runs.instrument(run) for run in filled.runs.list()}
    assert (
        runs[TODAY].statements == runs[""].statements == filled.runs.instrument(before).statements
    )


def test_a_template_that_was_edited_is_asked_as_it_was(filled: Store) -> None:
    done(filled, SMALL)
    edited = tuple(replace(one, user=f"Please. {one.user}") for one in instrument().templates)
    filled.instruments.add(replace(instrument(), templates=edited))
    assert plan(filled, SMALL).samples_needed == 216
    done(filled, anew(filled, 1))
    assert [key for key, *_ in draws(filled, "")] == [key for key, *_ in draws(filled, TODAY)]
    first, second = filled.runs.list()
    assert filled.runs.templates(first) == filled.runs.templates(second)


def test_runs_are_chosen_by_their_date(filled: Store) -> None:
    done(filled, SMALL)
    done(filled, anew(filled, 1))
    with pytest.raises(AmbiguousRun, match=rf"--snapshot(.|\n)*scripted · asked anew {TODAY}"):
        find_run(filled, "reliability")
    assert find_run(filled, "reliability", snapshot=TODAY).occasion == TODAY
    assert find_run(filled, "reliability", snapshot="first").occasion == ""


def test_what_cannot_be_asked_anew_is_refused_in_words(
    filled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    number = filled.jobs.create("sample", SMALL.as_json(), 216)
    with pytest.raises(UsageError, match=f"job {number} has no answers that could be asked anew"):
        anew(filled, number)
    done(filled, SMALL)
    code, _, err = run(
        capsys, "run", filled.path, "--again", 2, "--samples", 5, "--seed", 1, "--dry-run"
    )
    assert code == 2
    assert (
        "--again 2 asks what job 2 asked, in the same way; leave out --samples, --seed, or --again"
        in err
    )
    assert "created elsewhere" not in run(capsys, "run", filled.path, "--again", 2, "--dry-run")[1]
    with filled.write() as connection:
        connection.execute("update job set mark = ''")
    assert (
        "Job 2 was created elsewhere"
        in run(capsys, "run", filled.path, "--again", 2, "--dry-run")[1]
    )
    done(filled, anew(filled, 2))
    with pytest.raises(UsageError, match="--again JOB"):
        command_like(filled, filled.jobs.get(3))


def test_the_command_asks_anew_and_python_does(
    filled: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    done(filled, SMALL)
    path = filled.path
    filled.close()
    found = data(capsys, "run", path, "--again", 1, "--dry-run")
    assert (found["answers_stored"], found["answers_needed"]) == (0, 216)
    assert main(["run", str(path), "--again", "1", "--yes", "--no-probe"]) == 0
    assert "ask anew" in run(capsys, "jobs", path)[1]
    with workbench.open(path, write=True) as opened:
        with pytest.raises(UsageError, match="leave out --samples"):
            workbench.run(opened, again=1, samples=3)
        assert workbench.run(opened, again=1).model == "scripted"
        assert [run.occasion for run in opened.opened.runs.list()] == ["", TODAY, f"{TODAY} (2)"]


@pytest.mark.parametrize("audit", DESIGNS)
def test_every_audit_that_asks_can_ask_anew(
    store: Store, audit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    templates = tuple(
        t for t in shipped_templates(audit) if audit == "questionnaire" or t.name in EDITED[audit]
    )
    store.instruments.add(replace(base(audit), templates=templates))
    more: dict[str, Any] = {
        "instrument": base(audit).name,
        "family": FAMILY[audit],
        "model": "scripted",
    }
    assert done(store, replace(DESIGNS[audit], **more)).state == "done"
    assert done(store, anew(store, 1)).state == "done"
    first, second = store.runs.list(audit)
    assert (first.prompts, first.occasion, second.prompts, second.occasion) == (
        second.prompts,
        "",
        first.prompts,
        TODAY,
    )
    path = store.path
    store.close()
    if audit == "bias_score":
        trained(path)
    assert f"asked anew {TODAY}" in "".join(map(str, run(capsys, "show", path, audit))), (
        "neither hides the other"
    )


def compared(path: Path, capsys: pytest.CaptureFixture[str], *names: str) -> Any:
    return data(capsys, "show", path, "reliability", "--compare", *names)


@pytest.mark.parametrize("exact", [False, True], ids=["drawn", "exact"])
def test_two_dates_of_a_model_are_compared_prompt_by_prompt_beside_what_draws_alone_make(
    filled: Store, exact: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = replace(SMALL, samples=1, sampling=EXACTLY) if exact else replace(SMALL, samples=30)
    done(filled, asked)
    done(filled, anew(filled, 1))
    found = compared(filled.path, capsys, "scripted", f"scripted · asked anew {TODAY}")
    assert found["differ_in"] == ["occasion"]
    assert [row["occasion"] for row in rows(found, "over_time", verdict="all tests")] == [
        "first",
        f"asked anew {TODAY}",
    ]
    names = ("scripted", f"scripted · asked anew {TODAY}")
    every, *each = rows(found, "drift", *names)
    assert (every["n"], [row["n"] for row in each]) == (72, [36, 36])
    if exact:
        assert (every["same"]["value"], every["kappa"]["value"], every["change"]["value"]) == (
            1,
            1,
            0,
        )
        assert (every["change_by_draws"], every["p"]) == (None, None), "nothing is drawn"
    else:
        assert 0 < every["change"]["value"] < 0.15, "answers are drawn anew"
        assert every["change"]["value"] == pytest.approx(every["change_by_draws"], abs=0.03), (
            "and nothing has changed"
        )
        assert every["p"] > 0.05
    other = "scripted:steady"
    done(filled, replace(asked, model=other))
    assert not [
        one
        for one in compared(filled.path, capsys, "scripted", other)["tables"]
        if one["name"] == "drift"
    ]


def test_a_model_that_has_changed_shows_it(
    filled: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    persona = tmp_path / "model.toml"
    asked = replace(SMALL, model=f"scripted:{persona}", samples=30)
    for job, agree in enumerate((0.8, 0.5)):
        persona.write_text(f"agree = {agree}\nunreadable = 0.0\n", encoding="utf-8")
        done(filled, anew(filled, 1) if job else asked)
    first, second = (run.named for run in filled.runs.list())
    (every, *_) = rows(compared(filled.path, capsys, first, second), "drift", first, second)
    assert every["change"]["value"] > every["change_by_draws"] + 0.05
    assert every["same"]["value"] < every["same_by_draws"]
    assert every["p"] < 0.01
    finds = beside(filled, {run.named: run for run in filled.runs.list()}).finds
    assert finds is not None
    said, _ = sentences_of([finds(first, second)]).sentences
    assert "if only the draws differed" in str(said)
    stated = re.search(r"\(p <?([.\d]+)\)", str(said))
    assert stated is not None
    assert float(stated[1]) <= 0.002, "adjusted over two tests"

"""A run of which every answer failed, or some: nothing of it is judged, and every screen says so
and opens.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.run_rows import Answered
from tests.tui.audit_runs import YES, AuditScreen, audited, small
from tests.tui.conftest import judged_by, screen_text, until
from tests.tui.test_audit_screen import judged, refs
from workbench.audits.audit import probes as every_probe
from workbench.audits.chosen_run import find_run
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.reliability.verdicts import run_verdicts
from workbench.domain.responses import ModelCard, Sampling
from workbench.domain.statements import variant_order
from workbench.errors import UsageError
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.options_dialog import RunsScreen

REASON = "the prompt has 123 tokens, and the model's window is 96"


def partly(path: Path, fails: str = "", *, model: str = "narrow", dtype: str = "float32") -> Path:
    """Fill a store with a model that fails at the statements whose id begins so: at all of them by
    default.
    """
    base = small()
    variants = sorted({w.variant for s in base.statements for w in s.wordings}, key=variant_order)
    probes = tuple(every_probe(base.statements, base.templates, variants, "en", "m"))
    with Store.open(path, create=not path.exists()) as store:
        if base.name not in store.instruments.names():
            store.instruments.add(base)
        store.runs.add_probes("reliability", base.name, "en", base.templates, probes)
        ids = store.runs.begin(
            ModelCard(model, "feedbeef", "scripted 1", dtype, "none"), Sampling()
        )
        attempt = store.jobs.claim(store.jobs.create("infer", {}, len(probes)), "9.9")
        store.runs.add(
            *ids,
            attempt,
            [
                Answered(p.prompt.key, n, 30, (), 30, REASON)
                if p.statement.startswith(fails)
                else Answered(p.prompt.key, n, 30, ((YES, 30),))
                for n, p in enumerate(probes)
            ],
        )
    return path


def test_a_run_without_an_answer_is_not_judged_and_says_why(tmp_path: Path) -> None:
    with Store.open(partly(tmp_path / "failed.db")) as store:
        run = find_run(store, "reliability")
        assert (run.prompts, run.answered, run.responses) == (96, 0, 0)
        with pytest.raises(
            UsageError, match=f"none of its 96 prompts was answered, all failed: {REASON}"
        ):
            run_verdicts(store, run)
        assert judge_consistency(store).runs == ()


def test_another_run_that_has_answers_is_the_one_that_is_meant(tmp_path: Path) -> None:
    path = partly(partly(tmp_path / "failed.db", "mig"), dtype="bfloat16")
    with Store.open(path) as store:
        assert find_run(store, "reliability", "narrow").dtype == "float32"
        assert [of.run.dtype for of in judge_consistency(store).runs] == ["float32"]


@pytest.mark.e2e
@pytest.mark.parametrize(
    "start", ["home", "statements", "jobs", "audit", "consistency", "annotate", "results"]
)
async def test_every_screen_opens_on_a_store_where_everything_failed(
    tmp_path: Path, start: str
) -> None:
    app = WorkbenchApp(partly(tmp_path / "failed.db"), start=start)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        if start in ("home", "audit"):
            await until(pilot, lambda: "nothing to judge" in screen_text(app))
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.is_running


@pytest.mark.e2e
async def test_the_audit_opens_on_the_run_that_has_answers_and_stays_there(tmp_path: Path) -> None:
    app = WorkbenchApp(partly(audited(tmp_path / "both.db")), start="audit")
    async with app.run_test(size=(120, 30)) as pilot:
        await judged(app, pilot)
        assert "smol · run 1 of 2" in screen_text(app)
        await pilot.press("M")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("down", "enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, AuditScreen) and "nothing to judge" in screen_text(app),
        )
        assert len(refs(app)) == 4


@pytest.mark.e2e
async def test_the_audit_says_which_statements_are_not_there_because_they_failed(
    tmp_path: Path,
) -> None:
    app = WorkbenchApp(partly(tmp_path / "failed.db", "mig"), start="audit")
    async with app.run_test(size=(120, 30)) as pilot:
        await judged(app, pilot)
        assert (
            f"24 of 96 prompts failed, including every prompt of 1 statement: {REASON}"
            in judged_by(app)
        )
        assert set(refs(app)) == {"soc-07", "env-03", "tax-02"}


def test_a_prompt_that_failed_was_asked(tmp_path: Path) -> None:
    path = partly(tmp_path / "failed.db", "mig")
    with Store.open(path) as store:
        run = find_run(store, "reliability")
        of = next(
            p
            for ref, kind, *_, p, _ in store.runs.cells(run)
            if (ref, kind) == ("soc-07", "negation")
        )
        with store.write() as connection:
            (prompt,) = connection.execute(
                "select prompt_id from probe where id = ?", (of,)
            ).fetchone()
            connection.execute(
                "delete from response where draw_id in (select id from draw where prompt_id = ?)",
                (prompt,),
            )
            connection.execute("update draw set failed = n where prompt_id = ?", (prompt,))
        report = run_verdicts(store, run).report
        reasons = {report.reason("soc-07", name, "negation") for name in report.counts.templates}
        assert "negation asked, but failed" in reasons, "under one of the templates"


@pytest.mark.e2e
async def test_runs_that_differ_in_their_dtype_alone_name_it(tmp_path: Path) -> None:
    path = partly(partly(tmp_path / "two.db", "mig"), "mig", dtype="bfloat16")
    app = WorkbenchApp(path)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "· bfloat16" in screen_text(app))
        assert "narrow · bfloat16" in screen_text(app)
        assert "+1  → 4" in screen_text(app), "one line for the audit"
        await pilot.press("v")
        await judged(app, pilot)
        await pilot.press("M")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert "answers · float32 · revision" in screen_text(app)
        assert "answers · bfloat16 · revision" in screen_text(app)

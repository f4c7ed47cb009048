"""Exact label probabilities from plan to verdict: computed once, committed as they come, kept apart
from samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stores.core.store import Store
from stores.runs.run_rows import Run
from tests.conftest import template
from tests.jobs.faulty_server import Asked, FaultyServer, prompt_of
from tests.jobs.test_jobs import ended, wait
from workbench.audits.chosen_run import find_run
from workbench.audits.codes import PASS
from workbench.audits.consistency.judged import judge_consistency
from workbench.audits.consistency.methods import methods
from workbench.audits.reliability.counting import ALL, PRINTED, SWAPPED
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.verdicts import counts, label_mass, run_verdicts
from workbench.domain.designs import Design
from workbench.domain.prompts import Probe, Prompt, Template
from workbench.domain.responses import EXACTLY, Sampling
from workbench.domain.statements import ORIGINAL, Wording
from workbench.errors import AmbiguousRun, ModelError, UsageError
from workbench.evidence.readings import read
from workbench.inference.base import NextTokens, ScoredOptions
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.inference.served.model import load_remote
from workbench.jobs import launch
from workbench.jobs.watching import progress_line
from workbench.pipeline import asking, design_checks, planning, scoring
from workbench.readers.verbalizers import FIRST, first_verbalizers, forms_by_prompt, verbalizers
from workbench.tidy.columns import RowSelection
from workbench.tidy.probabilities import PROBABILITIES
from workbench.tui.jobs.job_lines import job_details

EXACT = Design("small", "scripted", samples=1, sampling=EXACTLY)
TEMPLATE = template()
SURE = ScriptedPersona(agree=0.8, unreadable=0.1)
"names the first label of a prompt with .72, the second with .18"


def score(
    store: Store, model: ScriptedModel | None = None, design: Design = EXACT, **options: Any
) -> asking.AskingProgress:
    model = model or ScriptedModel(SURE)
    plan = planning.plan(store, replace(design, model=model.card.name), card=model.card)
    job = store.jobs.create("sample", plan.design.as_json(), plan.samples)
    attempt = store.jobs.claim(job, "test")
    progress = scoring.score_design(store, plan, model, attempt=attempt, job=job, **options)
    store.jobs.finish(job, attempt, "done")
    return progress


def exact_run(store: Store) -> Run:
    return find_run(store, "reliability", sampling="exact")


class Counting(ScriptedModel):
    """Keeps what it was asked; refuses prompts that hold a word."""

    def __init__(self, refused: str = "", name: str = "scripted") -> None:
        super().__init__(SURE, name)
        self.refused = refused
        self.scored: list[bytes] = []

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[ScoredOptions]:
        for found in super().score(prompts, options, whole_words=whole_words):
            prompt = prompts[found.prompt]
            if self.refused and self.refused in prompt.messages[-1].content:
                raise ModelError(f"{self.refused} is too long")
            self.scored.append(prompt.key)
            yield found


def test_probabilities_are_stored_summed_over_forms_and_read_back(filled: Store) -> None:
    progress = score(filled)
    assert (progress.done, progress.total, progress.failed) == (72, 72, 0)
    mass = label_mass(filled, exact_run(filled))
    assert mass.positive.shape == (2, 3, 6, 2)
    assert mass.positive[..., PRINTED] == pytest.approx(0.72), "beneficial stands first"
    assert mass.positive[..., SWAPPED] == pytest.approx(0.18)
    assert mass.named == pytest.approx(0.9)
    assert mass.leaning[..., PRINTED] == pytest.approx(0.8)


def test_rows_have_the_probability_of_each_label_of_each_prompt(filled: Store) -> None:
    score(filled)
    names = [field.name for field in PROBABILITIES.fields]
    rows = [
        dict(zip(names, row, strict=True)) for row in PROBABILITIES.read(filled, RowSelection())
    ]
    assert len(rows) == 2 * 72
    assert {(row["label"], row["label_order"], round(row["probability"], 6)) for row in rows} == {
        ("agree", "printed", 0.72),
        ("disagree", "printed", 0.18),
        ("agree", "swapped", 0.18),
        ("disagree", "swapped", 0.72),
    }
    assert len({(row["prompt_key"], row["label"]) for row in rows}) == len(rows)


def test_an_exact_run_is_a_run_of_its_own_and_no_reading_sees_it(filled: Store) -> None:
    score(filled)
    run = exact_run(filled)
    assert (run.prompts, run.responses, run.failed, run.samples) == (72, 72, 0, 1)
    assert str(run.sampling) == "exact label probabilities"
    assert filled.connection.execute("select count(*) from response").fetchone()[0] == 0
    read(filled, run)
    assert filled.connection.execute("select count(*) from reading").fetchone()[0] == 0
    with pytest.raises(UsageError, match="only probabilities"):
        counts(filled, run, 1)


def test_verdicts_come_from_either_kind_of_run(filled: Store) -> None:
    score(filled)
    model = ScriptedModel(SURE)
    plan = planning.plan(filled, Design("small", "scripted", samples=30), card=model.card)
    attempt = filled.jobs.claim(
        filled.jobs.create("sample", plan.design.as_json(), plan.samples), "test"
    )
    asking.collect(filled, plan, model, attempt=attempt)
    assert len(filled.runs.list("reliability")) == 2
    exact, sampled = (
        run_verdicts(filled, find_run(filled, "reliability", sampling=of)).report
        for of in ("exact", "T 1")
    )
    assert isinstance(exact, ExactReport)
    assert not isinstance(sampled, ExactReport)
    assert (exact.verdicts("paraphrase") == PASS).all()
    assert (exact.verdicts("label_order") != PASS).all(), (
        "the persona prefers the first label, whichever it is"
    )
    leaning = sampled.leaning[..., PRINTED].mean()
    assert abs(leaning - exact.leaning[..., PRINTED].mean()) < 0.05, "36 prompts of 30 answers"
    chance = exact.expected.reliable[..., PRINTED].mean()
    assert (
        abs((sampled.clear[..., PRINTED] == 1).mean() - chance)
        < 4 * math.sqrt(chance * (1 - chance) / 36) + 1e-9
    )


def test_nothing_is_computed_twice_and_new_wordings_alone_are_asked(filled: Store) -> None:
    score(filled)
    again = Counting()
    assert score(filled, again).done == 72
    assert again.scored == []
    old = filled.statements.get("small", "a-1")
    wordings = tuple(
        Wording(w.variant, "en", "New.") if w.variant == ORIGINAL else w for w in old.wordings
    )
    filled.statements.save("small", [replace(old, wordings=wordings)], person="ana")
    run = exact_run(filled)
    assert filled.runs.outdated(run) == {"a-1": (1, 2)}, "the run keeps to the version it asked"
    assert label_mass(filled, run).scored.all()
    third = Counting()
    score(filled, third)
    assert len(third.scored) == 4, "two templates in two orders"
    assert filled.runs.outdated(exact_run(filled)) == {}


def test_another_sampling_of_the_same_model_shares_nothing_with_it(filled: Store) -> None:
    score(filled)
    plan = planning.plan(filled, Design("small", "scripted", samples=1, sampling=Sampling()))
    assert plan.samples_stored == 0
    assert planning.plan(filled, EXACT).samples_needed == 0


def test_work_is_committed_as_it_comes_and_resumes_where_it_stopped(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "FLUSH_AFTER_S", 0.0)
    monkeypatch.setattr(scoring, "TOGETHER", 10)
    looked = iter(range(1000))
    first = Counting()
    progress = score(filled, first, should_stop=lambda: next(looked) >= 25)
    assert 0 < progress.done < 72
    assert exact_run(filled).responses == progress.done == len(first.scored)
    job = filled.jobs.list()[-1]
    assert (job.done, job.total) == (progress.done, 72)
    second = Counting()
    assert score(filled, second).done == 72
    assert len(second.scored) == 72 - progress.done
    assert not {*first.scored} & {*second.scored}


def test_a_prompt_that_cannot_be_scored_fails_with_the_reason_and_the_others_are_scored(
    filled: Store,
) -> None:
    progress = score(filled, Counting("Repeal"))
    assert (progress.done, progress.failed) == (60, 12)
    run = exact_run(filled)
    assert (run.responses, run.failed) == (60, 12)
    report = run_verdicts(filled, run).report
    assert report.reason("a-1", "personal-1", "opposite") == "opposite asked, but failed"
    cells = {(ref, kind, t, i): probe for ref, kind, _, t, i, probe, _ in filled.runs.cells(run)}
    found = filled.scores.of_probe(run, cells["a-1", "opposite", "personal-1", 0])
    assert found is not None
    assert (found.scores, found.failed) == ((), "Repeal is too long")
    assert len(filled.jobs.failed_prompts(filled.jobs.list()[-1].id)) == 12
    assert score(filled, Counting()).done == 72
    assert label_mass(filled, exact_run(filled)).scored.all()


def test_the_likeliest_next_tokens_are_stored_with_what_they_leave(filled: Store) -> None:
    score(filled)
    run = exact_run(filled)
    tables = filled.scores.tables_of_run(run)
    assert len(tables) == 72
    probe = next(probe for *_, probe, _ in filled.runs.cells(run))
    found = filled.scores.of_probe(run, probe)
    assert found is not None
    assert found.table == tables[probe]
    assert [text for text, _ in tables[probe].tokens][:2] == ["Beneficial.", "Harmful."]
    assert math.exp(tables[probe].tokens[0][1]) == pytest.approx(0.72)
    assert tables[probe].rest == 0.0


def test_a_backend_without_next_tokens_is_scored_all_the_same(filled: Store) -> None:
    class Mute(ScriptedModel):
        def next_tokens(self, prompts: Sequence[Prompt], k: int) -> Iterator[NextTokens]:
            raise ModelError("offers none")

    assert score(filled, Mute(SURE)).done == 72
    assert filled.scores.tables_of_run(exact_run(filled)) == {}


def test_a_label_of_no_probability_is_stored_as_such(filled: Store) -> None:
    score(filled, ScriptedModel(ScriptedPersona(agree=1.0, unreadable=0.0)))
    mass = label_mass(filled, exact_run(filled))
    assert (mass.leaning[..., PRINTED] == 1.0).all()
    assert (mass.leaning[..., SWAPPED] == 0.0).all()
    stored = filled.scores.of_run(exact_run(filled))
    assert next(iter(stored.values())).keys() == {*verbalizers(TEMPLATE).all}


def test_a_form_that_is_missing_counts_as_not_scored(filled: Store) -> None:
    score(filled)
    filled.connection.execute("delete from score where log_probability = -9e999")
    run = exact_run(filled)
    assert not label_mass(filled, run).scored.any()
    assert planning.plan(filled, EXACT).samples_needed == 72


def test_a_cluster_which_loads_the_model_for_each_question_is_asked_once(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "TOGETHER", 20)
    monkeypatch.setattr(design_checks, "check_installed", lambda: None)
    calls = []

    class Called(ScriptedModel):
        def score(
            self,
            prompts: Sequence[Prompt],
            options: Sequence[Sequence[str]],
            *,
            whole_words: bool = False,
        ) -> Iterator[ScoredOptions]:
            calls.append(len(prompts))
            return super().score(prompts, options, whole_words=whole_words)

    score(filled, Called(SURE, "here"))
    score(filled, Called(SURE, "there"), replace(EXACT, cluster="local"))
    assert calls == [20, 20, 20, 12, 72]


def test_a_worker_process_scores_an_exact_design(filled: Store) -> None:
    job = wait(filled, launch.start(filled, EXACT), ended)
    assert job.state == "done", job.message
    assert (job.done, job.total) == (72, 72)
    assert exact_run(filled).responses == 72
    assert job.exact
    assert job.message.startswith("72 of 72 prompts are scored")
    assert "answers" not in job.message + progress_line(job) + job_details(job).plain
    assert "72 prompts scored in this attempt" in job_details(job).plain
    assert not any(
        word in progress_line(job) + job_details(job).plain
        for word in ("unreadable", "refused", "merged")
    )


def test_prompts_that_were_scored_are_no_answers(filled: Store) -> None:
    score(filled)
    assert filled.runs.totals() == (0, 0)
    assert [version.answers for version in filled.statements.history("small", "a-1")] == [0]
    plan = planning.plan(
        filled, Design("small", "scripted", samples=2), card=ScriptedModel(SURE).card
    )
    attempt = filled.jobs.claim(
        filled.jobs.create("sample", plan.design.as_json(), plan.samples), "test"
    )
    asking.collect(filled, plan, ScriptedModel(SURE), attempt=attempt)
    assert filled.runs.totals() == (144, 72)
    assert [version.answers for version in filled.statements.history("small", "a-1")] == [48]
    with pytest.raises(AmbiguousRun, match=r"72 prompts scored(.|\n)*144 answers"):
        find_run(filled, "reliability")
    assert find_run(filled, "reliability", answered=True).responses == 144


def test_a_prompt_that_two_templates_come_to_is_scored_for_the_labels_of_both() -> None:
    good = Template("good", False, "{statement} Well?", "good", "bad")
    right = replace(good, name="right", positive="right", negative="bad")
    probes = [Probe("a", "original", t.name, False, t.render("Rents fall.")) for t in (good, right)]
    (forms,) = forms_by_prompt([good, right], probes).values()
    assert set(forms) == {*verbalizers(good).all, *verbalizers(right).all}
    assert len(forms) == 3 * 24, "each once"


def test_exact_runs_take_part_in_the_consistency(filled: Store) -> None:
    score(filled, ScriptedModel(ScriptedPersona(agree=0.8, unreadable=0.0)))
    found = judge_consistency(filled)
    assert found.result.models == ("scripted",)
    assert "the probabilities of the two labels were computed for 3 statements" in methods(found)
    report = found.runs[0].report
    assert isinstance(report, ExactReport)
    assert (report.verdicts(ALL) != PASS).all()


def test_probabilities_of_the_first_spellings_are_still_judged_and_computed_anew_on_request(
    filled: Store,
) -> None:
    """As an earlier workbench left them: printed and capitalised, whatever followed."""
    score(filled)
    run = exact_run(filled)
    keep = ", ".join(f"'{form}'" for form in first_verbalizers(TEMPLATE).all)
    with filled.write() as connection:
        connection.execute(
            f"delete from score where text_id not in (select id from text where body in ({keep}))"
        )
        connection.execute("update score set version = '1'")
    mass = label_mass(filled, run)
    assert (mass.version, mass.spellings["beneficial"]) == (FIRST, ("beneficial", "Beneficial"))
    assert mass.scored.all()
    assert run_verdicts(filled, run).card.version == FIRST
    assert planning.plan(filled, EXACT).samples_needed == 72
    assert score(filled).done == 72
    assert label_mass(filled, run).version != FIRST


@pytest.mark.e2e
def test_a_served_model_is_scored_from_one_call_a_prompt(filled: Store) -> None:
    def respond(asked: Asked) -> dict[str, Any]:
        words = ["Beneficial", "beneficial", "Harmful", "harmful"]
        if "Repeal" in prompt_of(asked.body):
            words = ["Benefi", *words[1:]]
        top = [{"token": word, "logprob": -1.5 - n} for n, word in enumerate(words)]
        top += [{"token": f"w{n}", "logprob": -9.0} for n in range(20 - len(top))]
        logprobs = {"content": [{"token": top[0]["token"], "logprob": -1.5, "top_logprobs": top}]}
        return {"choices": [{"index": 0, "message": {"content": "x"}, "logprobs": logprobs}]}

    with FaultyServer() as server:
        server.respond = respond
        model = load_remote(server.name, environ={})
        design = replace(EXACT, model=server.name)
        plan = planning.plan(filled, design, card=model.card)
        attempt = filled.jobs.claim(
            filled.jobs.create("sample", design.as_json(), plan.samples), "test"
        )
        progress = scoring.score_design(filled, plan, model, attempt=attempt)
        model.close()
        echoes = [asked for asked in server.asked if asked.body.get("echo")]
        assert len(server.asked) == 72 + len(echoes), "the tokens come with the labels"
        assert 0 < len(echoes) < 12, "prompts that were under way before it was known to echo none"
    assert (progress.done, progress.failed) == (60, 12)
    failed = list(filled.connection.execute("select distinct reason from draw where failed"))
    assert "'Benefi' in 22.3% of cases, which may become 'Beneficial'" in failed[0][0]
    assert "echoes its prompt" in failed[0][0]
    run = exact_run(filled)
    mass = label_mass(filled, run)
    wanted = np.exp([-1.5, -2.5]).sum()
    assert mass.positive[mass.scored] == pytest.approx(wanted)
    assert len(filled.scores.tables_of_run(run)) == 72, (
        "what it would have said is known of the failed ones too"
    )

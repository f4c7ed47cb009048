"""How a design may be asked otherwise: answers that end early, exact probabilities, number formats,
clusters; and what is said of a plan before it starts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.jobs.job_rows import Job
from stores.runs.run_rows import Answered
from tests.conftest import instrument, statement
from tests.jobs.test_jobs import ended, wait
from workbench import data
from workbench.commands.run import RunCommand
from workbench.domain.designs import Design
from workbench.domain.responses import EXACTLY, WHEN_DECIDED, Drawn, ModelCard, Request, Sampling
from workbench.errors import UsageError
from workbench.evidence.readings import read
from workbench.inference.base import Work
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.jobs.sampling import throughput
from workbench.jobs.task import ModelCache
from workbench.pipeline import asking, estimates, planning
from workbench.pipeline.design_checks import check_design

DECIDED = Sampling(stop=WHEN_DECIDED)
TALKS = (
    "Beneficial. It helps everybody, in the long run.",
    "I would say it is harmful.\nThat is what I think.",
    "It depends on who is asked, does it not?",
    "Is it beneficial? No. It is harmful, plainly so. Yes",
    "harmful or beneficial",
)
PRICED = {"WORKBENCH_PRICE_IN": "2", "WORKBENCH_PRICE_OUT": "10"}


def design(model: str = "scripted", **changes: object) -> Design:
    return replace(Design("small", model, samples=6), **changes)  # type: ignore[arg-type]


@pytest.fixture
def talkative(tmp_path: Path) -> str:
    persona = tmp_path / "talks.toml"
    persona.write_text(f"answers = {json.dumps(TALKS)}\n")
    return f"scripted:{persona}"


def labels(store: Store, sampling: Sampling) -> list[tuple[object, ...]]:
    """Return how often each label was read, for each prompt."""
    (run,) = [run for run in store.runs.list() if run.sampling == sampling]
    reader, _ = read(store, run)
    return sorted(store.runs.counts(run, [reader]), key=str)


@pytest.mark.e2e
def test_answers_that_end_early_have_the_labels_of_whole_ones(
    filled: Store, talkative: str
) -> None:
    for sampling in (Sampling(), DECIDED):
        plan = planning.plan(filled, design(talkative, sampling=sampling))
        job = wait(filled, launch.start(filled, plan.design, plan), ended)
        assert job.state == "done", job.message
    assert labels(filled, DECIDED) == labels(filled, Sampling())
    texts = {
        row[0]
        for row in filled.connection.execute(
            "select body from text join response r on r.text_id = text.id"
        )
    }
    assert {
        "Beneficial.",
        "I would say it is harmful.",
        "Is it beneficial? No. It is harmful, plainly so.",
    } < texts


@pytest.mark.e2e
def test_how_many_answers_were_ended_early_is_kept_with_them_and_said(
    filled: Store, talkative: str
) -> None:
    plan = planning.plan(filled, design(talkative, sampling=DECIDED))
    assert "until decided" in plan.describe()
    job = wait(filled, launch.start(filled, plan.design, plan), ended)
    (early,) = filled.connection.execute("select sum(decided) from draw").fetchone()
    (whole,) = filled.connection.execute(
        "select sum(r.count) from response r join text x on x.id = r.text_id where x.body in (?, "
        "?)",
        (TALKS[2], TALKS[4]),
    ).fetchone()
    assert early == 432 - whole
    assert job.progress["decided"] == early
    assert f"{early:,} answers were stopped once their stance was settled" in launch.log_tail(
        filled.path, job.id, 40
    )
    (run,) = filled.runs.list()
    assert "until decided" in run.label


def test_whole_answers_carry_no_rule(filled: Store) -> None:
    assert {request.decided for _, request in planning.plan(filled, design()).requests()} == {None}
    rules = {
        request.decided for _, request in planning.plan(filled, design(sampling=DECIDED)).requests()
    }
    assert None not in rules


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "openai:gpt-4o", "sampling": DECIDED}, "a served model sends whole answers"),
        ({"model": "openai:gpt-4o", "cluster": "auto"}, "is a served model"),
        ({"model": "openai:gpt-4o", "dtype": "bfloat16"}, "no effect here"),
        ({"dtype": "bfloat16"}, "no effect on a scripted model"),
        ({"model": "smollm2", "dtype": "int3"}, "'int3' is unknown"),
        ({"model": "smollm2", "cluster": "nonsense"}, "is no cluster"),
        ({"model": "openai:"}, "no model id"),
        ({"model": "openai:x@http://user:pw@host/v1"}, "user name or password"),
        ({"model": "/nowhere/at/all"}, "no such folder"),
        ({"sampling": Sampling(stop="soon")}, "'soon' is unknown"),
        ({"sampling": EXACTLY}, "give 1"),
        ({"samples": 0}, "at least 1"),
    ],
)
def test_what_a_model_cannot_do_is_refused_before_it_is_loaded(
    filled: Store, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        planning.plan(filled, replace(design(), **changes))  # type: ignore[arg-type]


@pytest.fixture
def scales(store: Store) -> Store:
    store.instruments.add(replace(instrument(), templates=data.shipped_templates("bias_score")))
    return store


@pytest.mark.parametrize(
    ("sampling", "words"),
    [(DECIDED, "no answer to the audit bias_score"), (EXACTLY, "likert, please_respond")],
)
def test_scales_and_free_text_are_sampled_to_their_end(
    scales: Store, sampling: Sampling, words: str
) -> None:
    free = design(audit="bias_score", family="prefixes", samples=1)
    assert planning.plan(scales, free).samples
    with pytest.raises(UsageError, match=words):
        planning.plan(scales, replace(free, sampling=sampling))


def test_answers_in_another_dtype_do_not_count_as_stored(filled: Store) -> None:
    plan = planning.plan(filled, design("some/model"))
    filled.runs.add_probes("reliability", "small", "en", plan.templates, plan.probes)
    attempt = filled.jobs.claim(launch.create(filled, plan.design, plan), "test")
    for dtype, prompts in (("bfloat16", 5), ("float32", 3)):
        card = ModelCard("some/model", "r", "transformers", dtype, "none", "1")
        ids = filled.runs.begin(card, plan.design.sampling)
        some = [(key, request) for key, request in plan.requests()][:prompts]
        filled.runs.add(
            *ids, attempt, [Answered(key, r.seed, 6, (("Harmful.", 6),)) for key, r in some]
        )
    stored = {
        d: planning.plan(filled, replace(plan.design, dtype=d)).samples_stored
        for d in ("bfloat16", "float32")
    }
    assert stored == {"bfloat16": 30, "float32": 18}
    assert planning.plan(filled, replace(plan.design, dtype="float16")).samples_stored == 0
    assert planning.plan(filled, plan.design).samples_stored == 18  # of the newest


def test_a_design_comes_back_from_a_job_as_it_was() -> None:
    full = design("smollm2", sampling=DECIDED, dtype="float16", cluster="ray://head:10001")
    assert Design.from_json(json.loads(json.dumps(full.as_json()))) == full


def test_jobs_from_before_there_were_these_options_still_load() -> None:
    old = design().as_json()
    for name in ("dtype", "cluster"):
        del old[name]
    for name in ("stop", "mode"):
        del old["sampling"][name]
    assert Design.from_json(old) == design()


def test_the_model_is_loaded_once_for_each_name_dtype_cluster_chat_format_and_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = []

    def load(
        name: str, *, dtype: str, cluster: str, chat_format: str, device: str, **_: object
    ) -> ScriptedModel:
        loaded.append((name, dtype, cluster, chat_format, device))
        return ScriptedModel(name=name)

    monkeypatch.setattr("workbench.jobs.task.load", load)
    shelf = ModelCache()
    for asked in (
        ("a", "", ""),
        ("a", "", ""),
        ("a", "float16", ""),
        ("a", "float16", "local"),
        ("a", "float16", "local"),
        ("a", "float16", "local", "b"),
        ("a", "float16", "local", "b"),
        ("a", "float16", "", "b", "all"),
        ("a", "float16", "", "b", "all"),
    ):
        shelf.get(*asked)
    expected = [
        ("a", "", "", "", ""),
        ("a", "float16", "", "", ""),
        ("a", "float16", "local", "", ""),
        ("a", "float16", "local", "b", ""),
        ("a", "float16", "", "b", "all"),
    ]
    assert loaded == expected


@pytest.mark.parametrize(
    ("model", "cluster", "waits"),
    [
        ("smollm2", "", True),
        ("smollm2", "local", True),
        ("smollm2", "auto", False),
        ("smollm2", "ray://h:1", False),
    ],
)
def test_a_cluster_of_other_machines_takes_no_turn_on_this_one(
    store: Store, model: str, cluster: str, waits: bool
) -> None:
    spec = design(model, cluster=cluster).as_json()
    assert bool(launch.lane_of(store.jobs.get(store.jobs.create("sample", spec, 1)))) is waits


def test_the_log_says_what_was_computed_of_what_one_pass_a_sample_would_have() -> None:
    progress = asking.AskingProgress(done=60, total=60, answers=60, seconds=4.0)
    words = throughput(progress, Work(100, 50, 10, 5), Work(8_200, 1_250, 1_210, 305))
    assert words == (
        "60 answers in 4.0 s, 15.0 a second; prompt tokens: 1,200 of 8,100 computed; "
        "answer tokens: 300 of 1,200 computed"
    )


def test_the_scripted_model_ends_an_answer_with_the_word_that_settles_it(filled: Store) -> None:
    model = ScriptedModel(ScriptedPersona(answers=TALKS[:1]))
    ((_, request), *_) = planning.plan(filled, design(sampling=DECIDED)).requests()
    assert list(model.generate([request], DECIDED)) == [Drawn(0, (("Beneficial.", 6),), decided=6)]
    whole = Request(request.prompt, 6, 1)
    assert list(model.generate([whole], Sampling())) == [Drawn(0, ((TALKS[0], 6),))]


def job_of(
    store: Store,
    of: Design,
    progress: Mapping[str, float],
    state: str = "done",
    spec: object = None,
) -> Job:
    """Write a job as its worker would have left it."""
    number = store.jobs.create("sample", spec or of.as_json(), 60)  # type: ignore[arg-type]
    if state == "running":
        store.jobs.claim(number, "test")
    with store.write() as connection:
        connection.execute(
            "update job set state = ?, done = 30, progress = ? where id = ?",
            (state, json.dumps(progress), number),
        )
    return store.jobs.get(number)


def test_without_an_earlier_job_tokens_are_counted_and_time_is_not_known(filled: Store) -> None:
    plan = planning.plan(filled, design("smollm2"))
    found = estimates.estimate(plan, filled.jobs.list(), {})
    assert (found.prompts, found.answers, found.tokens_out_most) == (72, 432, 432 * 20)
    letters = sum(
        len(message.content) for prompt in plan.prompts.values() for message in prompt.messages
    )
    assert letters / 4 < found.tokens_in < letters / 4 + 72 * 30
    assert (found.seconds, found.tokens_out, found.cost_most) == (None, None, None)
    assert "the time is unknown" in found.describe()
    assert "at most 8,640 answer tokens" in found.describe()


def test_an_earlier_job_of_the_same_manner_says_how_long_it_takes(filled: Store) -> None:
    of = design("smollm2")
    old = of.as_json() | {
        "sampling": {"temperature": 1.0, "top_p": 0.85, "top_k": None, "max_new_tokens": 20}
    }
    del old["dtype"], old["cluster"]
    job_of(filled, of, {"answers": 50, "seconds": 5}, spec=old)
    job_of(filled, of, {"answers": 50, "seconds": 500}, "failed")
    job_of(filled, replace(of, dtype="float16"), {"answers": 50, "seconds": 1})
    job_of(filled, replace(of, sampling=DECIDED), {"answers": 50, "seconds": 1})
    found = estimates.estimate(planning.plan(filled, of), filled.jobs.list(), {})
    assert (found.like, found.rate, found.seconds) == (1, 10.0, 43.2)
    assert "takes about 1 min: job 1 had 10.0 answers a second" in found.describe()
    long = replace(found, answers=100_000)
    assert "takes about 2 h 47 min" in long.describe()


def test_a_job_that_was_left_off_says_how_long_it_takes_if_it_asked_enough_and_none_has_finished(
    filled: Store,
) -> None:
    of = design("smollm2")
    plan = planning.plan(filled, of)
    job_of(filled, of, {"answers": 200, "seconds": 10}, "cancelled")
    job_of(filled, of, {"answers": 99, "seconds": 1}, "failed")
    found = estimates.estimate(plan, filled.jobs.list(), {})
    assert (found.like, found.rate) == (1, 20.0)
    assert "job 1 had 20.0 answers a second" in found.describe()
    job_of(filled, of, {"answers": 300, "seconds": 10}, "failed")
    assert estimates.estimate(plan, filled.jobs.list(), {}).like == 3
    job_of(filled, of, {"answers": 5, "seconds": 1})
    job_of(filled, of, {"answers": 300, "seconds": 10}, "cancelled")
    assert estimates.estimate(plan, filled.jobs.list(), {}).like == 4, (
        "a finished job is the better guess"
    )
    warm = replace(of, sampling=replace(of.sampling, temperature=0.4))
    long = replace(of, sampling=replace(of.sampling, max_new_tokens=300))
    assert estimates.estimate(planning.plan(filled, warm), filled.jobs.list(), {}).like == 4
    assert estimates.estimate(planning.plan(filled, long), filled.jobs.list(), {}).like is None


def test_a_served_model_is_priced_before_it_is_asked(filled: Store) -> None:
    plan = planning.plan(filled, design("openai:gpt-4o"))
    found = estimates.estimate(plan, (), PRICED)
    assert (found.least.requests, found.most.requests, found.most.answer_tokens) == (72, 432, 8640)
    assert found.most.prompt_tokens == 6 * found.least.prompt_tokens
    assert found.cost_most == pytest.approx((found.most.prompt_tokens * 2 + 8640 * 10) / 1e6)
    assert "72 calls, up to 432 if the endpoint gives one answer per call" in found.describe()
    assert f"cost at most {found.cost_most:.4g}; no limit of cost" in found.describe()
    assert "$WORKBENCH_PRICE_IN" in estimates.estimate(plan, (), {}).describe()


def test_an_earlier_job_of_a_served_model_says_how_long_its_answers_are(filled: Store) -> None:
    of = design("openai:gpt-4o")
    told = {"answers": 40, "seconds": 10, "requests": 8, "tokens_in": 900, "tokens_out": 120}
    job_of(filled, of, told)
    found = estimates.estimate(planning.plan(filled, of), filled.jobs.list(), PRICED)
    assert found.tokens_out == 432 * 3
    assert found.cost == pytest.approx((432 * 900 / 40 * 2 + 432 * 3 * 10) / 1e6)
    assert (found.cost or 0) < (found.cost_most or 0)
    assert "about 1,300 if they are as in job 1" in found.describe()


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"WORKBENCH_MAX_REQUESTS": "71"}, "beyond the limit of 71 requests"),
        ({"WORKBENCH_MAX_TOKENS": "9000"}, "beyond the limit of 9,000 tokens"),
        ({"WORKBENCH_MAX_COST": "0.05"}, "beyond the limit of a cost of 0.05"),
        ({"WORKBENCH_MAX_COST": "5", "WORKBENCH_MAX_REQUESTS": "432"}, ""),
        ({"WORKBENCH_MAX_REQUESTS": "72"}, "beyond the limit of 72 requests in the dearest case"),
        (
            {"WORKBENCH_MAX_TOKENS": "9000", "WORKBENCH_MAX_REQUESTS": "1"},
            "limit of 1 requests and 9,000 tokens",
        ),
    ],
)
def test_a_limit_that_a_plan_would_break_is_named(
    filled: Store, limit: dict[str, str], words: str
) -> None:
    found = estimates.estimate(planning.plan(filled, design("openai:gpt-4o")), (), PRICED | limit)
    assert words in found.describe()
    assert bool(found.exceeded) is bool(words)
    assert found.as_json()["exceeds"] == (found.exceeded or None)


def test_a_price_that_is_no_number_is_named_for_a_served_model_alone(filled: Store) -> None:
    broken = {"WORKBENCH_PRICE_IN": "cheap"}
    with pytest.raises(UsageError, match=r"\$WORKBENCH_PRICE_IN is 'cheap'"):
        estimates.estimate(planning.plan(filled, design("openai:gpt-4o")), (), broken)
    assert estimates.estimate(planning.plan(filled, design("smollm2")), (), broken).prompts


@pytest.mark.e2e
def test_only_what_is_missing_is_estimated(filled: Store) -> None:
    wait(filled, launch.start(filled, design(samples=2)), ended)
    found = estimates.estimate(planning.plan(filled, design()), (), {})
    assert (found.prompts, found.answers) == (72, 72 * 4)
    done = estimates.estimate(planning.plan(filled, design(samples=2)), (), {})
    assert (done.prompts, done.describe()) == (0, "")


def test_an_exact_plan_samples_no_token(filled: Store) -> None:
    found = estimates.estimate(
        planning.plan(filled, design("smollm2", samples=1, sampling=EXACTLY)), (), {}
    )
    assert (found.prompts, found.tokens_out_most) == (72, 0)
    assert "no sampling" in found.describe()


def test_the_cost_at_the_end_goes_on_from_that_so_far(filled: Store) -> None:
    of = design("openai:gpt-4o")
    assert launch.cost_at_end(
        job_of(filled, of, {"answers": 10, "cost": 0.5}, "running")
    ) == pytest.approx(2.0)
    assert launch.cost_at_end(job_of(filled, of, {"answers": 10}, "running")) is None
    assert launch.cost_at_end(job_of(filled, of, {"cost": 0.5}, "running")) is None
    assert launch.cost_at_end(job_of(filled, of, {"answers": 10, "cost": 0.5})) is None


def test_prompts_of_a_statement_know_the_rule_of_their_own_labels(store: Store) -> None:
    store.instruments.add(
        replace(instrument(), templates=data.shipped_templates(), statements=(statement("a-1"),))
    )
    requests = planning.plan(store, design(sampling=DECIDED, samples=1)).requests()
    pairs = {(r.decided.positive, r.decided.negative) for _, r in requests}  # type: ignore[union-attr]
    assert pairs == {("agree", "disagree"), ("beneficial", "harmful"), ("favorable", "detrimental")}


def test_a_device_is_of_a_model_that_is_loaded_here_and_is_asked_for_again() -> None:
    assert "device" not in design().as_json()
    chosen = design("smollm2", device="all")
    assert Design.from_json(chosen.as_json()) == chosen
    check_design(chosen)
    for wrong, said in (
        (design("scripted", device="cpu"), "leave it out"),
        (design("openai:m@http://127.0.0.1:9/v1", device="all"), "leave it out"),
        (design("smollm2", device="cpu", cluster="local"), "leave it out"),
        (design("smollm2", device="gpu"), "give cpu, cuda, cuda:1 or all"),
    ):
        with pytest.raises(UsageError, match=said):
            check_design(wrong)


def test_a_job_with_a_device_is_asked_again_with_it(store: Store) -> None:
    command = RunCommand.from_design(store, design("smollm2", device="cuda:1"))
    assert command.values()["device"] == "cuda:1"
    assert command.texts()["device"] == "cuda:1"

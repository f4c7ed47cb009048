"""Multiple-choice questions are asked from the form of a sampling job; Jobs and Home say what came
of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Button, Input, Label, OptionList, Select

from stores.core.store import Store
from stores.jobs.job_rows import Job
from tests.conftest import instrument
from tests.tui.conftest import made, screen_text, shown, until
from tests.tui.test_questionnaire_form import visible_fields
from workbench import registry
from workbench.audits.response_bias import AUDIT
from workbench.commands.run import RunCommand
from workbench.domain.choices import (
    AnsweredPair,
    AnswerSet,
    ArmAnswers,
    Bias,
    Choice,
    ChoicePair,
    Perturbation,
)
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument, with_pairs
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Scale,
)
from workbench.domain.responses import EXACTLY, Sampling
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.errors import UsageError
from workbench.inference.scripted.answers import LetterHabits
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning, scoring
from workbench.pipeline.estimates import estimate
from workbench.tui.app import WorkbenchApp
from workbench.tui.design_form import (
    EXACT_LABELS,
    SAMPLED_WHOLE,
    sampling_note,
    sampling_of_audit,
    sampling_values,
)
from workbench.tui.home.home import BELOW, HomeScreen, home_lines
from workbench.tui.jobs.job_form import read_choices
from workbench.tui.jobs.job_lines import hint, job_details, subject
from workbench.tui.kit.base import of_store
from workbench.tui.overview import read_judgement, read_overview
from workbench.tui.results.result_screen import screen_class
from workbench.tui.widgets.fields import TickList

ResponseBiasScreen = screen_class(registry.audit("response_bias"))

LETTER = Sampling(1.0, 1.0, None, 1)
OWN = ("response_bias-bias", "response_bias-tries")
SAMPLED = (
    "variants",
    "templates",
    "samples",
    "temperature",
    "top_p",
    "top_k",
    "max_new_tokens",
    "answers",
)
PEOPLE = tuple(
    f"questionnaire-{name}" for name in ("conditions", "respondents", "every", "context_questions")
)


def question(key: str, bias: Bias, *, typos: bool = False) -> ChoicePair:
    original = Choice(f"Is {key} good?", ("Yes", "No", "Both"))
    typo = (
        {(Perturbation.KEY_TYPO, 1): Choice(f"Is {key} goof?", original.options)} if typos else {}
    )
    return ChoicePair(
        key, bias, original, Choice(f"Is {key} bad?", original.options[::-1]), perturbed=typo
    )


def questions() -> Instrument:
    """Two questions about one bias, one of them with a typo, and one about another."""
    pairs = (
        question("q1", Bias.RESPONSE_ORDER, typos=True),
        question("q2", Bias.RESPONSE_ORDER),
        question("q3", Bias.ALLOW_FORBID),
    )
    return with_pairs(Instrument("choices", "Choices", ()), pairs)


def answers() -> Instrument:
    """A model's answers to questions of which nothing else is known."""
    pairs = tuple(
        AnsweredPair(
            f"q{n}",
            ArmAnswers({"a": 30 + n, "b": 20 - n}, 2, 2),
            ArmAnswers({"a": n, "b": 50 - n}, 2, 2),
        )
        for n in range(4)
    )
    return Instrument(
        "elsewhere",
        "Answers",
        (),
        answer_sets=(AnswerSet("llama", Bias.ALLOW_FORBID, None, pairs),),
    )


def reads(app: WorkbenchApp, words: str) -> bool:
    return words in screen_text(app)


def offered(app: WorkbenchApp, name: str) -> list[str]:
    found = app.screen.query_one(f"#{name}", TickList)
    return [found.get_option_at_index(n).value for n in range(found.option_count)]


def marked(app: WorkbenchApp) -> list[str]:
    return [str(label.content) for label in app.screen.query(".name.-trouble").results(Label)]


def put(app: WorkbenchApp, name: str, text: str) -> None:
    app.screen.query_one(f"#{name}", Input).value = text


def choose(app: WorkbenchApp, name: str, value: str) -> None:
    app.screen.query_one(f"#{name}", Select).value = value


def ask(path: Path, model: str = "letters", sampling: Sampling = LETTER, **habits: float) -> int:
    """Let a stand-in answer every question in this process; return the job."""
    with Store.open(path) as store:
        samples = 1 if sampling == EXACTLY else 4
        design = Design("choices", model, AUDIT.name, samples, sampling, family="lettered", tries=2)
        plan = planning.plan(store, design)
        job = launch.create(store, plan.design, plan)
        attempt = store.jobs.claim(job, "test")
        assert attempt is not None
        stand_in = ScriptedModel(ScriptedPersona(letters=LetterHabits(**habits)), model)  # type: ignore[arg-type]
        run = asking.collect if sampling != EXACTLY else scoring.score_design
        run(store, plan, stand_in, attempt=attempt, job=job)
        store.jobs.finish(job, attempt, "done", "all is stored")
    return job


@pytest.mark.e2e
async def test_the_form_has_what_multiple_choice_questions_need_and_tells_what_they_cost(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "audit.db", answers(), instrument(name="a-small"), questions())
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "reliability audit of smollm2 on a-small" in shown(app, "#plan"))
        assert visible_fields(app, OWN) == []
        choose(app, "audit", AUDIT.name)
        await until(
            pilot, lambda: "response_bias audit of smollm2 on choices" in shown(app, "#plan")
        )
        plan = shown(app, "#plan")
        # Three originals, of which one has a typo, and three changed forms.
        assert (
            "7 prompts planned (not 9: some wordings exist for some statements only); 50 valid "
            "samples" in plan
        )
        assert "50 valid samples each = 350 answers" in plan
        assert "drawn again: at most 1,000 per prompt" in plan
        assert "350 answer tokens if all are valid, at most 7,000 with all tries" in plan
        assert visible_fields(app, PEOPLE) == []
        assert visible_fields(app, (*OWN, *SAMPLED)) == [*OWN, *SAMPLED]
        assert offered(app, "response_bias-bias") == ["allow_forbid", "response_order"]
        assert offered(app, "variants") == ["original", "changed", "key_typo-1"]
        assert [
            app.screen.query_one(f"#{name}", Input).value for name in ("samples", "max_new_tokens")
        ] == ["50", "1"]
        ways = app.screen.query_one("#answers OptionList", OptionList)
        choose_from = [str(ways.get_option_at_index(n).prompt) for n in range(ways.option_count)]
        assert choose_from == ["sampled", "exact"], "nothing decides a letter before its end"

        app.screen.query_one("#response_bias-bias", TickList).deselect("response_order")
        await until(pilot, lambda: "2 prompts planned" in shown(app, "#plan"))
        choose(app, "family", "extended")
        await until(pilot, lambda: "50 tokens" in shown(app, "#plan"))
        assert offered(app, "templates") == ["extended"]
        choose(app, "answers", EXACT_LABELS)
        await until(pilot, lambda: "longer than a token" in shown(app, "#plan"))
        assert marked(app) == ["answers"]
        assert app.screen.query_one("#start", Button).disabled
        put(app, "max_new_tokens", "60")
        choose(app, "family", "lettered")
        await until(
            pilot,
            lambda: (
                "2 prompts planned" in shown(app, "#plan") and "to score" in shown(app, "#plan")
            ),
        )
        assert app.screen.query_one("#max_new_tokens", Input).value == "60", "what was typed stays"
        choose(app, "instrument", "a-small")
        await until(
            pilot, lambda: "a-small has no multiple-choice questions" in shown(app, "#plan")
        )
        assert marked(app) == ["instrument"]


def test_the_form_becomes_a_design(tmp_path: Path) -> None:
    refs = ("response_order.q1", "response_order.q2")
    own = {"tries": "3", "bias": "response_order"}
    texts = {
        "instrument": "choices",
        "audit": AUDIT.name,
        "model": "smollm2",
        "family": "lettered",
        "samples": "50",
        "top_p": "1",
        "max_new_tokens": "1",
        "own": own,
    }
    with Store.open(made(tmp_path / "c.db", questions())) as store:

        def designed(**changed: object) -> Design:
            return RunCommand.from_form({**texts, **changed}).design(store)

        design = designed()
        assert (design.statements, design.tries, design.samples, design.sampling) == (
            refs,
            3,
            50,
            LETTER,
        )
        assert designed(own={"tries": "3"}).statements == ()
        assert designed(statements="1").statements == refs[:1]
        assert sampling_values(AUDIT.name, EXACT_LABELS, {"samples": "nonsense"}) == {"exact": True}
        exact = RunCommand(model="smollm2", audit=AUDIT.name, instrument="choices", exact=True)
        assert (exact.design(store).sampling, exact.design(store).samples) == (EXACTLY, 1)
        for changed, words in (
            ({"own": {"bias": ","}}, "^biases: "),
            ({"own": {"tries": "0"}}, "^tries: found 0; give 1 or more"),
            ({"statements": "allow_forbid.q3"}, "^statements: allow_forbid.q3: "),
            ({"variants": ("changed",)}, "^variants: choose the original"),
        ):
            with pytest.raises(UsageError, match=words):
                designed(**changed)
        usual = sampling_of_audit(AUDIT.defaults)
        assert "tries" in sampling_note(AUDIT.name, EXACT_LABELS, usual, usual)


def test_an_instrument_that_is_nothing_but_questions_opens_with_their_audit(tmp_path: Path) -> None:
    with Store.open(made(tmp_path / "audit.db", questions(), answers())) as store:
        with_questions, without = read_choices(store)
    assert with_questions.fits(AUDIT.name)
    assert not without.fits(AUDIT.name)
    assert without.languages == ("en",), "it has no wording, and a language all the same"
    (audit,) = [one for one in with_questions.audits if one.audit == AUDIT.name]
    assert audit.families[0] == "lettered"
    assert audit.sampling["max_new_tokens"] == "1"
    assert audit.sampling_of("extended")["max_new_tokens"] == "50"


def job(path: Path, number: int) -> Job:
    with Store.open(path) as store:
        return store.jobs.get(number)


def home(path: Path) -> str:
    lines = home_lines(of_store(path, read_overview), of_store(path, read_judgement))
    return "\n".join(f"{key} {content.plain}" for key, content in lines)


def test_jobs_and_home_say_what_was_valid_what_was_drawn_again_and_what_was_given_up(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "audit.db", questions(), answers())
    text = home(path)
    assert "Choices     llama  0 of 1 bias significant  → 9\n" in text, (
        "its preference for positions is unknown"
    )
    assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= 12 + BELOW
    assert "0 statements · 0 wordings  lint ✓" in text
    assert "response_bias:next Next step   9" in text, (
        "answers that are there already come before new ones"
    )

    told = job(path, ask(path, invalid=0.3))
    assert subject(told) == "letters · response bias · lettered"
    details = job_details(told).plain
    assert "at least 4 valid samples per prompt, at most 8 drawn" in details
    over, again = round(told.progress["over"]), round(told.progress["invalid"])
    more = f" and {over} beyond the minimum" if over else ""
    assert f"{told.done} valid answers of 28{more} · drawn again {again}" in details
    assert told.done + over + again == told.progress["answers"], "the counts add up"
    assert hint(told) == "9 shows the response biases"
    waiting = replace(told, state="queued", worker=False)
    assert "its worker is starting" in job_details(waiting, begun=True).plain, (
        "it was started a moment ago"
    )
    assert "no worker yet; R starts one" in job_details(waiting).plain
    never = job(path, ask(path, "never", invalid=1.0))
    assert (
        "0 valid answers of 28 · drawn again 56 (100.0 % were no offered letter)"
        in job_details(never).plain
    )
    assert "7 prompts have too few after all tries" in job_details(never).plain
    assert "Choices     letters  0 of 1 bias significant" in home(path), (
        "the run that has what was planned comes first"
    )
    exact = job(path, ask(path, "exact", EXACTLY, invalid=0.1))
    details = job_details(exact).plain
    assert "probabilities of the letters as the next token" in details
    assert "valid" not in details

    text = home(path)
    assert "Choices     exact" in text, "the newest run is spoken of"
    assert "with too few valid answers" not in text, "only of that run"


@pytest.mark.e2e
async def test_screens_of_other_audits_do_not_offer_its_runs_and_home_leads_to_its_own(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "audit.db", questions())
    ask(path)
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Choices     letters" in screen_text(app))
        for key, words in (
            ("4", "No model has answered about choices yet"),
            ("6", "No model has answered yet"),
            ("7", "choices has only multiple-choice questions"),
            ("8", "There is nothing to ask about yet"),
        ):
            await pilot.press(key)
            await until(pilot, partial(reads, app, words))
            assert "t: template" not in screen_text(app), (
                "without figures there is no table to go to"
            )
        await pilot.press("1")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        facts = app.screen.query_one("#facts", OptionList)
        facts.highlighted = facts.get_option_index("response_bias:response_bias:")
        await pilot.press("enter")
        await until(
            pilot,
            lambda: isinstance(app.screen, ResponseBiasScreen) and "order" in screen_text(app),
        )


def test_a_job_of_some_questions_names_their_biases(tmp_path: Path) -> None:
    with Store.open(made(tmp_path / "audit.db", questions())) as store:
        asked = Design(
            "choices",
            "m",
            AUDIT.name,
            50,
            LETTER,
            family="steering",
            statements=("allow_forbid.q3",),
        )
        created = store.jobs.get(launch.create(store, asked))
    assert subject(created) == "m · response bias · steering · allow forbid"


def test_the_dearest_outcome_is_that_of_all_tries_and_an_earlier_job_says_how_many_are_likely(
    tmp_path: Path,
) -> None:
    path = made(tmp_path / "audit.db", questions())
    prices = {"WORKBENCH_PRICE_IN": "1", "WORKBENCH_PRICE_OUT": "2"}
    with Store.open(path) as store:
        design = Design("choices", "openai:m", AUDIT.name, 4, LETTER, family="lettered", tries=5)
        plan = planning.plan(store, design)
        found = estimate(plan, (), prices)
        assert (found.prompts, found.answers, found.answers_most) == (7, 28, 140)
        assert (found.least.requests, found.most.requests, found.most.answer_tokens) == (
            7,
            140,
            140,
        )
        assert found.cost_most == pytest.approx((found.most.prompt_tokens + 2 * 140) / 1e6)
        assert "up to 140 with all tries" in found.describe()
        number = launch.create(store, design, plan)
        told = '{"answers": 40, "invalid": 30, "seconds": 4, "tokens_in": 400, "tokens_out": 40}'
        with store.write() as connection:
            connection.execute(
                "update job set state = 'done', progress = ? where id = ?", (told, number)
            )
        after = estimate(plan, store.jobs.list(), prices)
    assert (after.valid, after.answers_likely) == (0.25, 112)
    assert (after.seconds, after.tokens_out, after.billed_in) == (11.2, 112, 1120)
    assert replace(after, valid=0.01).answers_likely == 140


def test_the_time_and_the_cost_to_come_reckon_with_answers_that_are_drawn_again(
    tmp_path: Path,
) -> None:
    with Store.open(made(tmp_path / "audit.db", questions())) as store:
        design = Design("choices", "openai:m", AUDIT.name, 4, LETTER, family="lettered")
        number = launch.create(store, design, planning.plan(store, design))
        store.jobs.claim(number, "test")
        told = '{"answers": 10, "invalid": 5, "seconds": 5, "cost": 1.0}'
        with store.write() as connection:
            connection.execute("update job set done = 5, progress = ? where id = ?", (told, number))
        running = store.jobs.get(number)
    left = launch.pace(running).eta_seconds
    assert left is not None
    assert 15 < left <= 23, "23 of 28 are missing, and of two answers a second one counts"
    assert launch.cost_at_end(running) == pytest.approx(1 + 23 / 5)


@pytest.mark.e2e
async def test_a_survey_is_put_to_a_local_model_for_probabilities_and_to_a_served_one_for_letters(
    tmp_path: Path,
) -> None:
    scale = Scale(
        "much", tuple(AnswerOption((word,), Meaning.STEP) for word in ("much", "some", "none"))
    )
    statement = Statement("q0", (Wording(ORIGINAL, "en", "How much?"),))
    whole = Questionnaire(
        (Question("q0", QuestionRole.SURVEY, Form.QUESTION, "much"),), (scale,), ()
    )
    path = made(
        tmp_path / "survey.db", Instrument("survey", "Survey", (statement,), questionnaire=whole)
    )
    app = WorkbenchApp(path, start="jobs")
    async with app.run_test(size=(120, 50)) as pilot:
        await pilot.press("n", "s")
        await until(pilot, lambda: "of smollm2 on survey" in shown(app, "#plan"))
        answers = app.screen.query_one("#answers", Select)
        choose(app, "audit", "representation")
        await until(pilot, lambda: answers.value == EXACT_LABELS)
        app.screen.query_one("#model", Input).value = "openai:some"
        await until(pilot, lambda: answers.value == SAMPLED_WHOLE)
        app.screen.query_one("#model", Input).value = "smollm2"
        await until(pilot, lambda: answers.value == EXACT_LABELS)

"""An exact run on the audit screens: verdicts, probabilities, what samples would say, and the
likeliest next tokens.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from stores.core.store import Store
from stores.runs.scores import NextTokenTable, ScoredPrompt
from tests.tui.audit_runs import audited, small
from tests.tui.books import SIZES, behind, by_parts, press, row
from tests.tui.conftest import flowing, judged_by, screen_text, shown
from tests.tui.test_audit_screen import judged
from workbench.audits.audit import probes as every_probe
from workbench.domain.prompts import Probe
from workbench.domain.responses import EXACTLY, ModelCard
from workbench.domain.statements import variant_order
from workbench.readers.verbalizers import verbalizers
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.options_dialog import ChoicesScreen, RunsScreen
from workbench.tui.results.wordings import WordingsScreen

LOGS = {
    0.6: -0.5108256237659907,
    0.2: -1.6094379124341003,
    0.42: -0.8675005677047231,
    0.38: -0.9675840262617056,
    0.01: -4.605170185988091,
}


def sides(probe: Probe) -> tuple[float, float]:
    """Return the probability of each label: a model that agrees with every original three times to
    one.
    """
    if probe.statement == "env-03" and probe.variant == "negation":
        return 0.6, 0.2
    if probe.statement == "tax-02" and probe.variant == "negation":
        return 0.38, 0.42
    if (
        probe.statement == "mig-01"
        and probe.variant == "paraphrase-2"
        and probe.template == "personal-2"
    ):
        return 0.01, 0.01
    return (0.2, 0.6) if probe.variant in ("negation", "opposite") else (0.6, 0.2)


def scored(path: Path) -> Path:
    """Fill a store with the probabilities of a model whose labels hold .8 of the probability."""
    base = small()
    variants = sorted({w.variant for s in base.statements for w in s.wordings}, key=variant_order)
    probes = tuple(every_probe(base.statements, base.templates, variants, "en", "m"))
    templates = {(t.name, t.inverted): t for t in base.templates}
    with Store.open(path, create=not path.exists()) as store:
        store.instruments.add(base)
        store.runs.add_probes("reliability", base.name, "en", base.templates, probes)
        card = ModelCard("smol", "0123456789abcdef", "scripted 1", "float32", "none")
        model, sampling = store.runs.begin(card, EXACTLY)
        job = store.jobs.create("infer", {}, len(probes))
        attempt = store.jobs.claim(job, "9.9")
        batch, tables = [], {}
        for probe in probes:
            forms = verbalizers(templates[probe.template, probe.inverted])
            likely = {forms.positive[1]: sides(probe)[0], forms.negative[1]: sides(probe)[1]}
            logs = tuple(
                (form, LOGS[likely[form]] if form in likely else -float("inf"))
                for form in forms.all
            )
            batch.append(ScoredPrompt(probe.prompt.key, logs))
            tables[probe.prompt.key] = NextTokenTable(
                (("Benef", LOGS[0.6]), (" \x1b[31m", LOGS[0.2])), 0.2
            )
        store.scores.add(model, sampling, attempt, batch, tables)
        store.jobs.finish(job, attempt, "done")
    return path


@pytest.fixture
def app(tmp_path: Path) -> WorkbenchApp:
    return WorkbenchApp(scored(tmp_path / "audit.db"), start="audit")


@SIZES
async def test_cells_are_the_exact_verdicts_with_the_chance_of_samples_beside(
    app: WorkbenchApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await judged(app, pilot)
        found = {ref: cells for (ref,), cells in by_parts(app).items()}
        assert {ref: cells["all"][0] for ref, cells in found.items()} == {
            "soc-07": "✓",
            "env-03": "✗",
            "mig-01": "·",
            "tax-02": "✗",
        }
        assert found["tax-02"]["sampling"][0] == "✗", "38 of 80 lies between 45 and 55 %"
        assert found["env-03"]["sampled_would_pass"] in ("0.0 %", "<0.1 %")
        assert found["soc-07"]["sampled_would_pass"] == "0.9 %", (
            "leanings of 75 % are not always clear of 30"
        )
        assert shown(app, "#options").startswith("✓ 1 of 4 pass all (30 samples: 0.0) · small")
        said = app.screen.explain()  # type: ignore[attr-defined]
        assert (
            "exact label probabilities · 45-55 % unclear · labels ≥5 % · of 30: rule as printed"
            in said
        )


@pytest.mark.e2e
async def test_a_wording_shows_shares_of_its_labels_and_enter_the_likeliest_tokens(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "enter", "enter")
        assert isinstance(app.screen, WordingsScreen)
        cells = row(app, "original", "printed")
        assert (cells["named"], cells["stance"], cells["leaning"]) == ("80.0 %", "agree", "75.0 %")
        assert (cells["positive"], cells["negative"]) == ("60.0 %", "20.0 %")
        by_hand = sum(math.comb(30, k) * 0.75**k * 0.25 ** (30 - k) for k in range(22, 31))
        assert cells["sampled_reliable"] == f"{100 * by_hand:.1f} %" == "67.4 %", (
            "22 or more of 30 (8 or fewer: 2e-9)"
        )
        await press(app, pilot, "enter")
        assert behind(app) == "beginnings"
        found = by_parts(app)
        assert found["label", "Beneficial"]["probability"] == "60.0 %"
        assert found["next token", "Benef"]["probability"] == "60.0 %"
        assert found["next token", "all others"]["probability"] == "20.0 %"
        assert found["next token", " \x1b[31m"]["text"] == "␣␛[31m"
        assert "\x1b" not in screen_text(app)
        assert "revision 0123456789ab" in flowing(app)


@pytest.mark.e2e
async def test_too_little_probability_is_few_and_says_how_little(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        await press(app, pilot, "down", "down", "enter", "down", "enter")
        assert "· samp" in row(app, "paraphrase-2", "printed")["tests"]
        assert "only 2.00% of the probability on its labels, 5.00% needed" in flowing(app)


@pytest.mark.e2e
async def test_exact_and_sampled_runs_are_chosen_alike(tmp_path: Path) -> None:
    app = WorkbenchApp(scored(audited(tmp_path / "audit.db")), start="audit")
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        assert "sampled_would_pass" in by_parts(app)["soc-07",]
        await press(app, pilot, "M")
        assert isinstance(app.screen, RunsScreen)
        assert "prompts scored" in screen_text(app)
        await press(app, pilot, "up", "enter")
        assert "30 samples" in judged_by(app)
        assert "sampled_would_pass" not in by_parts(app)["soc-07",]
        assert "of 30 readable" in judged_by(app)


@pytest.mark.e2e
async def test_the_samples_beside_may_be_unreadable_as_often_as_no_label_is_named(
    app: WorkbenchApp,
) -> None:
    async with app.run_test(size=(140, 40)) as pilot:
        await judged(app, pilot)
        before = by_parts(app)["soc-07",]["sampled_would_pass"]
        await press(app, pilot, "o")
        assert isinstance(app.screen, ChoicesScreen)
        app.screen.choices.highlighted = app.screen.choices.get_option_index("with_unreadable:")
        await press(app, pilot, "space", "enter")
        assert "≥20 of 30 readable" in app.screen.explain()  # type: ignore[attr-defined]
        assert by_parts(app)["soc-07",]["sampled_would_pass"] != before

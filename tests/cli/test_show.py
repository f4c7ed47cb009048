"""`workbench show`: the same words in every audit, with the options of that audit alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from stores.core.store import Store
from tests.cli.test_commands import data, run
from tests.conftest import new_store
from tests.questionnaire_stores import card, panel, predict
from tests.tui.audit_runs import audited, small
from tests.tui.test_one_seed import wavering
from workbench import registry
from workbench.cli.output import FIGURES
from workbench.cli.parser import replaced
from workbench.cli.showing import COMMON


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    """A store with answers to one audit alone."""
    path = tmp_path / "panel.db"
    with new_store(path) as store:
        store.instruments.add(panel())
        predict(store, lambda _: (0.6, 0.2), card("base"))
    return path


@pytest.fixture
def both(tmp_path: Path) -> Path:
    """Answers that two audits judge."""
    return audited(tmp_path / "my study.db", wavering, base=small())


def test_the_only_audit_with_answers_need_not_be_named(
    predicted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--draws", "100")
    assert data(capsys, "show", predicted, *few) == data(
        capsys, "show", predicted, "questionnaire", *few
    )
    for words in (
        ("--json", predicted, "questionnaire"),
        (predicted, *few, "--json", "questionnaire"),
    ):
        code, out, _ = run(capsys, "show", *words)
        assert (code, json.loads(out)["instrument"]) == (0, "panel")
    code, _, err = run(capsys, "show", predicted, "--minimum", "3")
    assert (
        code,
        "--minimum is an option of reliability and consistency, not of questionnaire" in err,
    ) == (2, True)


def test_of_several_audits_each_says_what_it_found(
    both: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "show", both)
    assert (code, err) == (0, "")
    for name in ("reliability", "consistency"):
        assert f"{name}: {registry.audit(name).question}" in out
    listed = [shlex.split(line)[1:] for line in out.splitlines() if line.startswith("  workbench ")]
    assert listed == [["show", str(both), "reliability"], ["show", str(both), "consistency"]]
    first, _ = data(capsys, "show", both)
    assert (first["audit"], first["command"]) == (
        "reliability",
        shlex.join(["workbench", *listed[0]]),
    )
    assert all(f"- {sentence}" in out for sentence in first["found"])
    for words in listed:
        assert run(capsys, *words)[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("STORE", "reliabilty"),
            "there is no audit 'reliabilty'; did you mean 'reliability'? Available: reliability,",
        ),
        (("STORE", "xyzzy", "--json"), "there is no audit 'xyzzy'; Available: reliability,"),
        (
            ("consistency", "STORE"),
            "found the audit 'consistency' in place of a store: workbench show STORE consistency",
        ),
        (
            ("consistency",),
            "found the audit 'consistency' in place of a store: workbench show STORE consistency",
        ),
        (
            ("STORE", "--minimum", "3"),
            "there are answers to reliability and consistency: name the audit that --minimum",
        ),
        (
            ("STORE", "--csv", "out"),
            "there are answers to reliability and consistency: name the audit that --csv",
        ),
        (
            ("no.db", "--minimum", "3"),
            "--minimum is an option of reliability and consistency; name the audit",
        ),
        (("no.db", "--view"), "--view is an option of consistency; name the audit"),
    ],
)
def test_a_mistake_is_named(
    both: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    code, out, err = run(
        capsys, "show", *(str(both) if word == "STORE" else word for word in words)
    )
    assert (code, out) == (2, "")
    assert said.replace("STORE", shlex.quote(str(both)) if "STORE" in words else "STORE") in err


@pytest.mark.parametrize(
    ("typed", "now"),
    [
        ("verdicts STORE --json", "show STORE reliability --json"),
        (
            "verdicts --json STORE --audit questionnaire --draws 100",
            "show STORE questionnaire --json --draws 100",
        ),
        (
            "verdicts STORE --audit=response_bias --compare a 'b c'",
            "show STORE response_bias --compare a 'b c'",
        ),
        ("consistency STORE --audit reliability --parties", "show STORE consistency --parties"),
        ("bias STORE --csv out", "show STORE bias_score --csv out"),
        ("bias --csv out STORE", "show STORE bias_score --csv out"),
        ("sides", "show STORE statement_labels"),
        ("help bias", "show STORE bias_score --help"),
    ],
)
def test_a_former_verb_says_what_replaces_it(
    both: Path, capsys: pytest.CaptureFixture[str], typed: str, now: str
) -> None:
    place = shlex.quote(str(both))
    with Store.open(both) as store:
        before = store.runs.list()
    words = shlex.split(typed.replace("STORE", place))
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    known = place if "STORE" in typed else "STORE"
    assert (
        err == f"workbench: {words[words[0] == 'help']} is now: workbench "
        f"{now.replace('STORE', known)}\n"
    )
    with Store.open(both) as store:
        assert store.runs.list() == before


def test_every_former_verb_leads_to_an_audit() -> None:
    for verb, shows in registry.FORMER.items():
        assert replaced(verb, "x.db") == f"{verb} is now: workbench show x.db {shows}"
        audit = shows.split()[0]
        assert registry.audit(audit).command == f"show STORE {audit}"


@pytest.mark.parametrize("name", registry.SHIPPED)
def test_help_explains_the_options_of_an_audit_and_names_those_of_every_audit(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "show", "x.db", name, "--help")[1]
    explained, _, named = shown.partition("Options of every audit")
    own = [
        one
        for one in registry.audit(name).figure_options
        if one.explained not in {of.explained for of in COMMON}
    ]
    assert all(f"  {one.flag}" in explained for one in own)
    assert all(one.flag in named for one in FIGURES.options)
    others = {of.flag for audit in registry.every_audit() for of in audit.figure_options}
    others -= {of.flag for of in registry.audit(name).figure_options}
    assert not [flag for flag in others if f" {flag} " in shown]
    assert max(map(len, shown.splitlines())) <= 80
    assert name in run(capsys, "show", "--help")[1]

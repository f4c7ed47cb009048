"""What is written is read back as it was, whatever the texts hold; a folder of somebody else's is
left alone.
"""

from __future__ import annotations

import csv
import io
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stores.core.store import Store
from tests.conftest import instrument, statement
from workbench.csv_files import bare, csv_text, guarded
from workbench.domain.instruments import (
    Instrument,
    IssueDefinition,
    IssueLabel,
    Party,
    PartyAnswer,
    SurveyAnswer,
    gold_labels,
)
from workbench.domain.prompts import FREE_TEXT, LIKERT, Template
from workbench.domain.statements import (
    NEGATION,
    OPPOSITE,
    ORIGINAL,
    POLITICAL_OPPOSITE,
    QUESTION,
    REFORMULATION,
    Dimension,
    Relation,
    Side,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    variant_order,
)
from workbench.errors import UnknownName, UsageError
from workbench.formats.lines import tag_cell, tags_of
from workbench.formats.native import read_csv, read_jsonl
from workbench.formats.people import ANSWERS
from workbench.formats.probvaa import AGNOSTIC, read
from workbench.formats.write import export, normal_form, write_folder, write_probvaa

NASTY = (
    " a leading blank",
    "trailing \t",
    "=1+1",
    "'=x",
    "''",
    "'",
    "''-2",
    "+",
    "-1",
    "@me",
    "\tx",
    "\rx",
    "\nx\r\n",
    "'tis",
    'say "no", twice',
    "\u202eright to left\u202c",
    "e\u0301 and \u00e9",
    "👩\u200d🔬",
    "\ufeff",
    "a,b;c\\;",
    "\u2028",
    "x" * 10_000,
    "\x1b[31m",
    "{statement}",
    "%s",
    "١٢٣",
    "אבג",
    "NaN",
    "true",
    "-0.50",
    "#",
    "[b]",
)
LOOSE = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20),
    st.text("='\"+-@\t\r\n ,;\\#a", max_size=8),
)
TEXTS = LOOSE.filter(lambda text: text.strip() != "")
"texts of wordings: anything but blanks alone"
WORDS = TEXTS.map(str.strip)
"names and single words: without outer blanks"
OTHERS = (
    *(VariantId(VariantKind.PARAPHRASE, n) for n in (1, 2, 7, 99)),
    *(
        NEGATION,
        OPPOSITE,
        REFORMULATION,
        VariantId(VariantKind.REFORMULATION, 2),
        POLITICAL_OPPOSITE,
        QUESTION,
    ),
)


def maybe(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.none() | strategy


@st.composite
def statements_of(draw: st.DrawFn, ref: str, earlier: list[str]) -> Statement:
    """A statement in one or two languages; it may be derived from an earlier one, or be a question
    alone.
    """
    wordings: list[Wording] = []
    languages = draw(
        st.lists(st.sampled_from(["en", "de", "pt-br"]), min_size=1, max_size=2, unique=True)
    )
    for language in languages:
        only_asked = draw(st.integers(0, 9)) == 0
        chosen = (
            [QUESTION]
            if only_asked
            else [ORIGINAL, *draw(st.lists(st.sampled_from(OTHERS), unique=True))]
        )
        author = draw(maybe(WORDS))
        for variant in sorted(chosen, key=variant_order):
            stated = (
                draw(st.none() | st.sampled_from(list(Relation))) if variant != ORIGINAL else None
            )
            who = author if draw(st.booleans()) else draw(maybe(WORDS))
            stated = None if stated is variant.relation else stated
            wordings.append(Wording(variant, language, draw(TEXTS), who, stated))
    return Statement(
        ref,
        tuple(wordings),
        country=draw(maybe(WORDS)),
        topic=draw(maybe(WORDS)),
        languages=tuple(languages),
        dimension=draw(st.none() | st.sampled_from(Dimension)),
        leaning=draw(st.none() | st.sampled_from(Side)),
        source=draw(maybe(WORDS)),
        tags=tuple(draw(st.lists(WORDS, max_size=3))),
        derived_from=draw(st.none() | st.sampled_from([*earlier, "archived-1"])),
        version=draw(st.integers(1, 9)),
    )


@st.composite
def templates(draw: st.DrawFn) -> tuple[Template, ...]:
    """Templates of several audits, families, languages and scales; one name in two languages among
    them.
    """
    found = []
    for n in range(draw(st.integers(0, 4))):
        system = draw(maybe(TEXTS)) if draw(st.booleans()) else None
        if system is not None:
            system = system.replace("{", "(").replace("}", ")")
        user = draw(TEXTS).replace("{", "(").replace("}", ")") + "{statement}"
        one = Template(
            name=f"t-{n}",
            inverted=draw(st.booleans()),
            user=user,
            positive=draw(WORDS),
            negative=draw(WORDS),
            system=system,
            chat=draw(st.booleans()),
            family=draw(st.sampled_from(["chat", "generation", "gpt", "my own"])),
            address=draw(st.sampled_from(["personal", "impersonal"])),
            language="en",
            audit=draw(st.sampled_from(["reliability", "bias_score", "statement_labels"])),
            scale=draw(st.sampled_from(["", LIKERT, FREE_TEXT])),
        )
        found += (
            [one, replace(one, language="de", user=user + "!")] if draw(st.booleans()) else [one]
        )
    return tuple(found)


@st.composite
def instruments(draw: st.DrawFn) -> Instrument:
    """An instrument in normal form, as importing or a store gives it."""
    refs = draw(st.lists(WORDS, min_size=1, max_size=4, unique=True))
    statements = tuple(draw(statements_of(ref, refs[:n])) for n, ref in enumerate(refs))
    issues = draw(
        st.lists(WORDS.map(str.lower).map(lambda w: " ".join(w.split())), max_size=3, unique=True)
    )
    issues = list(
        {issue.casefold().encode(): issue for issue in issues if issue.isascii()}.values()
    )
    labels = tuple(
        IssueLabel(ref, issue, annotator, draw(st.sampled_from([-1, 0, 1])))
        for ref in refs
        for issue in issues
        for annotator in draw(
            st.lists(st.sampled_from(["gold", "ana", "'=bo", "adjudication"]), unique=True)
        )
    )
    gold = gold_labels(labels)
    parties = tuple(
        Party(country, name, draw(st.none() | st.floats(0, 10)))
        for country, name in draw(st.lists(st.tuples(WORDS, WORDS), max_size=3, unique=True))
    )
    answers = tuple(
        PartyAnswer(party.country, party.name, ref, word, ANSWERS[word])
        for party in parties
        for ref in refs
        for word in [draw(st.sampled_from(list(ANSWERS)))]
    )
    survey = tuple(
        SurveyAnswer(person, s.ref, variant, draw(st.booleans()))
        for person in draw(st.lists(WORDS, max_size=2, unique=True))
        for s in statements
        for variant in dict.fromkeys(w.variant for w in s.wordings)
    )
    name = draw(WORDS)
    return Instrument(
        name=name,
        title=draw(TEXTS),
        statements=tuple(replace(s, issues=gold.get(s.ref, {})) for s in statements),
        language=draw(st.sampled_from(["en", "de", "fr"])),
        version=draw(WORDS),
        source=draw(st.just("") | TEXTS),
        citation=draw(st.just("") | TEXTS),
        licence=draw(st.just("") | TEXTS),
        issues=tuple(issues),
        definitions=tuple(IssueDefinition(issue, draw(LOOSE), draw(LOOSE)) for issue in issues[:2]),
        templates=draw(templates()),
        issue_labels=labels,
        parties=parties,
        party_answers=answers,
        survey=survey,
        notes=tuple(draw(st.lists(LOOSE, max_size=2))),
    )


SLOW = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@given(LOOSE)
def test_a_cell_comes_back_as_it_was_and_is_no_formula(text: str) -> None:
    assert bare(guarded(text)) == text
    plain_number = guarded(text) == text and text.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert not plain_number or float(text) is not None


@given(st.lists(st.lists(LOOSE, min_size=2, max_size=2), max_size=4))
def test_csv_is_read_by_the_standard_library_as_it_was_written(rows: list[list[str]]) -> None:
    text = csv_text(("a", "b"), rows)
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [["a", "b"], *rows]


@given(st.lists(WORDS, max_size=4))
def test_tags_come_back_as_they_were(tags: list[str]) -> None:
    assert tags_of(tag_cell(tags)) == tuple(tags)


@pytest.mark.e2e
@SLOW
@given(instruments())
def test_a_folder_imports_back_identically(tmp_path: Path, wanted: Instrument) -> None:
    place = tmp_path / "out"
    shutil.rmtree(place, ignore_errors=True)
    files = write_folder(wanted, place)
    assert {path.name for path in files} == {path.name for path in place.iterdir()}
    assert read_csv(place) == wanted
    assert normal_form(wanted) == wanted


@pytest.mark.e2e
@SLOW
@given(instruments())
def test_json_lines_hold_the_statements(tmp_path: Path, wanted: Instrument) -> None:
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    written = export("jsonl", wanted).write(tmp_path / "out")
    found = read_jsonl(written.files[0])
    held = [
        replace(s, derived_from=None) if s.derived_from == "archived-1" else s
        for s in wanted.statements
    ]
    assert list(found.statements) == held


@pytest.mark.e2e
@SLOW
@given(instruments())
def test_the_published_layout_holds_what_it_says_whatever_the_names(
    tmp_path: Path, wanted: Instrument
) -> None:
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assume(any(len(language) == 2 for s in wanted.statements for language in s.languages))
    written = write_probvaa(wanted, tmp_path / "out")
    found = read(tmp_path / "out")
    assert {s.ref for s in found.statements} <= {s.ref for s in wanted.statements}
    texts = {(s.ref, w.variant, w.language, w.text) for s in wanted.statements for w in s.wordings}
    kept = {(s.ref, w.variant, w.language, w.text) for s in found.statements for w in s.wordings}
    assert kept <= texts
    lost = [sentence for sentence in written.left_out if "wordings" in sentence.split(":")[0]]
    assert (kept == texts) == (
        not [one for one in lost if "authors" not in one and "expected" not in one]
    )


def rich() -> Instrument:
    """An instrument of a store that has some of everything the format was made longer for."""
    base = instrument()
    first, second, third = base.statements
    wordings = (
        *first.wordings,
        Wording(VariantId(VariantKind.PARAPHRASE, 5), "en", "=HYPERLINK(1)", "ana", Relation.FREE),
        Wording(REFORMULATION, "en", "  blanks  ", "bo", Relation.FLIPPED),
        Wording(QUESTION, "en", "Should it?\r\nReally?"),
        Wording(ORIGINAL, "ar", "\u202bنعم\u202c"),
    )
    return replace(
        base,
        statements=(
            replace(first, wordings=wordings, tags=("pilot", "a;b\\", "=x"), country=None),
            replace(
                second,
                derived_from="a-1",
                dimension=Dimension.CULTURAL,
                leaning=Side.LEFT,
                source="WVS",
            ),
            replace(third, derived_from="gone-1", tags=("pilot",)),
        ),
        definitions=(IssueDefinition("law_and_order", "Law", "More\nof it"),),
        issue_labels=(
            *base.issue_labels,
            IssueLabel("a-1", "liberal_society", "ana", -1),
            IssueLabel("a-1", "liberal_society", "bo", -1),
        ),
        templates=(
            *base.templates,
            replace(base.templates[0], language="de", system="Nein?"),
            replace(base.templates[0], audit="bias_score", family="mine", scale="", chat=False),
        ),
        notes=("one", 'two "quoted"'),
    )


def test_an_exported_instrument_is_the_same_in_a_new_store(tmp_path: Path) -> None:
    with Store.open(tmp_path / "one.db", create=True) as one:
        one.instruments.add(rich())
        before = one.instruments.get("small")
    assert before.statements[0].issues == {"law_and_order": 1, "liberal_society": -1}
    write_folder(before, tmp_path / "out")
    with Store.open(tmp_path / "two.db", create=True) as two:
        two.instruments.add(read_csv(tmp_path / "out"))
        assert two.instruments.get("small") == before
    text = (tmp_path / "out" / "statements.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK(1)" in text
    assert "'=x" not in text, "only the beginning of a cell is a formula"
    assert 'retired = [\n    "gone-1",\n]' in (tmp_path / "out" / "instrument.toml").read_text(
        encoding="utf-8"
    )


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "statements.csv").write_text("mine")
    with pytest.raises(UsageError, match=r"holds statements\.csv.*--force"):
        write_folder(instrument(), tmp_path)
    assert (tmp_path / "statements.csv").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["statements.csv"]


def test_force_replaces_files_of_the_same_name_and_no_other(tmp_path: Path) -> None:
    place = tmp_path / "out"
    (place / "data" / "vaa").mkdir(parents=True)
    for name in ("notes.txt", "data/vaa/xx.csv", "data/vaa/probvaa.csv"):
        (place / name).write_text("mine")
    written = write_probvaa(instrument(), place, force=True)
    assert (place / "notes.txt").read_text() == "mine"
    assert (place / "data/vaa/probvaa.csv").read_text() != "mine"
    assert set(written.left_alone) == {"notes.txt", str(Path("data/vaa/xx.csv"))}
    assert [path.name for path in tmp_path.iterdir()] == ["out"], (
        "nothing is left beside the folder"
    )


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_folder(instrument(), tmp_path / "out")
    assert read_csv(tmp_path / "out").name == "small"


def test_what_could_not_be_imported_is_not_written(tmp_path: Path) -> None:
    blank = statement("a-1")
    blank = replace(blank, wordings=(Wording(ORIGINAL, "en", "  "), *blank.wordings[1:]))
    with pytest.raises(UsageError, match=r"(?s)statements\.csv, line 2.*without an original"):
        write_folder(replace(instrument("a-1"), statements=(blank,)), tmp_path / "out")
    with pytest.raises(UsageError, match="10,000 characters"):
        write_folder(
            replace(instrument("a-1"), statements=(statement("a-1", "x" * 10_001),)),
            tmp_path / "out",
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a\x00b", "half \ud800"])
def test_texts_that_no_file_can_hold_are_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        UsageError, match=r"a-1: original \(en\) contains a NUL or half a surrogate"
    ):
        write_folder(
            replace(instrument("a-1"), statements=(statement("a-1", text),)), tmp_path / "out"
        )
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_are_answered_in_words(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for place in (file, file / "below"):
        with pytest.raises(UsageError, match=r"is a file|cannot be (written|read)"):
            write_folder(instrument(), place)
    with pytest.raises(UsageError, match=r"cannot be (written|read)"):
        write_folder(instrument(), tmp_path / ("x" * 300))
    with pytest.raises(UsageError, match="no user of that name"):
        write_folder(instrument(), Path("~nobody-of-this-name/out"))
    assert file.read_text() == "mine"


def test_the_home_folder_has_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert write_folder(instrument(), Path("~/mine"))[0] == tmp_path / "mine" / "instrument.toml"


def test_an_empty_instrument_and_an_unknown_format_are_refused() -> None:
    with pytest.raises(UsageError, match="no statement yet"):
        export("csv", Instrument("x", "x", ()))
    with pytest.raises(UnknownName, match="csv, probvaa, jsonl"):
        export("xlsx", instrument())


def test_labels_that_the_instrument_does_not_bear_are_counted(tmp_path: Path) -> None:
    stray = IssueLabel("a-1", "no_issue", "ana", 1)
    wanted = instrument()
    written = export("csv", replace(wanted, issue_labels=(*wanted.issue_labels, stray))).write(
        tmp_path / "out"
    )
    assert written.left_out == (
        "1 labels on statements, wordings, issues or parties that the instrument does not have.",
    )
    assert read_csv(tmp_path / "out").issue_labels == wanted.issue_labels


def test_the_published_layout_reads_back_and_says_what_it_lost(tmp_path: Path) -> None:
    base = rich()
    foreign = tuple(
        replace(s, country="Old Veld", tags=(AGNOSTIC, *s.tags)) for s in base.statements[1:]
    )
    wanted = replace(base, statements=(base.statements[0], *foreign))
    written = write_probvaa(wanted, tmp_path / "out")
    found = read(tmp_path / "out")
    assert [(s.ref, s.country) for s in found.statements] == [
        ("a-1", None),
        ("a-2", "Old Veld"),
        ("b-1", "Old Veld"),
    ]
    assert found.statements[0].wording(QUESTION, "en") == Wording(
        QUESTION, "en", "Should it?\r\nReally?"
    )
    assert found.statements[1].tags == (AGNOSTIC,)
    assert found.issue_labels == instrument().issue_labels
    assert found.templates == base.templates[:5]
    rows = (tmp_path / "out/data/vaa/probvaa.csv").read_text(encoding="utf-8").splitlines()
    codes = ("1000010", "0000110", "0001010", "1010010", "1020010", "1030010")
    assert [row.split(",")[0] for row in rows[-6:]] == [f"xa_2_{code}_en" for code in codes]
    mapping = (tmp_path / "out" / "mapping.csv").read_text(encoding="utf-8").splitlines()
    assert mapping[:4] == [
        "what,layout,name",
        "country,xx,",
        "country,xa,Old Veld",
        "statement,xx_1,a-1",
    ]
    assert "1 of the reformulation wordings" in written.left_out[1]
    said = " ".join(written.left_out)
    for lost in (
        "1 of the paraphrase wordings",
        "The authors of 2 wordings",
        "The expected relation of 2 wordings",
        "Tags of 2 statements",
        "dimension or leaning of 1",
        "source of 1",
        "The origins of 2 statements",
        "2 labels of single annotators",
        "3 answers of parties",
        "1 templates of the family 'mine'",
    ):
        assert lost in said, lost

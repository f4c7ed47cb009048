"""Anyone's multiple-choice questions: lettered cells, files and back, every fault with its
place.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.domain.choices import (
    Bias,
    Choice,
    ChoiceFault,
    ChoicePair,
    Perturbation,
    parse_choice,
)
from workbench.errors import Finding, InputError, UsageError
from workbench.formats.about import About
from workbench.formats.choice_instruments import write_choices
from workbench.formats.choices import ChoiceFolder, form_fault, read_choices
from workbench.formats.folder import put

HEADER = "key,bias,topic,original,changed,middle_removed,share_1,share_2,share_3\n"
ASKED = '"Is it so?\nA. Better\nB. Same\nC. Worse"'
REVERSED = '"Is it so?\nA. Worse\nB. Same\nC. Better"'
GOOD = f"q-1,response_order,work,{ASKED},{REVERSED},,.5,.25,.25\n"
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r\n"), min_size=1, max_size=12
)
OPTIONS = st.lists(WORDS.filter(str.strip), min_size=2, max_size=6, unique=True).map(tuple)
STEMS = st.lists(WORDS, min_size=1, max_size=3).map("\n".join).filter(str.strip)


def folder(
    place: Path,
    rows: str = GOOD,
    header: str = HEADER,
    perturbed: str | None = None,
    about: str = "",
) -> Path:
    place.mkdir()
    (place / "choices.csv").write_bytes((header + rows).encode())
    if perturbed is not None:
        (place / "perturbed.csv").write_bytes(perturbed.encode())
    if about:
        (place / "instrument.toml").write_text(about, encoding="utf-8")
    return place


def findings(place: Path) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        read_choices(place)
    return caught.value.findings


def fault(place: Path) -> tuple[str, int | None, str | None, str]:
    (found,) = findings(place)
    return found.file, found.line, found.column, found.found


def test_a_text_is_a_stem_and_lettered_options() -> None:
    assert parse_choice("One\nand two?\nA. Yes\nB. No") == Choice("One\nand two?", ("Yes", "No"))
    assert parse_choice("One?\r\nA. Yes \r\nB. No\r\n\r\n") == Choice("One?", ("Yes ", "No"))


def test_a_stem_of_one_line_may_look_like_an_option() -> None:
    assert parse_choice("A. Smith says so.\nA. Yes\nB. No") == Choice(
        "A. Smith says so.", ("Yes", "No")
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" \n", "an empty text"),
        ("Is it so?", "a question without lettered options"),
        ("Is it so?\nYes\nNo", "a question without lettered options"),
        ("Is it so?\na. Yes\nb. No", "a question without lettered options"),
        ("Is it so?\nA. Yes\nB. No\nor not", "'or not' as the last line"),
        ("A. Yes\nB. No", "options without a question"),
        (" \nA. Yes\nB. No", "options without a question"),
        ("Is it so?\nA. Yes\nC. No", "options with the letters A, C"),
        ("Is it so?\nB. Yes\nA. No", "options with the letters B, A"),
        ("Is it so?\nA. Yes\nA. No", "options with the letters A, A"),
        ("Is it so?\nB. Yes\nC. No", "options with the letters B, C"),
        ("Is it so?\nA. Yes", "a question with one option, 'Yes'"),
        ("Is it so?\nA. Yes\nB.", "an empty option B"),
        ("Is it so?\nA.  \nB. No", "an empty option A"),
        ("Is it so?\nA. Yes\nB. Yes", "the option 'Yes' twice"),
    ],
)
def test_a_text_that_is_no_question_is_a_fault_and_no_error(text: str, found: str) -> None:
    fault = parse_choice(text)
    assert isinstance(fault, ChoiceFault)
    assert fault.found == found


@given(STEMS, OPTIONS)
def test_a_question_that_is_read_from_its_lettered_text_is_the_same(
    stem: str, options: tuple[str, ...]
) -> None:
    choice = Choice(stem, options)
    found = parse_choice(choice.lettered())
    assert found == choice or (isinstance(found, ChoiceFault) and "letters" in found.found)


def test_a_folder_is_read(tmp_path: Path) -> None:
    odd = '"How?\nA. 1\nB. 2\nC. 3\nD. 4\nE. 5","How?\nA. 1\nB. 2\nC. 4\nD. 5"'
    perturbed = (
        'key,bias,perturbation,draw,text\nq-1,response_order,key_typo,2,"Is ot so?\nA. '
        'Better\nB. Same\nC. Worse"\n'
    )
    rows = f"{GOOD}q-1,odd_even,,{odd},Yes,,,\nq-3,Opinion_Float,,{ASKED},,,,,\n"
    read = read_choices(
        folder(tmp_path / "mine", rows, perturbed=perturbed, about='title = "Mine"\n')
    )
    options = ("Better", "Same", "Worse")
    asked = Choice("Is it so?", options)
    typo = {(Perturbation.KEY_TYPO, 2): Choice("Is ot so?", options)}
    changed = Choice("Is it so?", options[::-1])
    assert (read.about.name, read.about.title) == ("mine", "Mine")
    assert read.pairs == (
        ChoicePair(
            "q-1", Bias.RESPONSE_ORDER, asked, changed, "work", typo, None, (0.5, 0.25, 0.25)
        ),
        ChoicePair(
            "q-1",
            Bias.ODD_EVEN,
            Choice("How?", tuple("12345")),
            Choice("How?", tuple("1245")),
            middle_removed=True,
        ),
        ChoicePair("q-3", Bias.OPINION_FLOAT, asked, None),
    )


def test_one_file_is_read(tmp_path: Path) -> None:
    place = folder(tmp_path / "q")
    assert read_choices(place / "choices.csv").pairs == read_choices(place).pairs
    assert read_choices(place / "choices.csv").about.name == "choices"


@pytest.mark.parametrize(
    ("given", "shares"), [("50,25,25", (0.5, 0.25, 0.25)), ("33,33,33", (1 / 3,) * 3), (",,", ())]
)
def test_shares_in_percent_and_rounded_ones_become_parts_of_one(
    tmp_path: Path, given: str, shares: tuple[float, ...]
) -> None:
    read = read_choices(folder(tmp_path / "q", GOOD.replace(".5,.25,.25", given)))
    assert read.pairs[0].shares == pytest.approx(shares)


@pytest.mark.parametrize(
    ("rows", "line", "column", "found"),
    [
        (GOOD.replace(".5,.25", ".5,.35"), 2, "share_1", "shares that add up to 1.1"),
        (GOOD.replace(".5,.25,.25", "50,30,25"), 2, "share_1", "shares that add up to 105"),
        (
            GOOD.replace(".5,.25,.25", ".5,.5,"),
            2,
            "share_2",
            "2 shares (share_1, share_2) of 3 options",
        ),
        (GOOD.replace(".5,.25", "-1,.25"), 2, "share_1", "'-1'"),
        (GOOD.replace(".5,.25", "half,.25"), 2, "share_1", "'half'"),
        (GOOD + GOOD, 9, "key", "question 'q-1' of response_order again, after line 2"),
        (GOOD.replace("response_order", "order"), 2, "bias", "an unknown bias 'order'"),
        (GOOD.replace("q-1", ""), 2, "key", "an empty cell"),
        (GOOD.replace(ASKED, ""), 2, "original", "an empty cell"),
        (
            GOOD.replace("\nC. Better", "\nD. Better"),
            2,
            "changed",
            "options with the letters A, B, D",
        ),
        (GOOD.replace(REVERSED, ASKED), 2, "changed", "the options Better / Same / Worse"),
        (GOOD.replace(",,.5", ",yes,.5"), 2, "middle_removed", "'yes'"),
        (GOOD.replace(",,.5", ",perhaps,.5"), 2, "middle_removed", "'perhaps'"),
        (GOOD.replace(",.25\n", "\n"), 2, None, "8 fields"),
        ("", 1, None, "no question"),
        (f"q,allow_forbid,,{ASKED},,,,,\n", 2, "original", "3 options"),
        ('q,odd_even,,"How?\nA. 1\nB. 2",,,,,\n', 2, "original", "2 options"),
        (f'q,acquiescence,,{ASKED},"So?\nA. 1\nB. 2\nC. 3",,,,\n', 2, "changed", "3 options"),
        (
            GOOD.replace(REVERSED, REVERSED.replace("Is it", "Was it")),
            2,
            "changed",
            "another question than the original's",
        ),
    ],
)
def test_a_fault_of_a_row_is_reported_with_its_place(
    tmp_path: Path, rows: str, line: int, column: str | None, found: str
) -> None:
    assert fault(folder(tmp_path / "q", rows)) == ("choices.csv", line, column, found)


def test_faults_are_told_in_the_order_of_lines(tmp_path: Path) -> None:
    rows = GOOD.replace("response_order", "order") + GOOD.replace("q-1", "")
    with pytest.raises(InputError) as error:
        read_choices(folder(tmp_path / "q", rows))
    assert [(one.line, one.column) for one in error.value.findings] == [(2, "bias"), (9, "key")]


PERTURBED = "key,bias,perturbation,draw,text\n"
TYPO = f"q-1,response_order,key_typo,1,{ASKED}\n"


@pytest.mark.parametrize(
    ("rows", "line", "column", "found"),
    [
        (TYPO.replace("q-1", "q-2"), 2, "key", "no question 'q-2' of 'response_order'"),
        (TYPO.replace("key_typo", "typo"), 2, "perturbation", "an unknown perturbation 'typo'"),
        (TYPO.replace(",1,", ",0,"), 2, "draw", "'0'"),
        (TYPO.replace("\nC. Worse", ""), 2, "text", "2 options"),
        (
            TYPO + TYPO,
            6,
            "draw",
            "key_typo, draw 1, of question 'q-1' of response_order again, after line 2",
        ),
    ],
)
def test_a_fault_of_an_error_of_typing_is_reported_with_its_place(
    tmp_path: Path, rows: str, line: int, column: str, found: str
) -> None:
    assert fault(folder(tmp_path / "q", perturbed=PERTURBED + rows)) == (
        "perturbed.csv",
        line,
        column,
        found,
    )


def test_an_unknown_share_column_is_named(tmp_path: Path) -> None:
    said = findings(folder(tmp_path / "q", header=HEADER.replace("share_3", "share_x")))
    assert ("share_x", "an unknown column") in [(one.column, one.found) for one in said]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not found"):
        read_choices(tmp_path / "none")
    with pytest.raises(UsageError, match=r"looked for choices\.csv"):
        read_choices(tmp_path)


@pytest.mark.parametrize("content", [HEADER.encode("utf-16"), b"key,bias\x00,original\n", b""])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "choices.csv").write_bytes(content)
    assert findings(tmp_path)


NAMES = WORDS.map(str.strip).filter(bool)


@st.composite
def pairs(draw: st.DrawFn) -> ChoicePair:
    """Draw a question with the changed form that its bias asks for, with typos and shares."""
    bias = draw(st.sampled_from(Bias))
    n = {Bias.ALLOW_FORBID: 2, Bias.ODD_EVEN: 5}.get(bias)
    texts = st.lists(WORDS.filter(str.strip), min_size=n or 2, max_size=n or 5, unique=True).map(
        tuple
    )
    original = Choice(draw(STEMS), draw(texts))
    options = original.options
    changed = {
        Bias.RESPONSE_ORDER: options[::-1],
        Bias.OPINION_FLOAT: (*options, "no opinion at all"),
        Bias.ODD_EVEN: (*options[:2], *options[3:]),
    }.get(bias, ("Yes", "No"))
    weights = draw(
        st.none() | st.lists(st.integers(1, 99), min_size=len(options), max_size=len(options))
    )
    shares = tuple(weight / sum(weights) for weight in weights) if weights else ()
    at = st.tuples(st.sampled_from(Perturbation), st.integers(1, 30))
    return ChoicePair(
        key=draw(NAMES),
        bias=bias,
        original=original,
        changed=draw(st.sampled_from((None, Choice(original.stem, changed)))),
        topic=draw(st.none() | NAMES),
        perturbed=draw(st.dictionaries(at, st.builds(Choice, STEMS, st.just(options)), max_size=3)),
        middle_removed=draw(st.sampled_from((None, True, False)))
        if bias is Bias.ODD_EVEN
        else None,
        shares=shares,
        variant=draw(st.just("") | NAMES),
    )


def readable(pair: ChoicePair) -> bool:
    forms = (pair.original, *([pair.changed] if pair.changed else []), *pair.perturbed.values())
    return all(parse_choice(form.lettered()) == form for form in forms)


@pytest.mark.e2e
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        pairs().filter(readable),
        min_size=1,
        max_size=4,
        unique_by=lambda p: (p.bias, p.variant, p.key),
    )
)
def test_questions_that_are_written_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[ChoicePair]
) -> None:
    about = About(
        name="mine", title='A "title"', templates=("response_bias",), notes=("one", "=two")
    )
    place = tmp_path_factory.mktemp("written") / "q"
    put(write_choices(drawn, about), place)
    assert read_choices(place) == ChoiceFolder(about, tuple(drawn))


def test_no_cell_that_is_written_runs_in_a_spreadsheet() -> None:
    pair = ChoicePair("=key", Bias.OPINION_FLOAT, Choice("@stem", ("1", "2")), None, "+topic")
    assert (
        write_choices([pair], About(name="q"))["choices.csv"].split("\n")[1]
        == "'=key,opinion_float,'+topic,\"'@stem"
    )


YES_NO = Choice("Is it so?", ("Yes", "No"))


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (ChoicePair(" q", Bias.ACQUIESCENCE, YES_NO, None), "has outer spaces"),
        (
            ChoicePair("q", Bias.ACQUIESCENCE, Choice("So?", ("Yes\nyes", "No")), None),
            "options with the letters B",
        ),
        (
            ChoicePair("q", Bias.ACQUIESCENCE, Choice("So?\nC. no", ("Yes", "No")), None),
            "options with the letters C, A, B",
        ),
        (
            ChoicePair("q", Bias.ACQUIESCENCE, Choice("So?\r\nSo?", ("Yes", "No")), None),
            "read back as another question",
        ),
        (ChoicePair("q", Bias.ACQUIESCENCE, YES_NO, None, shares=(0.5, 0.4)), "add up to 0.9"),
        (ChoicePair("q", Bias.RESPONSE_ORDER, YES_NO, YES_NO), "from last to first"),
        (ChoicePair("q", Bias.ACQUIESCENCE, Choice("\x00", ("Yes", "No")), None), "a NUL"),
    ],
)
def test_what_would_not_read_back_is_not_written(pair: ChoicePair, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        write_choices([pair], About(name="q"))


def test_two_questions_of_one_key_are_not_written() -> None:
    pair = ChoicePair("q", Bias.ACQUIESCENCE, YES_NO, None)
    with pytest.raises(UsageError, match="two questions have this key"):
        write_choices([pair, pair], About(name="q"))


def test_the_middle_option_and_no_other_is_removed() -> None:
    five, four = Choice("How?", tuple("12345")), Choice("How?", tuple("1345"))
    fault = form_fault(ChoicePair("q", Bias.ODD_EVEN, five, four))
    assert fault is not None
    assert fault.expected == "the original's without the middle one: 1 / 2 / 4 / 5"

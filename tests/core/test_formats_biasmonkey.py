"""A download in the layout of BiasMonkey's authors: what is read, and what is wrong with its
place.
"""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from workbench.domain.choices import AnswerSet, Bias, Perturbation
from workbench.errors import Finding, InputError, UsageError
from workbench.formats.biasmonkey import BiasmonkeyDownload, read_biasmonkey

THINGS = (
    "apples",
    "buses",
    "cats",
    "dams",
    "eagles",
    "ferries",
    "gardens",
    "harbours",
    "islands",
    "jackets",
)
KEYS = tuple(f"{thing.upper()}_W1" for thing in THINGS)
Cells = list[list[str]]


def text(thing: str, options: str = "yes no", seen: str = "seen") -> str:
    lines = (f"{'ABCDEF'[n]}. {option}" for n, option in enumerate(options.split()))
    return "\n".join([f"Were {thing} or any {thing} house {seen} at {thing} town?", *lines])


def prompts() -> Cells:
    """Return acquiescence prompts: ten questions of two options, the fifth of three."""
    rows = [["key", "num options", "orig alpha", "pos alpha"]]
    for n, (key, thing) in enumerate(zip(KEYS, THINGS, strict=True)):
        options = "yes no perhaps" if n == 4 else "yes no"
        rows.append(
            [key, str(len(options.split())), text(thing, options), text(thing, seen="surely seen")]
        )
    return rows


def answers(
    groups: tuple[str, str] = ("orig alpha", "pos alpha"), options: int = 2, samples: int = 50
) -> Cells:
    """Return answers, mixed, of which the forms of a question differ: 49 to 1 in one, 3 to 47 in
    the other.
    """
    rows = [["key", "response", "group", "num_options"]]
    for n, key in enumerate(KEYS):
        for group, times in zip(groups, (49, 3), strict=True):
            said = str(3 if n == 4 and options == 2 else options)
            rows += [[key, "a" if i * 7 % 50 < times else "b", group, said] for i in range(samples)]
    return rows


def csv(rows: Cells) -> bytes:
    return "".join(
        ",".join(f'"{c}"' if "\n" in c else c for c in row) + "\n" for row in rows
    ).encode()


def packed(cats: bytes = b"CATS") -> bytes:
    """Return compressed answers, one key written otherwise; `mtime` is set, or each process packs
    other bytes.
    """
    return gzip.compress(csv(answers()).replace(b"CATS", cats), mtime=0)


def typo(rows: Cells) -> Cells:
    """Return the prompts of typos, with the index that pandas writes."""
    changed = [[*row[:3], row[2].replace("town", "twon")] for row in rows[1:]]
    return [["", *rows[0]], *([str(n), *row] for n, row in enumerate(changed))]


def download(place: Path, files: dict[str, bytes] | None = None) -> Path:
    whole = {
        "prompts/acquiescence.csv": csv(prompts()),
        "prompts/acquiescence-key_typo.csv": csv(typo(prompts())),
        "results/m/acquiescence.csv": csv(answers()),
        "results/m/acquiescence-key_typo.csv.gz": packed(),
    }
    for name, content in (whole | (files or {})).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def findings(place: Path) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        read_biasmonkey(place)
    return caught.value.findings


def of_answers(place: Path, content: bytes, name: str = "acquiescence.csv") -> tuple[Finding, ...]:
    """Return the findings where a file of answers has another content; all are about this file."""
    found = findings(download(place, {f"results/m/{name}": content}))
    assert {finding.file for finding in found} == {f"m/{name}"}
    return found


def warned(place: Path, content: bytes, name: str = "acquiescence.csv") -> tuple[str, ...]:
    """Return the warnings of a file of answers with another content: it is read, and says them in
    the notes, too.
    """
    read = read_biasmonkey(download(place, {f"results/m/{name}": content}))
    one = next(one for one in read.answers if one.condition is None)
    assert [note for note in read.notes if note.startswith("Warning")] == [
        f"Warning: {said}." for said in one.warnings
    ]
    assert all(said.startswith(f"m/{name}") for said in one.warnings)
    return one.warnings


def only(read: BiasmonkeyDownload) -> AnswerSet:
    (found,) = read.answers
    return found


def counted(found: AnswerSet, n: int) -> tuple[dict[str, int], dict[str, int]]:
    return dict(found.pairs[n].original.counts), dict(found.pairs[n].changed.counts)


def test_a_download_is_read_plain_and_compressed(tmp_path: Path) -> None:
    read = read_biasmonkey(download(tmp_path / "d"))
    assert [(one.model, one.bias, one.condition) for one in read.answers] == [
        ("m", Bias.ACQUIESCENCE, None),
        ("m", Bias.ACQUIESCENCE, Perturbation.KEY_TYPO),
    ]
    assert (
        [pair.key for pair in read.answers[0].pairs]
        == list(KEYS)
        == [pair.key for pair in read.pairs]
    )
    assert counted(read.answers[0], 0) == ({"a": 49, "b": 1}, {"a": 3, "b": 47})
    assert read.pairs[0].original.options == ("yes", "no")
    assert read.pairs[0].perturbed[Perturbation.KEY_TYPO, 1].stem.endswith("at apples twon?")


def test_options_really_offered_stand_beside_those_that_are_recorded(tmp_path: Path) -> None:
    bias, typos = read_biasmonkey(download(tmp_path / "d")).answers
    assert [(p.changed.recorded, p.changed.offered) for p in bias.pairs[3:5]] == [(2, 2), (3, 2)]
    assert [(p.changed.recorded, p.changed.offered) for p in typos.pairs[3:5]] == [(2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("stem", "groups", "recorded", "offered"),
    [
        ("odd_even", ("middle alpha", "no middle alpha"), 5, 4),
        ("odd_even-letter_swap", ("middle alpha", "no middle alpha"), 5, 5),
        ("opinion_float", ("orig alpha", "float alpha"), 5, 6),
        ("response_order", ("orig alpha", "reversed alpha"), 3, 3),
        ("acquiescence", ("orig alpha", "pos alpha"), 3, 2),
    ],
)
def test_a_file_alone_offers_what_its_bias_offers(
    tmp_path: Path, stem: str, groups: tuple[str, str], recorded: int, offered: int
) -> None:
    path = tmp_path / "model-x" / f"{stem}.csv"
    path.parent.mkdir()
    path.write_bytes(csv(answers(groups, recorded)))
    found = only(read_biasmonkey(path))
    assert found.model == "model-x"
    assert {(p.original.offered, p.changed.recorded, p.changed.offered) for p in found.pairs} == {
        (recorded, recorded, offered)
    }


@pytest.mark.parametrize(
    "part",
    ["prompts", "results", "results/m", "results/m/acquiescence.csv", "prompts/acquiescence.csv"],
)
def test_a_part_of_a_download_is_what_it_is_in_the_whole(tmp_path: Path, part: str) -> None:
    whole = read_biasmonkey(download(tmp_path / "d"))
    read = read_biasmonkey(tmp_path / "d" / part)
    asked, answered = part.startswith("prompts"), part.startswith("results")
    one = part.endswith(".csv")
    assert [pair.original for pair in read.pairs] == [
        pair.original for pair in whole.pairs if asked
    ]
    assert read.answers == (whole.answers[: 1 if one else 2] if answered else ())


def test_errors_of_typing_alone_have_no_changed_form(tmp_path: Path) -> None:
    path = download(tmp_path / "d") / "prompts" / "acquiescence-key_typo.csv"
    read = read_biasmonkey(path)
    assert {pair.changed for pair in read.pairs} == {None}
    assert all(pair.perturbed for pair in read.pairs)


def test_the_reworded_set_is_a_variant(tmp_path: Path) -> None:
    files = {
        "results/m/acquiescence_reword.csv": csv(answers()),
        "prompts/acquiescence_reword.csv": csv(prompts()),
    }
    read = read_biasmonkey(download(tmp_path / "d", files))
    assert [one.variant for one in read.answers] == ["", "", "reword"]
    assert {pair.variant for pair in read.pairs} == {"", "reword"}
    assert any("variant 'reword'" in note for note in read.notes)


def test_blanks_are_counted_and_said(tmp_path: Path) -> None:
    rows = answers()
    rows[1][1] = rows[60][1] = ""
    read = read_biasmonkey(download(tmp_path / "d", {"results/m/acquiescence.csv": csv(rows)}))
    assert [arm[""] for arm in counted(read.answers[0], 0)] == [1, 1]
    assert any(
        "2 answers to 1 question are without a letter: APPLES_W1" in note for note in read.notes
    )


def test_letters_that_nobody_offered_are_kept_and_said(tmp_path: Path) -> None:
    rows = answers()
    rows[1][1] = rows[2][1] = "d"
    read = read_biasmonkey(download(tmp_path / "d", {"results/m/acquiescence.csv": csv(rows)}))
    assert counted(read.answers[0], 0)[0] == {"d": 2, "a": 47, "b": 1}
    (note,) = [note for note in read.notes if "neither offered nor recorded" in note]
    assert note.startswith("m, acquiescence: 2 answers to 1 question are letters")
    assert note.endswith("been mixed in: APPLES_W1.")


def test_questions_with_other_numbers_of_answers_are_said(tmp_path: Path) -> None:
    rows = answers()
    del rows[100], rows[1]
    read = read_biasmonkey(download(tmp_path / "d", {"results/m/acquiescence.csv": csv(rows)}))
    assert (
        "m, acquiescence: 1 question has 49 answers to a form and not 50: APPLES_W1." in read.notes
    )


def test_unequal_numbers_of_answers_to_the_two_forms_are_warned_of_and_read(tmp_path: Path) -> None:
    rows = answers()
    del rows[-1]
    (said,) = warned(tmp_path / "d", csv(rows))
    assert said.startswith(
        "m/acquiescence.csv, line 902, column 'group': found 50 rows of 'orig alpha' and 49 rows of"
    )
    last = read_biasmonkey(tmp_path / "d").answers[0].pairs[-1]
    assert (last.key, sum(last.original.counts.values()), sum(last.changed.counts.values())) == (
        "JACKETS_W1",
        50,
        49,
    )


def test_a_question_with_answers_to_one_form_is_left_out_with_a_warning(tmp_path: Path) -> None:
    (said,) = warned(tmp_path / "d", csv(answers()[:-50]))
    assert (
        "found 50 rows of 'orig alpha' and 0 rows of 'pos alpha' for 'JACKETS_W1'; expected "
        "answers to both" in said
    )
    assert [pair.key for pair in read_biasmonkey(tmp_path / "d").answers[0].pairs] == list(
        KEYS[:-1]
    )


def test_a_file_with_answers_to_one_form_alone_is_left_out_and_named(tmp_path: Path) -> None:
    rows = answers()
    steered = [rows[0], *(row for row in rows[1:] if row[2] == "pos alpha")]
    read = read_biasmonkey(
        download(tmp_path / "d", {"results/steered/acquiescence.csv": csv(steered)})
    )
    assert {one.model for one in read.answers} == {"m"}
    assert "Left out, no question has answers to both forms: steered/acquiescence." in read.notes


def column(rows: Cells, place: int, by: int) -> Cells:
    """Return rows of which one column is shifted down; what goes over the end comes back at the
    top.
    """
    cells = [row[place] for row in rows[1:]]
    moved = cells[-by:] + cells[:-by]
    return [
        rows[0],
        *(
            [*row[:place], cell, *row[place + 1 :]]
            for row, cell in zip(rows[1:], moved, strict=True)
        ),
    ]


@pytest.mark.parametrize("by", [1, 7, -3])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        (0, "the column of keys or of groups may be shifted"),
        (1, "the column of answers may be shifted"),
        (2, "the column of keys or of groups may be shifted"),
    ],
)
def test_a_column_of_answers_that_looks_shifted_is_warned_of_and_read(
    tmp_path: Path, place: int, said: str, by: int
) -> None:
    rows = [[*row[:3], row[3].replace("3", "2")] for row in answers()]
    found = warned(tmp_path / "d", csv(column(rows, place, by)))
    assert any(said in warning for warning in found)


@pytest.mark.parametrize("by", [1, 7, -3])
def test_a_shifted_column_of_numbers_of_options_contradicts_itself_and_stops(
    tmp_path: Path, by: int
) -> None:
    found = of_answers(tmp_path / "d", csv(column(answers(), 3, by)))
    assert all("one number per form" in finding.expected for finding in found)


def test_answers_that_may_have_slipped_are_warned_of_with_the_evidence(tmp_path: Path) -> None:
    (found,) = warned(tmp_path / "d", csv(column(answers(), 1, 3)))
    assert re.fullmatch(
        r"m/acquiescence.csv, column 'response': found answers that fit their questions better 3 "
        r"rows up "
        r"\(log-likelihood -[0-9.,]+, and -[0-9.,]+ where they stand\); expected a difference of "
        r"at most 20 by chance: "
        r"the column of answers may be shifted",
        found,
    )


def test_a_question_that_comes_twice_is_warned_of_and_all_its_answers_count(tmp_path: Path) -> None:
    rows = answers()
    found = warned(tmp_path / "d", csv(rows + rows[101:201]))
    assert any(
        "line 1002, column 'key': found 'BUSES_W1' again, after line 102" in said for said in found
    )
    assert counted(read_biasmonkey(tmp_path / "d").answers[0], 1) == (
        {"a": 98, "b": 2},
        {"a": 6, "b": 94},
    )


def test_a_file_in_another_order_is_read_with_the_same_counts(tmp_path: Path) -> None:
    rows = answers()
    mixed = rows[1:]
    Random(1).shuffle(mixed)
    assert warned(tmp_path / "d", csv([rows[0], *mixed]))
    usual = read_biasmonkey(download(tmp_path / "e")).answers[0].pairs
    again = read_biasmonkey(tmp_path / "d").answers[0].pairs
    assert sorted(again, key=lambda pair: pair.key) == list(usual)


def test_several_samplings_may_stand_in_one_file(tmp_path: Path) -> None:
    half = answers(samples=25)
    place = download(tmp_path / "d", {"results/m/acquiescence.csv": csv(half + half[1:])})
    assert sum(read_biasmonkey(place).answers[0].pairs[0].original.counts.values()) == 50


def test_an_unknown_key_is_warned_of_once_with_a_near_one(tmp_path: Path) -> None:
    content = csv(answers()).replace(b"CATS_W1", b"CATS_W11")
    (found,) = warned(tmp_path / "d", content)
    assert found.startswith(
        "m/acquiescence.csv, line 202, column 'key': found an unknown key 'CATS_W11'"
    )
    assert "did you mean 'CATS_W1'?" in found


def test_recorded_options_that_are_not_those_of_the_prompts_are_warned_of(tmp_path: Path) -> None:
    rows = [[*row[:3], "3" if row[0] == KEYS[2] else row[3]] for row in answers()]
    (found,) = warned(tmp_path / "d", csv(rows))
    assert (
        "line 202, column 'num_options': found 3 options for 'CATS_W1', 'orig alpha', and the "
        "like for 1" in found
    )


def test_only_the_file_at_fault_is_named_and_skip_goes_on_without_it(tmp_path: Path) -> None:
    place = download(tmp_path / "d", {"results/n/acquiescence.csv": csv(column(answers(), 3, 1))})
    with pytest.raises(InputError, match="With --skip the other files are imported") as caught:
        read_biasmonkey(place)
    assert {finding.file for finding in caught.value.findings} == {"n/acquiescence.csv"}
    read = read_biasmonkey(place, skip=True)
    assert {one.model for one in read.answers} == {"m"}
    assert any(note.startswith("Skipped n/acquiescence.csv, line ") for note in read.notes)


def test_skipping_every_file_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "d" / "results" / "m" / "acquiescence.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"key\n")
    with pytest.raises(InputError):
        read_biasmonkey(tmp_path / "d", skip=True)


def test_a_prompt_file_at_fault_leaves_no_question_of_it(tmp_path: Path) -> None:
    rows = prompts()
    rows[3][1] = "4"
    read = read_biasmonkey(
        download(tmp_path / "d", {"prompts/acquiescence.csv": csv(rows)}), skip=True
    )
    assert {pair.changed for pair in read.pairs} == {None}, "what is left is known from the typos"
    assert any(note.startswith("Skipped prompts/acquiescence.csv") for note in read.notes)


@pytest.mark.parametrize("folder", ["m/csv", "csv/m", "org/m/csv", "org/m", "m"])
def test_answers_lie_in_the_authors_folder_csv_or_beside_it(tmp_path: Path, folder: str) -> None:
    place = download(tmp_path / "d")
    shutil.rmtree(place / "results")
    (place / "results" / folder).mkdir(parents=True)
    (place / "results" / folder / "acquiescence.csv").write_bytes(csv(answers()))
    (place / "results" / "m").mkdir(exist_ok=True)
    (place / "results" / "m" / "acquiescence.pickle").write_bytes(b"never opened")
    usual = only(read_biasmonkey(place))
    assert (usual.model, len(usual.pairs)) == ("m", 10)
    for part in (
        place / "results",
        place / "results" / folder,
        place / "results" / folder / "acquiescence.csv",
    ):
        assert only(read_biasmonkey(part)) == usual


def test_results_without_answers_say_what_was_looked_for(tmp_path: Path) -> None:
    place = download(tmp_path / "d")
    shutil.rmtree(place / "results")
    (place / "results" / "m").mkdir(parents=True)
    (place / "results" / "m" / "acquiescence.pickle").write_bytes(b"never opened")
    (said,) = [
        note
        for note in read_biasmonkey(place).notes
        if note.startswith("No answers were found in results")
    ]
    assert "1 other file: 1 .pickle" in said
    assert "looked for results/MODEL/BIAS.csv and results/MODEL/csv/BIAS.csv" in said
    with pytest.raises(UsageError, match=r"looked for .*results/MODEL/csv/BIAS.csv"):
        read_biasmonkey(place / "results")


def edited(line: int, cells: list[str]) -> Callable[[Cells], Cells]:
    return lambda rows: [*rows[:line], cells, *rows[line + 1 :]]


@pytest.mark.parametrize(
    ("edit", "line", "column", "found"),
    [
        (edited(5, ["", "a", "orig alpha", "2"]), 6, "key", "an empty cell"),
        (edited(5, [KEYS[0], "A", "orig alpha", "2"]), 6, "response", "'A'"),
        (edited(5, [KEYS[0], "ab", "orig alpha", "2"]), 6, "response", "'ab'"),
        (edited(5, [KEYS[0], "a", "orig", "2"]), 6, "group", "'orig'"),
        (edited(5, [KEYS[0], "a", "float alpha", "2"]), 6, "group", "'float alpha'"),
        (edited(5, [KEYS[0], "a", "", "2"]), 6, "group", "an empty cell"),
        (edited(5, [KEYS[0], "a", "orig alpha", "1"]), 6, "num_options", "'1'"),
        (edited(5, [KEYS[0], "a", "orig alpha", "2.5"]), 6, "num_options", "'2.5'"),
        (edited(5, [KEYS[0], "a", "orig alpha", ""]), 6, "num_options", "an empty cell"),
        (
            edited(5, [KEYS[0], "a", "orig alpha", "3"]),
            6,
            "num_options",
            "3 options for 'APPLES_W1', 'orig alpha', and 2 before",
        ),
        (edited(5, [KEYS[0], "a", "orig alpha"]), 6, None, "3 fields"),
        (edited(0, ["key", "response", "arm", "num_options"]), 1, "group", "no such column"),
        (lambda rows: rows[:1], 1, None, "no answers"),
        (lambda rows: [], 1, None, "an empty file"),
    ],
)
def test_a_fault_of_a_row_of_answers_is_reported_with_its_place(
    tmp_path: Path, edit: Callable[[Cells], Cells], line: int, column: str | None, found: str
) -> None:
    first = of_answers(tmp_path / "d", csv(edit(answers())))[0]
    assert (first.line, first.column, first.found) == (line, column, found)


def test_a_wrong_group_name_is_reported_once(tmp_path: Path) -> None:
    content = csv(answers()).replace(b"pos alpha", b"positive")
    assert [one.found for one in of_answers(tmp_path / "d", content)] == ["'positive'"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param(csv(answers()), "not gzip", id="not compressed"),
        pytest.param(packed()[:-20], "not gzip", id="cut off"),
        pytest.param(packed()[:40] + b"xxxx" + packed()[44:], "not gzip", id="damaged"),
        pytest.param(packed(b"C\xe4TS"), "0xE4", id="Latin-1"),
        pytest.param(packed(b"C\x00TS"), "a NUL byte", id="NUL"),
    ],
)
def test_content_that_is_no_compressed_text_is_refused(
    tmp_path: Path, content: bytes, found: str
) -> None:
    (said,) = of_answers(tmp_path / "d", content, "acquiescence-key_typo.csv.gz")
    assert found in said.found


@pytest.mark.parametrize(
    "change",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.replace(b"APPLES_W1,a", b'"APPLES_W1",a'),
        lambda content: content.replace(b"\n", b"\n\n"),
        lambda content: content.replace(b",2\n", b",2.0\n"),
        lambda content: content.rstrip(b"\n"),
    ],
)
def test_other_ways_to_write_the_same_table_are_read_the_same(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    usual = read_biasmonkey(download(tmp_path / "d"))
    again = read_biasmonkey(
        download(tmp_path / "e", {"results/m/acquiescence.csv": change(csv(answers()))})
    )
    assert again.answers == usual.answers


def of_prompts(place: Path, rows: Cells, name: str = "acquiescence") -> tuple[Finding, ...]:
    for left in (place / "d" / "results", place / "d" / "prompts"):
        left.mkdir(parents=True, exist_ok=True)
    return findings(download(place / "d", {f"prompts/{name}.csv": csv(rows)}))


@pytest.mark.parametrize(
    ("cell", "column", "found"),
    [
        ("Is it so?\nA. yes\nC. no", "orig alpha", "options with the letters A, C"),
        ("Is it so?\nyes\nno", "orig alpha", "a question without lettered options"),
        ("Is it so?\nA. yes", "orig alpha", "a question with one option, 'yes'"),
        ("", "orig alpha", "an empty cell"),
    ],
)
def test_a_prompt_that_is_no_question_is_found(
    tmp_path: Path, cell: str, column: str, found: str
) -> None:
    rows = prompts()
    rows[3][2] = cell
    first = of_prompts(tmp_path, rows)[0]
    assert (first.file, first.line, first.column, first.found) == (
        "prompts/acquiescence.csv",
        12,
        column,
        found,
    )


def test_duplicated_keys_of_prompts_are_found(tmp_path: Path) -> None:
    rows = prompts()
    rows[3][0] = rows[1][0]
    assert any(one.found == "'APPLES_W1' again, after line 2" for one in of_prompts(tmp_path, rows))


def test_a_number_of_options_that_is_not_that_of_the_text_is_found(tmp_path: Path) -> None:
    rows = prompts()
    rows[3][1] = "4"
    assert [(one.column, one.found) for one in of_prompts(tmp_path, rows)] == [
        ("num options", "'4'")
    ]


@pytest.mark.parametrize("place", [2, 3])
def test_a_column_of_prompts_that_looks_shifted_is_warned_of_with_the_evidence(
    tmp_path: Path, place: int
) -> None:
    rows = prompts()[:5] + prompts()[6:]
    read = read_biasmonkey(
        download(tmp_path / "d", {"prompts/acquiescence.csv": csv(column(rows, place, 1))}),
        skip=True,
    )
    (said,) = {warning for pair in read.pairs for warning in pair.warnings}
    assert said.startswith(
        "prompts/acquiescence.csv, line 2, column 'pos alpha': found texts that fit the questions 1"
    )
    assert "% of the words shared, and" in said
    assert f"Warning: {said}." in read.notes


def test_two_originals_of_one_key_contradict_each_other(tmp_path: Path) -> None:
    found = of_prompts(tmp_path, column(prompts(), 0, 1))
    assert any("one original per key" in one.expected for one in found)


def test_originals_of_two_biases_may_differ_with_a_warning(tmp_path: Path) -> None:
    rows = prompts()
    rows[1][2] = text("apples", seen="noticed")
    read = read_biasmonkey(download(tmp_path / "d", {"prompts/acquiescence_reword.csv": csv(rows)}))
    (said,) = {warning for pair in read.pairs for warning in pair.warnings}
    assert "found another text for 'APPLES_W1' than in acquiescence.csv, line 2" in said


def test_a_shifted_column_of_errors_of_typing_is_found(tmp_path: Path) -> None:
    found = of_prompts(tmp_path, column(typo(prompts()), 4, 1), "acquiescence-key_typo")
    assert any(one.found == "the options yes / no / perhaps" for one in found), (
        "the fifth has three options"
    )
    assert any("row above them" in one.found or "row below them" in one.found for one in found)


def test_files_of_something_else_are_said_and_left(tmp_path: Path) -> None:
    read = read_biasmonkey(
        download(
            tmp_path / "d", {"prompts/topics.csv": b"x\n", "results/m/odd_even_reword.csv": b"x\n"}
        )
    )
    assert (
        read.notes[0]
        == "Left out, no bias of this name: prompts/topics.csv, results/m/odd_even_reword.csv."
    )


def test_answers_to_questions_without_prompts_stand_in_no_other_order_than_these(
    tmp_path: Path,
) -> None:
    told = csv(answers(("orig alpha", "reversed alpha"), 3))
    read = read_biasmonkey(download(tmp_path / "d", {"results/m/response_order.csv": told}))
    assert len(read.answers) == 3
    assert not [note for note in read.notes if "another order" in note]


def test_a_file_that_is_there_plain_and_compressed_is_refused(tmp_path: Path) -> None:
    place = download(tmp_path / "d", {"results/m/acquiescence.csv.gz": packed()})
    with pytest.raises(UsageError, match="are two files of acquiescence"):
        read_biasmonkey(place)


def test_a_folder_without_a_download_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no BiasMonkey files"):
        read_biasmonkey(tmp_path)
    with pytest.raises(UsageError, match="not found"):
        read_biasmonkey(tmp_path / "none")


def test_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    files = {
        "prompts/acquiescence.csv": b"key\n",
        "results/m/acquiescence.csv": b"key\n",
        "results/n/acquiescence.csv": b"",
    }
    found = {finding.file for finding in findings(download(tmp_path / "d", files))}
    assert {"prompts/acquiescence.csv", "m/acquiescence.csv", "n/acquiescence.csv"} <= found

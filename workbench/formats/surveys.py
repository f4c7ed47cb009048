"""A survey as an instrument: questions with their answers in words, and the people who gave them.

A statistics file says itself what its questions are, what its codes mean and which of them are no
answer. Nothing is recoded: an answer is the label of its code, in the order of the codes. A table
of texts has answers without an order, unless they are words of a shipped scale or numbers.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from workbench.data import (
    PUBLISHED_LANGUAGE,
    QUESTIONNAIRE_AUDITS,
    shipped_scale,
    shipped_scales,
    templates_of,
)
from workbench.domain.instruments import Instrument
from workbench.domain.names import listed, plural
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import (
    Form,
    Meaning,
    Option,
    Question,
    Questionnaire,
    Respondent,
    Role,
    Scale,
    folded,
    named_few,
)
from workbench.domain.statements import ORIGINAL, Statement, Wording, text_fault
from workbench.errors import UsageError
from workbench.formats.answers import whole_records
from workbench.formats.populations import (
    NOBODY,
    NOTHING,
    Who,
    groups_of,
    note_all,
    number_in,
    weights_of,
    who_of,
    with_who,
)
from workbench.formats.records import (
    AS_IS,
    LEFT_OUT,
    Findings,
    How,
    Kind,
    Variable,
    kind_of,
    labelled,
)
from workbench.formats.tabular import nearest

FEWEST, MOST, MOST_LETTERED = 2, 12, 26
"""answers that a question offers: of those that nobody named at most 12, of those that are named as
many as letters"""
LONGEST_ANSWER = 500
REFUSAL = re.compile(
    r"refus(?:ed|al|es)(?: to answer)?|prefer not to (?:say|answer)|dont knows?|do not know|dk|n "
    r"?a|unknown|"
    r"no (?:answer|response|opinion)|not "
    r"(?:answered|applicable|asked|available|ascertained|stated)|"
    r"not asked in (?:survey|this country)|inap|iap|inapplicable|skipped|missing(?: "
    r"value)?|technical error|"
    r"interview breakoff|(?:cant|cannot) (?:choose|say)|wei(?:ß|ss) nicht|keine "
    r"(?:angabe|antwort|meinung)|"
    r"trifft nicht zu|nicht (?:gefragt|erhoben)|(?:antwort )?verweigert|ne sait pas|(?:sans|pas "
    r"de) réponse|refus|nsp|"
    r"non concerné|no sabe|no contesta|no procede|ns|nc|non s[oa]|non risponde|rifiuta|weet "
    r"niet|geen antwoord|"
    r"niet van toepassing|nie wiem|trudno powiedzieć|odmowa|nem tudja|nincs válasz"
)
"labels that are no answer, without apostrophes"
_APOSTROPHES, _PARTS = re.compile(r"[’'´`]"), re.compile(r"[/;,()\[\]:.–-]| or | oder ")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns of a survey are what; what is empty, its kind of file says."""

    questions: tuple[str, ...] = ()
    "none: all columns with labels of values"
    pattern: str = ""
    """a regular expression; questions are those columns, numbers without labels too, whose whole
    name it matches"""
    unordered: tuple[str, ...] = ()
    "questions whose answers have no order"
    who: Who = NOBODY
    respondent: tuple[str, ...] = ()
    "columns that name a person together; none: the number of the row"
    missing: tuple[str, ...] = ()
    "codes and labels that are no answer"
    negative_missing: bool = False
    "whether codes below 0 are no answer"
    language: str = PUBLISHED_LANGUAGE
    skip: bool = False
    "leave out what is at fault, of published shares"

    @property
    def about_people(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.who.columns, *self.respondent)))


def wanted_of(given: Mapping[str, str], *, drop_unweighted: bool = False) -> Wanted:
    """Return what was typed under the names of the options. Raises UsageError where it cannot be
    read.
    """
    return Wanted(
        questions=listed(given.get("questions")),
        unordered=listed(given.get("unordered")),
        who=who_of(given.get("groups"), given.get("weight"), drop_unweighted=drop_unweighted),
        respondent=listed(given.get("respondent")),
        missing=listed(given.get("missing")),
        language=given.get("language") or PUBLISHED_LANGUAGE,
    )


TYPED = ("questions", "groups", "weight", "respondent", "unordered", "missing", "language")
DROP = "drop-unweighted"


def typed(text: str) -> Wanted:
    """Read `weight=w groups=cntry,agea:18-29/30+ drop-unweighted`. Raises UsageError where it
    cannot be read.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"found {text!r}; every quotation mark needs a second one") from error
    given = dict(word.partition("=")[::2] for word in words if word != DROP)
    odd = [name for name in given if name not in TYPED]
    if odd:
        raise UsageError(f"found {odd[0]!r}; give {'=… '.join(TYPED)}=…, or {DROP}")
    return wanted_of(given, drop_unweighted=DROP in words)


def survey_of(
    path: Path,
    name: str,
    columns: Mapping[str, Variable],
    places: Sequence[int],
    wanted: Wanted,
    findings: Findings,
    left: Mapping[str, list[str]],
) -> Instrument:
    """Return the instrument of columns that were read.

    places : of each person in the file
    left : why columns were left out already -> their names
    """
    asked, why = _asked(path, columns, places, wanted, findings)
    findings.check()
    if not asked:
        told = _left_out({**left, **why})
        raise UsageError(
            f"{path}: no question was found; name columns with --questions. "
            f"{' '.join(told)}".rstrip()
        )
    people, notes = _people(path, columns, places, asked, wanted, findings)
    findings.check()
    if not people:
        raise UsageError(
            f"{path}: nobody answered a question; {plural(len(asked), 'question')} were read"
        )
    scales = {scale.name: scale for _, scale, _ in asked.values()}
    texts = {ref: _text(one) for ref, (one, _, _) in asked.items()}
    untold = [ref for ref, (one, _, _) in asked.items() if texts[ref] != one.question.strip()]
    if untold:
        notes = (
            *notes,
            f"{plural(len(untold), 'question')} without a text in the file: "
            f"{named_few(untold, 12)}.",
        )
    return Instrument(
        name=name,
        title=name,
        statements=tuple(_statement(ref, text, wanted.language) for ref, text in texts.items()),
        language=wanted.language,
        templates=templates_for(wanted),
        questionnaire=Questionnaire(
            tuple(
                Question(ref, Role.SURVEY, Form.QUESTION, scale.name)
                for ref, (_, scale, _) in asked.items()
            ),
            tuple(scales[name] for name in sorted(scales)),
            people,
        ),
        notes=(*_how_read(wanted), *_left_out({**left, **why}), *notes),
    )


def templates_for(wanted: Wanted) -> tuple[Template, ...]:
    """Return the templates of the audits that ask such questions."""
    return templates_of(QUESTIONNAIRE_AUDITS, (wanted.language,))


def _statement(ref: str, text: str, language: str) -> Statement:
    return Statement(ref, (Wording(ORIGINAL, language, text),))


def _text(one: Variable) -> str:
    text = one.question.strip()
    return one.name if text_fault(text) else text


def _how_read(wanted: Wanted) -> Iterator[str]:
    if wanted.who.weights:
        yield f"Weight: {' × '.join(wanted.who.weights)}."
    for one in wanted.who.groups:
        if one.name != one.column or one.cuts:
            yield (
                f"Group {one.name}: "
                f"{one.column}{' in ' + '/'.join(c for c, *_ in one.cuts) if one.cuts else ''}."
            )
    if wanted.negative_missing:
        yield "Codes below 0 are no answer."


def _left_out(left: Mapping[str, Sequence[str]]) -> list[str]:
    named = {
        why: [name or "a column without a name" for name in names]
        for why, names in left.items()
        if names
    }
    return [f"Left out, {why}: {named_few(names, 8)}." for why, names in named.items()]


# ── columns ───────────────────────────────────────────────────────────────────────────────────────


def read_columns(
    path: Path, wanted: Wanted, how: How, findings: Findings
) -> tuple[dict[str, Variable], Sequence[int], dict[str, list[str]]]:
    """Return the columns that are needed, by name, the place of each row, and the columns left out,
    by why.
    """
    kind = kind_of(path)
    if kind in (Kind.SPSS, Kind.STATA):
        return _of_statistics(path, kind, wanted, how, findings)
    held: list[list[str]] = []
    places: list[int] = []
    names: list[str] = []
    known: dict[str, str] = {}
    kept: list[int] = []
    for place, cells in whole_records(path, findings, how):
        if not names:
            names = cells
            need = set(wanted.questions + wanted.about_people) if wanted.questions else set(names)
            kept = [n for n, name in enumerate(names) if name in need]
            held = [[] for _ in kept]
            _check_there(path, place, names, wanted, findings)
            continue
        places.append(place)
        for column, n in zip(held, kept, strict=True):
            column.append(known.setdefault(cells[n], cells[n]))
    if not places and not findings.found:
        findings.add(path, None, None, "no people", "a header and a row for each person")
    columns = {
        names[n]: Variable(names[n], "", {}, frozenset(), column)
        for n, column in zip(kept, held, strict=True)
    }
    return columns, places, {}


def _of_statistics(
    path: Path, kind: Kind, wanted: Wanted, how: How, findings: Findings
) -> tuple[dict[str, Variable], Sequence[int], dict[str, list[str]]]:
    """Read what is said of all columns first, and the values of those that are needed."""
    if how != AS_IS and set(how.columns.values()) != {LEFT_OUT}:
        raise UsageError(
            f"{path}: found {kind}, whose columns have names; leave --map, --sheet and "
            "--encoding out"
        )
    findings.counted[path.name] = "row"
    about = [one for one in labelled(path, kind, findings, ()) or () if one.name not in how.columns]
    names = [one.name for one in about]
    left: dict[str, list[str]] = {}
    if not about or not _check_there(path, None, names, wanted, findings):
        return {}, (), left
    questions = list(wanted.questions)
    for one in () if questions else about:
        offered = [said for said in one.labels.items() if not _is_missing(*said, one, wanted)]
        if not _may_ask(one.name, wanted):
            continue
        if FEWEST <= len(offered) <= MOST:
            questions.append(one.name)
        else:
            many = f"more than {MOST} answers"
            why = many if offered[MOST:] else "one answer" if offered else "no labels of answers"
            left.setdefault(why, []).append(one.name)
    read = labelled(
        path,
        kind,
        findings,
        [n for n in names if n in {*questions, *wanted.about_people}] or names[:1],
    )
    columns = {one.name: replace(one, labels=_plain_labels(one.labels)) for one in read or ()}
    return (
        columns,
        range(1, 1 + max((len(one.values) for one in columns.values()), default=0)),
        left,
    )


def _plain_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels in the order of their codes, without the code that stands before each of them
    (`1. yes`).
    """
    ordered = dict(
        sorted(
            labels.items(), key=lambda one: (number_in(one[0]) is None, number_in(one[0]) or 0.0)
        )
    )
    said = {code: " ".join(label.split()) for code, label in ordered.items()}
    for sign in (". ", ") ", " - ", " = ", ": "):
        if said and all(label.startswith(code + sign) for code, label in said.items() if label):
            return {code: label.removeprefix(code + sign).strip() for code, label in said.items()}
    return said


def _check_there(
    path: Path, place: int | None, names: Sequence[str], wanted: Wanted, findings: Findings
) -> bool:
    """Return whether all columns that were named are there once; otherwise note which are not."""
    before = len(findings.found)
    for name in dict.fromkeys((*wanted.questions, *wanted.about_people)):
        if name not in names:
            near = nearest(name, names)
            said = f" (did you mean {near!r}?)" if near else ""
            findings.add(path, place, name, "no such column", f"one of {named_few(names, 8)}{said}")
    for name in wanted.unordered:
        if name not in names or name not in (wanted.questions or names):
            findings.add(
                path, place, name, "no such question", "of --unordered, columns that are questions"
            )
    for name in wanted.questions:
        if name in wanted.about_people:
            findings.add(
                path, place, name, "a question that is about the person, too", "one of the two"
            )
    needed = {*wanted.questions, *wanted.about_people} if wanted.questions else set(names)
    for name, n in Counter(names).items():
        if n > 1 and name in needed:
            findings.add(path, place, name, f"{n} columns of this name", "one")
    return len(findings.found) == before


def _may_ask(name: str, wanted: Wanted) -> bool:
    return name not in wanted.about_people and bool(
        not wanted.pattern or re.fullmatch(wanted.pattern, name)
    )


# ── questions ─────────────────────────────────────────────────────────────────────────────────────

Asked = dict[str, tuple[Variable, Scale, Mapping[object, str]]]
"ref -> its column, its scale, and the answer that each value of the column is"


@dataclass(slots=True)
class Scales:
    """The scales so far; questions with the same answers share one."""

    names: dict[tuple[Option, ...], str] = field(default_factory=dict)

    def of(self, options: tuple[Option, ...], ref: str) -> Scale:
        name = self.names.get(options)
        if name is None:
            wished = re.sub(r"[^\w.-]", "_", ref)[:60].strip(".") or "scale"
            taken = {*self.names.values(), *shipped_scales()}
            name = next(
                one
                for one in (wished, *(f"{wished}-{n}" for n in range(2, 9999)))
                if one not in taken
            )
            self.names[options] = name
        return Scale(name, options)


def _asked(
    path: Path,
    columns: Mapping[str, Variable],
    places: Sequence[int],
    wanted: Wanted,
    findings: Findings,
) -> tuple[Asked, dict[str, list[str]]]:
    """Return the questions, and why other columns are none -> their names; of named questions, that
    is a fault.
    """
    scales = Scales()
    asked: Asked = {}
    left: dict[str, list[str]] = {}
    named = bool(wanted.questions)
    for ref in wanted.questions or [name for name in columns if _may_ask(name, wanted)]:
        one = columns[ref]
        said = _answers_of(one, wanted, named=named)
        if isinstance(said, _Gap):
            if named:
                note_all(
                    findings, path, ref, _places(one, said.values, places), said.expected, said.what
                )
            left.setdefault(said.why, []).append(ref)
        elif isinstance(said, str):
            if named:
                findings.add(
                    path,
                    None,
                    ref,
                    said,
                    f"{FEWEST} to {MOST_LETTERED} different answers, each with a label",
                )
            left.setdefault(said, []).append(ref)
        else:
            options, given = said
            asked[ref] = (one, scales.of(options, ref), given)
    return asked, left


@dataclass(frozen=True, slots=True)
class _Gap:
    """Values that have no label, in a column whose others have one."""

    values: tuple[str, ...]
    why: str = "values without a label"
    what: str = ", which has no label"
    expected: str = (
        "a code that the file says the meaning of; codes that are no answer: --missing CODE,…"
    )


def _places(one: Variable, values: Collection[str], places: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {value: [] for value in values}
    for text, place in zip(map(_plain, one.values), places, strict=True):
        if text in found:
            found[text].append(place)
    return found


def _plain(value: object) -> str:
    """Return a value as a cell, as the codes of labels are written."""
    return Variable("", "", {}, frozenset(), (value,)).texts()[0]


def _answers_of(
    one: Variable, wanted: Wanted, *, named: bool
) -> tuple[tuple[Option, ...], Mapping[object, str]] | _Gap | str:
    """Return the options of a column and the answer that each of its values is; otherwise why it is
    no question.
    """
    raw = dict.fromkeys(one.values)
    # The first spelling of a text stands for the others.
    alike = {folded(code): code for code in one.labels}
    read = replace(one, values=list(raw)).texts()
    texts = {
        value: alike.setdefault(folded(text), text) for value, text in zip(raw, read, strict=True)
    }
    used = dict.fromkeys(text for text in texts.values() if folded(text) not in NOTHING)
    labels = {code: label for code, label in one.labels.items() if label}
    words = not labels
    if words:
        labels = {value: value for value in _in_order(used)}
    missing = {
        code for code in {**labels, **used} if _is_missing(code, labels.get(code, ""), one, wanted)
    }
    offered = {code: label for code, label in labels.items() if code not in missing}
    gaps = [text for text in used if text not in labels and text not in missing]
    if gaps and not words and _only_ends(offered, gaps):
        ends = {**{text: text for text in gaps}, **offered}
        offered = {
            code: ends[code] for code in sorted(ends, key=lambda code: number_in(code) or 0.0)
        }
    elif gaps:
        return _Gap(tuple(gaps)) if offered else "no labels of answers"
    most = MOST_LETTERED if named else MOST
    if not FEWEST <= len(offered) <= most:
        return f"more than {most} answers" if offered else "no labels of answers"
    if (
        words
        and not named
        and not wanted.pattern
        and all(number_in(label) is not None for label in offered)
    ):
        return "numbers without labels"
    if any(len(label) > LONGEST_ANSWER for label in offered.values()):
        return f"an answer of more than {LONGEST_ANSWER} characters"
    silent = {
        code: label
        for code, label in labels.items()
        if code in missing
        and not (words and number_in(code) is not None)  # a code in no words says nothing
    }
    said = set(map(folded, offered.values()))
    if len(said) < len(offered) or said & set(map(folded, silent.values())):
        return "two codes with the same label"
    options = _options(offered, silent, _meanings(one.name, offered, wanted, words=words))
    given = {value: {**offered, **silent}.get(text, "") for value, text in texts.items()}
    return options, given


def _only_ends(offered: Mapping[str, str], gaps: Sequence[str]) -> bool:
    """Return whether the two ends of a scale of numbers have labels, and the steps between them
    have none.
    """
    ends = [number_in(code) for code in offered]
    between = [number_in(text) for text in gaps]
    low, high = (
        (min(ends, key=lambda n: n or 0.0), max(ends, key=lambda n: n or 0.0))
        if ends
        else (None, None)
    )
    if len(ends) != FEWEST or low is None or high is None:
        return False
    return all(n is not None and n.is_integer() and low < n < high for n in between)


def _in_order(used: Iterable[str]) -> list[str]:
    """Return values of a table in their order: of numbers, of a shipped scale, otherwise of the
    alphabet.
    """
    values = list(used)
    if all(number_in(value) is not None for value in values):
        return sorted(values, key=lambda value: number_in(value) or 0.0)
    known = _known_words(value for value in values if not is_refusal(value)) or {}
    return sorted(
        values,
        key=lambda value: (known[_key(value)][0] if _key(value) in known else MOST, folded(value)),
    )


def _options(
    offered: Mapping[str, str], silent: Mapping[str, str], meanings: Mapping[str, Meaning]
) -> tuple[Option, ...]:
    """Return the options: those that are offered, then those that are no answer; codes stand beside
    their labels where they cannot be taken for another label.
    """
    labels = {folded(label) for label in (*offered.values(), *silent.values())}
    coded = not any(
        folded(code) in labels
        for code, label in (*offered.items(), *silent.items())
        if code != label
    )
    values: dict[str, list[str]] = {}
    for code, label in (*offered.items(), *silent.items()):
        held = values.setdefault(folded(label), [label])
        if coded and folded(code) != folded(label):
            held.append(code)
    answers = [
        Option(tuple(values[folded(label)]), meanings[code]) for code, label in offered.items()
    ]
    no_answers = dict.fromkeys(folded(label) for label in silent.values())
    return (*answers, *(Option(tuple(values[label]), Meaning.MISSING) for label in no_answers))


def _meanings(
    ref: str, offered: Mapping[str, str], wanted: Wanted, *, words: bool
) -> dict[str, Meaning]:
    if ref in wanted.unordered:
        return dict.fromkeys(offered, Meaning.OPTION)
    known = _known_words(offered.values())
    if known is not None:
        return {code: known[_key(label)][1] for code, label in offered.items()}
    numbers = all(number_in(label) is not None for label in offered.values())
    return dict.fromkeys(offered, Meaning.OPTION if words and not numbers else Meaning.STEP)


def _key(label: str) -> tuple[str, ...]:
    """Return the words of a label in any order: `agree strongly` is `strongly agree`."""
    return tuple(sorted(re.findall(r"\w+", _APOSTROPHES.sub("", folded(label)))))


def _known_words(labels: Iterable[str]) -> dict[tuple[str, ...], tuple[int, Meaning]] | None:
    """Return place and meaning of the words of the shipped scale that has all of these labels; None
    where none has.
    """
    wanted = {_key(label) for label in labels}
    return next((words for words in _shipped_words() if wanted and wanted <= words.keys()), None)


@cache
def _shipped_words() -> tuple[dict[tuple[str, ...], tuple[int, Meaning]], ...]:
    """Return, for each shipped scale, what its words mean; numbers are codes and mean nothing by
    themselves.
    """
    return tuple(
        {
            _key(value): (place, option.meaning)
            for place, option in enumerate(shipped_scale(name).offered)
            for value in option.values
            if number_in(value) is None
        }
        for name in shipped_scales()
    )


def is_refusal(label: str) -> bool:
    """Return whether a label says that somebody gave no answer: `Don't know`, `DK/Refused (vol.)`,
    `keine Angabe`.
    """
    text = _APOSTROPHES.sub("", folded(label))
    parts = [" ".join(part.split()) for part in _PARTS.split(text)]
    said = [
        part
        for part in parts
        if part and part not in ("vol", "volunteered") and number_in(part) is None
    ]
    return bool(said) and (said[0] == "missing" or all(REFUSAL.fullmatch(part) for part in said))


def _is_missing(code: str, label: str, one: Variable, wanted: Wanted) -> bool:
    if code in one.missing or folded(code) in NOTHING or is_refusal(label or code):
        return True
    number = number_in(code)
    if wanted.negative_missing and number is not None and number < 0:
        return True
    return bool(
        {folded(code), folded(label)} & {folded(value) for value in wanted.missing if value.strip()}
    )


# ── people ────────────────────────────────────────────────────────────────────────────────────────


def _people(
    path: Path,
    columns: Mapping[str, Variable],
    places: Sequence[int],
    asked: Asked,
    wanted: Wanted,
    findings: Findings,
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people with at least one answer, and sentences about the others."""
    names = _names(path, [columns[name] for name in wanted.respondent], places, findings)
    plain = replace(wanted, negative_missing=False)  # a weight below 0 is a fault
    held = {name: _cells(columns[name], plain, words=False) for name in wanted.who.weights}
    weights = weights_of(path, held, places, wanted.who, findings)
    notes: list[str] = []
    groups: list[tuple[str, list[str]]] = []
    for grouping in wanted.who.groups:
        texts = _cells(columns[grouping.column], wanted, words=not grouping.cuts)
        cells, told = groups_of(path, grouping, texts, places, findings)
        groups.append((grouping.name, cells))
        notes += told
    given = [
        (ref, [answers[value] for value in one.values]) for ref, (one, _, answers) in asked.items()
    ]
    same: dict[tuple[str, ...], dict[str, str]] = {}
    people, of_groups = [], {}
    for at, name in enumerate(names):
        answers = {ref: said for ref, values in given if (said := values[at])}
        if answers:
            people.append(Respondent(name, answers))
            of = tuple(cells[at] for _, cells in groups)
            of_groups[name] = same.setdefault(
                of, {f: v for (f, _), v in zip(groups, of, strict=True) if v}
            )
    silent = len(names) - len(people)
    if silent:
        notes.append(f"{plural(silent, 'respondent')} left out, without an answer to any question.")
    found, told = with_who(people, dict(zip(names, weights, strict=True)), of_groups)
    return found, (*notes, *told)


def _cells(one: Variable, wanted: Wanted, *, words: bool) -> list[str]:
    """Return the cells of a column about people, empty where they are no answer: its labels, or its
    plain values.
    """
    texts = one.texts()
    said = {
        text: "" if _is_missing(text, one.labels.get(text, ""), one, wanted) else text
        for text in set(texts)
    }
    return [
        (one.labels.get(text) or text) if words and text else text
        for text in map(said.__getitem__, texts)
    ]


def _names(
    path: Path, columns: Sequence[Variable], places: Sequence[int], findings: Findings
) -> list[str]:
    if not columns:
        return [str(n) for n in range(1, len(places) + 1)]
    parts = [one.texts() for one in columns]
    names = ["-".join(row) if all(row) else "" for row in zip(*parts, strict=True)]
    column = columns[0].name
    seen: dict[str, int] = {}
    again: dict[str, list[int]] = {}
    for name, place in zip(names, places, strict=True):
        if name in seen:
            again.setdefault(name, []).append(place)
        seen.setdefault(name, place)
    empty = again.pop("", []) + ([seen[""]] if "" in seen else [])
    if empty:
        note_all(findings, path, column, {"": sorted(empty)}, "a name for every respondent")
    if again:
        first = next(iter(again))
        said = f"{first!r} again, after {seen[first]:,}"
        more = f", and {len(again) - 1:,} others" if len(again) > 1 else ""
        expected = (
            "every respondent once; several columns name one together: --respondent COLUMN,COLUMN"
        )
        findings.add(path, again[first][0], column, said + more, expected)
    return names

"""A survey as an instrument: questions with their answers in words, and people's answers.

A statistics file describes its questions, the meaning of its codes and the codes that are no
answer. Nothing is recoded: an answer is the label of its code, in the order of the codes. A table
of texts has answers without an order, unless they are words of a shipped scale or numbers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

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
    AnswerOption,
    Form,
    Meaning,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
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
    PeopleColumns,
    groups_of,
    note_all,
    number_in,
    people_columns_of,
    weights_of,
    with_weights_and_groups,
)
from workbench.formats.records import (
    AS_IS,
    LEFT_OUT,
    FileKind,
    Findings,
    ReadSettings,
    Variable,
    kind_of,
    labelled,
)
from workbench.formats.tabular import nearest

FEWEST, MOST, MOST_LETTERED = 2, 12, 26
"""the numbers of answers that a question offers: at most 12 if nobody named the question, and as
many as letters if somebody did"""
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
class SurveyColumns:
    """The roles of the columns of a survey. An empty one is set by the kind of the file."""

    questions: tuple[str, ...] = ()
    "none for all columns with labels of values"
    pattern: str = ""
    """a regular expression. Questions are the columns whose whole name it matches, including
    numbers without labels."""
    unordered: tuple[str, ...] = ()
    "questions whose answers have no order"
    who: PeopleColumns = NOBODY
    respondent: tuple[str, ...] = ()
    "columns that name a person together, or none for the number of the row"
    missing: tuple[str, ...] = ()
    "codes and labels that are no answer"
    negative_missing: bool = False
    "whether codes below 0 are no answer"
    language: str = PUBLISHED_LANGUAGE
    skip: bool = False
    "whether faulty published shares are left out"

    @property
    def about_people(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.who.columns, *self.respondent)))


def wanted_of(values: Mapping[str, str], *, drop_unweighted: bool = False) -> SurveyColumns:
    """Return the roles of columns that the values of the options name.

    Raises UsageError if they cannot be read.
    """
    return SurveyColumns(
        questions=listed(values.get("questions")),
        unordered=listed(values.get("unordered")),
        who=people_columns_of(
            values.get("groups"), values.get("weight"), drop_unweighted=drop_unweighted
        ),
        respondent=listed(values.get("respondent")),
        missing=listed(values.get("missing")),
        language=values.get("language") or PUBLISHED_LANGUAGE,
    )


TYPED = ("questions", "groups", "weight", "respondent", "unordered", "missing", "language")


def survey_of(
    path: Path,
    name: str,
    columns: Mapping[str, Variable],
    places: Sequence[int],
    wanted: SurveyColumns,
    findings: Findings,
    left: Mapping[str, list[str]],
) -> Instrument:
    """Return the instrument of the columns of a survey.

    `places` has the place of each person in the file. `left` maps the reason why columns were left
    out already to their names.
    """
    questions, reasons = _read_questions(path, columns, places, wanted, findings)
    findings.check()
    if not questions:
        sentences = _exclusion_notes({**left, **reasons})
        raise UsageError(
            f"{path}: no question was found; name columns with --questions. "
            f"{' '.join(sentences)}".rstrip()
        )
    people, notes = _people(path, columns, places, questions, wanted, findings)
    findings.check()
    if not people:
        raise UsageError(
            f"{path}: nobody answered a question; {plural(len(questions), 'question')} were read"
        )
    scales = {question.scale.name: question.scale for question in questions.values()}
    without_text = [ref for ref, question in questions.items() if not question.has_text]
    if without_text:
        notes = (
            *notes,
            f"{plural(len(without_text), 'question')} without a text in the file: "
            f"{named_few(without_text, 12)}.",
        )
    return Instrument(
        name=name,
        title=name,
        statements=tuple(
            _statement(ref, question.text, wanted.language) for ref, question in questions.items()
        ),
        language=wanted.language,
        templates=templates_for(wanted),
        questionnaire=Questionnaire(
            tuple(
                Question(ref, QuestionRole.SURVEY, Form.QUESTION, question.scale.name)
                for ref, question in questions.items()
            ),
            tuple(scales[name] for name in sorted(scales)),
            people,
        ),
        notes=(*_how_read(wanted), *_exclusion_notes({**left, **reasons}), *notes),
    )


def templates_for(wanted: SurveyColumns) -> tuple[Template, ...]:
    """Return the templates of the audits that ask such questions."""
    return templates_of(QUESTIONNAIRE_AUDITS, (wanted.language,))


def _statement(ref: str, text: str, language: str) -> Statement:
    return Statement(ref, (Wording(ORIGINAL, language, text),))


def _how_read(wanted: SurveyColumns) -> Iterator[str]:
    if wanted.who.weights:
        yield f"Weight: {' × '.join(wanted.who.weights)}."
    for item in wanted.who.groups:
        if item.name != item.column or item.cuts:
            yield (
                f"Group {item.name}: "
                f"{item.column}{' in ' + '/'.join(c for c, *_ in item.cuts) if item.cuts else ''}."
            )
    if wanted.negative_missing:
        yield "Codes below 0 are no answer."


def _exclusion_notes(left: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each reason why columns are excluded, with their names."""
    names_by_reason = {
        reason: [name or "a column without a name" for name in names]
        for reason, names in left.items()
        if names
    }
    return [
        f"Left out, {reason}: {named_few(names, 8)}." for reason, names in names_by_reason.items()
    ]


# ── columns ───────────────────────────────────────────────────────────────────────────────────────


class SurveyTable(NamedTuple):
    """The required columns of a survey."""

    columns: dict[str, Variable]
    "by name"
    places: Sequence[int]
    "the place of each row in the file"
    left_out: dict[str, list[str]]
    "names of columns that may not be questions, by the reason"


def read_columns(
    path: Path, wanted: SurveyColumns, settings: ReadSettings, findings: Findings
) -> SurveyTable:
    """Return the columns of a survey that are needed. Faults are noted."""
    kind = kind_of(path)
    if kind in (FileKind.SPSS, FileKind.STATA):
        return _columns_of_statistics(path, kind, wanted, settings, findings)
    columns_kept: list[list[str]] = []
    places: list[int] = []
    names: list[str] = []
    interned: dict[str, str] = {}
    indices: list[int] = []
    for place, cells in whole_records(path, findings, settings):
        if not names:
            names = cells
            required = (
                set(wanted.questions + wanted.about_people) if wanted.questions else set(names)
            )
            indices = [index for index, name in enumerate(names) if name in required]
            columns_kept = [[] for _ in indices]
            _check_there(path, place, names, wanted, findings)
            continue
        places.append(place)
        for column, index in zip(columns_kept, indices, strict=True):
            column.append(interned.setdefault(cells[index], cells[index]))
    if not places and not findings.found:
        findings.add(path, None, None, "no people", "a header and a row for each person")
    columns = {
        names[index]: Variable(names[index], "", {}, frozenset(), column)
        for index, column in zip(indices, columns_kept, strict=True)
    }
    return SurveyTable(columns, places, {})


def _columns_of_statistics(
    path: Path, kind: FileKind, wanted: SurveyColumns, settings: ReadSettings, findings: Findings
) -> SurveyTable:
    """Return the columns of a file of SPSS or Stata that are needed.

    The descriptions of all columns are read first, then the values of the needed ones.
    """
    if settings != AS_IS and set(settings.columns.values()) != {LEFT_OUT}:
        raise UsageError(
            f"{path}: found {kind}, whose columns have names; leave --map, --sheet and "
            "--encoding out"
        )
    findings.counted[path.name] = "row"
    described = labelled(path, kind, findings, ()) or ()
    variables = [variable for variable in described if variable.name not in settings.columns]
    names = [variable.name for variable in variables]
    if not variables or not _check_there(path, None, names, wanted, findings):
        return SurveyTable({}, (), {})
    questions = list(wanted.questions)
    left_out: dict[str, list[str]] = {}
    if not questions:
        questions, left_out = _likely_questions(variables, wanted)
    required = {*questions, *wanted.about_people}
    read_names = [name for name in names if name in required] or names[:1]
    columns = {
        variable.name: replace(variable, labels=_plain_labels(variable.labels))
        for variable in labelled(path, kind, findings, read_names) or ()
    }
    n_rows = max((len(variable.values) for variable in columns.values()), default=0)
    return SurveyTable(columns, range(1, 1 + n_rows), left_out)


def _likely_questions(
    variables: Iterable[Variable], wanted: SurveyColumns
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the columns that may be questions, and the other ones by the reason against them."""
    questions: list[str] = []
    left_out: dict[str, list[str]] = defaultdict(list)
    for variable in variables:
        if not _may_ask(variable.name, wanted):
            continue
        reason = _reason_against(variable, wanted)
        if reason:
            left_out[reason].append(variable.name)
        else:
            questions.append(variable.name)
    return questions, dict(left_out)


def _reason_against(variable: Variable, wanted: SurveyColumns) -> str:
    """Return why an unnamed column is not a question, or an empty string if it is one."""
    n_options = sum(
        not _is_missing(code, label, variable, wanted) for code, label in variable.labels.items()
    )
    if n_options > MOST:
        return f"more than {MOST} answers"
    if n_options < FEWEST:
        return "one answer" if n_options else "no labels of answers"
    return ""


def _plain_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels in the order of their codes, without a code before each (`1. yes`)."""
    ordered = dict(
        sorted(
            labels.items(), key=lambda item: (number_in(item[0]) is None, number_in(item[0]) or 0.0)
        )
    )
    labels_by_code = {code: " ".join(label.split()) for code, label in ordered.items()}
    for separator in (". ", ") ", " - ", " = ", ": "):
        if labels_by_code and all(
            label.startswith(code + separator) for code, label in labels_by_code.items() if label
        ):
            return {
                code: label.removeprefix(code + separator).strip()
                for code, label in labels_by_code.items()
            }
    return labels_by_code


def _check_there(
    path: Path, place: int | None, names: Sequence[str], wanted: SurveyColumns, findings: Findings
) -> bool:
    """Return whether all named columns exist once. Otherwise note which do not."""
    n_faults = len(findings.found)
    for name in dict.fromkeys((*wanted.questions, *wanted.about_people)):
        if name not in names:
            similar = nearest(name, names)
            hint = f" (did you mean {similar!r}?)" if similar else ""
            findings.add(path, place, name, "no such column", f"one of {named_few(names, 8)}{hint}")
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
    for name, count in Counter(names).items():
        if count > 1 and name in needed:
            findings.add(path, place, name, f"{count} columns of this name", "one")
    return len(findings.found) == n_faults


def _may_ask(name: str, wanted: SurveyColumns) -> bool:
    return name not in wanted.about_people and bool(
        not wanted.pattern or re.fullmatch(wanted.pattern, name)
    )


# ── questions ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SurveyQuestion:
    """A question of a survey and its column."""

    column: Variable
    scale: Scale
    answer_by_value: Mapping[object, str]
    "value of the column -> the answer"

    @property
    def text(self) -> str:
        """The text of the question, or the name of the column if it has none."""
        text = self.column.question.strip()
        return self.column.name if text_fault(text) else text

    @property
    def answers(self) -> list[str]:
        """The answer in each row, or an empty string if the row has none."""
        return [self.answer_by_value[value] for value in self.column.values]

    @property
    def has_text(self) -> bool:
        return self.text == self.column.question.strip()


SurveyQuestions = dict[str, SurveyQuestion]
"ref -> question"


@dataclass(slots=True)
class Scales:
    """The scales so far. Questions with the same answers share one."""

    names: dict[tuple[AnswerOption, ...], str] = field(default_factory=dict)

    def scale_of(self, options: tuple[AnswerOption, ...], ref: str) -> Scale:
        """Return the scale with these options. A new one is named after the question `ref`."""
        name = self.names.get(options)
        if name is None:
            preferred = re.sub(r"[^\w.-]", "_", ref)[:60].strip(".") or "scale"
            used_names = {*self.names.values(), *shipped_scales()}
            name = next(
                candidate
                for candidate in (
                    preferred,
                    *(f"{preferred}-{number}" for number in range(2, 9999)),
                )
                if candidate not in used_names
            )
            self.names[options] = name
        return Scale(name, options)


def _read_questions(
    path: Path,
    columns: Mapping[str, Variable],
    places: Sequence[int],
    wanted: SurveyColumns,
    findings: Findings,
) -> tuple[SurveyQuestions, dict[str, list[str]]]:
    """Return the questions, and the names of other columns by the reason why they are no question.

    For named questions this is a fault.
    """
    scales = Scales()
    questions: SurveyQuestions = {}
    omitted: dict[str, list[str]] = {}
    are_named = bool(wanted.questions)
    for ref in wanted.questions or [name for name in columns if _may_ask(name, wanted)]:
        variable = columns[ref]
        answers = _answers_of(variable, wanted, named=are_named)
        if isinstance(answers, _Gap):
            if are_named:
                note_all(
                    findings,
                    path,
                    ref,
                    _places(variable, answers.values, places),
                    answers.expected,
                    answers.what,
                )
            omitted.setdefault(answers.why, []).append(ref)
        elif isinstance(answers, str):
            if are_named:
                findings.add(
                    path,
                    None,
                    ref,
                    answers,
                    f"{FEWEST} to {MOST_LETTERED} different answers, each with a label",
                )
            omitted.setdefault(answers, []).append(ref)
        else:
            options, answer_by_value = answers
            questions[ref] = SurveyQuestion(
                variable, scales.scale_of(options, ref), answer_by_value
            )
    return questions, omitted


@dataclass(frozen=True, slots=True)
class _Gap:
    """Values without a label, in a column whose other values have one."""

    values: tuple[str, ...]
    why: str = "values without a label"
    what: str = ", which has no label"
    expected: str = (
        "a code that the file says the meaning of; codes that are no answer: --missing CODE,…"
    )


def _places(
    column: Variable, values: Collection[str], places: Sequence[int]
) -> dict[str, list[int]]:
    places_by_value: dict[str, list[int]] = {value: [] for value in values}
    for text, place in zip(map(_cell_text, column.values), places, strict=True):
        if text in places_by_value:
            places_by_value[text].append(place)
    return places_by_value


def _cell_text(value: object) -> str:
    """Return a value as a cell, written like the codes of labels."""
    return Variable("", "", {}, frozenset(), (value,)).texts()[0]


@dataclass(frozen=True, slots=True)
class _CodedColumn:
    """A column with the labels of its codes. A column without labels has its texts as codes."""

    text_by_value: Mapping[object, str]
    "value -> its text, where the first spelling of a text stands for the others"
    used_texts: Collection[str]
    "texts that are an answer or a code that means none, in the order of the rows"
    labels: Mapping[str, str]
    missing: Collection[str]
    "codes and texts that are no answer"
    has_labels: bool
    "whether the file has the labels"

    @property
    def labels_of_answers(self) -> dict[str, str]:
        return {code: label for code, label in self.labels.items() if code not in self.missing}

    @property
    def labels_of_missing(self) -> dict[str, str]:
        """The labels that are no answer. A code that is a number without words has none."""
        return {
            code: label
            for code, label in self.labels.items()
            if code in self.missing and (self.has_labels or number_in(code) is None)
        }

    @property
    def unlabelled(self) -> list[str]:
        """The texts that may be answers but have no label."""
        return [
            text for text in self.used_texts if text not in self.labels and text not in self.missing
        ]


def _coded_column(column: Variable, wanted: SurveyColumns) -> _CodedColumn:
    distinct_values = dict.fromkeys(column.values)
    # The first spelling of a text stands for the others.
    spelling_by_text = {folded(code): code for code in column.labels}
    read_texts = replace(column, values=list(distinct_values)).texts()
    text_by_value = {
        value: spelling_by_text.setdefault(folded(text), text)
        for value, text in zip(distinct_values, read_texts, strict=True)
    }
    used_texts = dict.fromkeys(
        text for text in text_by_value.values() if folded(text) not in NOTHING
    )
    labels = {code: label for code, label in column.labels.items() if label}
    has_labels = bool(labels)
    if not has_labels:
        labels = {text: text for text in _in_order(used_texts)}
    missing = {
        code
        for code in {**labels, **used_texts}
        if _is_missing(code, labels.get(code, ""), column, wanted)
    }
    return _CodedColumn(text_by_value, used_texts, labels, missing, has_labels)


def _answers_of(
    column: Variable, wanted: SurveyColumns, *, named: bool
) -> tuple[tuple[AnswerOption, ...], Mapping[object, str]] | _Gap | str:
    """Return the options of a column and the answer of each of its values.

    Otherwise return why it is not a question.
    """
    coded = _coded_column(column, wanted)
    labels = coded.labels_of_answers
    gaps = coded.unlabelled
    if gaps and coded.has_labels and _only_ends(labels, gaps):
        labels = _with_steps(labels, gaps)
    elif gaps:
        return _Gap(tuple(gaps)) if labels else "no labels of answers"
    no_answers = coded.labels_of_missing
    has_meaning = named or bool(wanted.pattern) or coded.has_labels
    problem = _problem_of(
        labels, no_answers, max_options=MOST_LETTERED if named else MOST, has_meaning=has_meaning
    )
    if problem:
        return problem
    meanings = _meanings(column.name, labels, wanted, words=not coded.has_labels)
    answer_by_text = {**labels, **no_answers}
    answer_by_value = {
        value: answer_by_text.get(text, "") for value, text in coded.text_by_value.items()
    }
    return _options(labels, no_answers, meanings), answer_by_value


def _with_steps(ends: Mapping[str, str], steps: Sequence[str]) -> dict[str, str]:
    """Return the labels of a scale of numbers, whose steps are their own labels."""
    labels = {**{step: step for step in steps}, **ends}
    return {code: labels[code] for code in sorted(labels, key=lambda code: number_in(code) or 0.0)}


def _problem_of(
    labels: Mapping[str, str],
    no_answers: Mapping[str, str],
    *,
    max_options: int,
    has_meaning: bool,
) -> str:
    """Return why labels are not the answers to a question, or an empty string if they are.

    With `has_meaning`, numbers may be answers.
    """
    if not FEWEST <= len(labels) <= max_options:
        return f"more than {max_options} answers" if labels else "no labels of answers"
    if not has_meaning and all(number_in(label) is not None for label in labels):
        return "numbers without labels"
    if any(len(label) > LONGEST_ANSWER for label in labels.values()):
        return f"an answer of more than {LONGEST_ANSWER} characters"
    folded_labels = set(map(folded, labels.values()))
    folded_missing = set(map(folded, no_answers.values()))
    if len(folded_labels) < len(labels) or folded_labels & folded_missing:
        return "two codes with the same label"
    return ""


def _only_ends(offered: Mapping[str, str], gaps: Sequence[str]) -> bool:
    """Return whether only the two ends of a scale of numbers have labels.

    The steps between them have none.
    """
    ends = [number_in(code) for code in offered]
    steps = [number_in(text) for text in gaps]
    low, high = (
        (min(ends, key=lambda number: number or 0.0), max(ends, key=lambda number: number or 0.0))
        if ends
        else (None, None)
    )
    if len(ends) != FEWEST or low is None or high is None:
        return False
    return all(step is not None and step.is_integer() and low < step < high for step in steps)


def _in_order(used: Iterable[str]) -> list[str]:
    """Return values of a table in their order.

    It is that of numbers, of a shipped scale, or otherwise of the alphabet.
    """
    values = list(used)
    if all(number_in(value) is not None for value in values):
        return sorted(values, key=lambda value: number_in(value) or 0.0)
    places_by_words = _known_words(value for value in values if not is_refusal(value)) or {}
    return sorted(
        values,
        key=lambda value: (
            places_by_words[_key(value)][0] if _key(value) in places_by_words else MOST,
            folded(value),
        ),
    )


def _options(
    offered: Mapping[str, str], silent: Mapping[str, str], meanings: Mapping[str, Meaning]
) -> tuple[AnswerOption, ...]:
    """Return the options that are offered, followed by those that are no answer.

    Codes stand beside their labels if they cannot be taken for another label.
    """
    labels = {folded(label) for label in (*offered.values(), *silent.values())}
    has_codes = not any(
        folded(code) in labels
        for code, label in (*offered.items(), *silent.items())
        if code != label
    )
    values: dict[str, list[str]] = {}
    for code, label in (*offered.items(), *silent.items()):
        option_values = values.setdefault(folded(label), [label])
        if has_codes and folded(code) != folded(label):
            option_values.append(code)
    answers = [
        AnswerOption(tuple(values[folded(label)]), meanings[code])
        for code, label in offered.items()
    ]
    no_answers = dict.fromkeys(folded(label) for label in silent.values())
    return (
        *answers,
        *(AnswerOption(tuple(values[label]), Meaning.MISSING) for label in no_answers),
    )


def _meanings(
    ref: str, offered: Mapping[str, str], wanted: SurveyColumns, *, words: bool
) -> dict[str, Meaning]:
    if ref in wanted.unordered:
        return dict.fromkeys(offered, Meaning.OPTION)
    places_by_words = _known_words(offered.values())
    if places_by_words is not None:
        return {code: places_by_words[_key(label)][1] for code, label in offered.items()}
    are_numbers = all(number_in(label) is not None for label in offered.values())
    return dict.fromkeys(offered, Meaning.OPTION if words and not are_numbers else Meaning.STEP)


def _key(label: str) -> tuple[str, ...]:
    """Return the words of a label in any order: `agree strongly` is `strongly agree`."""
    return tuple(sorted(re.findall(r"\w+", _APOSTROPHES.sub("", folded(label)))))


def _known_words(labels: Iterable[str]) -> dict[tuple[str, ...], tuple[int, Meaning]] | None:
    """Return the place and meaning of the words of a shipped scale, or None if none fits.

    A scale fits if it has all of these labels.
    """
    keys = {_key(label) for label in labels}
    return next((words for words in _shipped_words() if keys and keys <= words.keys()), None)


@cache
def _shipped_words() -> tuple[dict[tuple[str, ...], tuple[int, Meaning]], ...]:
    """Return the place and meaning of the words of each shipped scale.

    Numbers are codes, and mean nothing by themselves.
    """
    return tuple(
        {
            _key(value): (position, option.meaning)
            for position, option in enumerate(shipped_scale(name).offered)
            for value in option.values
            if number_in(value) is None
        }
        for name in shipped_scales()
    )


def is_refusal(label: str) -> bool:
    """Return whether a label means no answer: `Don't know`, `DK/Refused (vol.)`, `keine Angabe`."""
    text = _APOSTROPHES.sub("", folded(label))
    parts = [" ".join(part.split()) for part in _PARTS.split(text)]
    phrases = [
        part
        for part in parts
        if part and part not in ("vol", "volunteered") and number_in(part) is None
    ]
    return bool(phrases) and (
        phrases[0] == "missing" or all(REFUSAL.fullmatch(part) for part in phrases)
    )


def _is_missing(code: str, label: str, column: Variable, wanted: SurveyColumns) -> bool:
    if code in column.missing or folded(code) in NOTHING or is_refusal(label or code):
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
    questions: SurveyQuestions,
    wanted: SurveyColumns,
    findings: Findings,
) -> tuple[tuple[Respondent, ...], tuple[str, ...]]:
    """Return the people with at least one answer, and sentences about the others."""
    names = _names(path, [columns[name] for name in wanted.respondent], places, findings)
    weight_roles = replace(wanted, negative_missing=False)  # a weight below 0 is a fault
    weight_cells = {
        name: _cells(columns[name], weight_roles, words=False) for name in wanted.who.weights
    }
    weights = weights_of(path, weight_cells, places, wanted.who, findings)
    notes: list[str] = []
    cells_by_group: dict[str, list[str]] = {}
    for grouping in wanted.who.groups:
        texts = _cells(columns[grouping.column], wanted, words=not grouping.cuts)
        cells, group_notes = groups_of(path, grouping, texts, places, findings)
        cells_by_group[grouping.name] = cells
        notes += group_notes
    people, groups_by_name = _respondents(names, questions, cells_by_group)
    n_silent = len(names) - len(people)
    if n_silent:
        notes.append(
            f"{plural(n_silent, 'respondent')} left out, without an answer to any question."
        )
    respondents, group_notes = with_weights_and_groups(
        people, dict(zip(names, weights, strict=True)), groups_by_name
    )
    return respondents, (*notes, *group_notes)


def _respondents(
    names: Sequence[str], questions: SurveyQuestions, cells_by_group: Mapping[str, Sequence[str]]
) -> tuple[list[Respondent], dict[str, Mapping[str, str]]]:
    """Return the people with an answer, and the groups of each by name.

    People of the same groups share one mapping, since they may be many.
    """
    answers_by_ref = {ref: question.answers for ref, question in questions.items()}
    shared_groups: dict[tuple[str, ...], dict[str, str]] = {}
    people: list[Respondent] = []
    groups_by_name: dict[str, Mapping[str, str]] = {}
    for row, name in enumerate(names):
        answers = {ref: answer for ref, column in answers_by_ref.items() if (answer := column[row])}
        if not answers:
            continue
        people.append(Respondent(name, answers))
        values = tuple(cells[row] for cells in cells_by_group.values())
        groups = {
            group: value for group, value in zip(cells_by_group, values, strict=True) if value
        }
        groups_by_name[name] = shared_groups.setdefault(values, groups)
    return people, groups_by_name


def _cells(column: Variable, wanted: SurveyColumns, *, words: bool) -> list[str]:
    """Return the cells of a column about people: its labels, or its plain values.

    Cells that are no answer are empty.
    """
    texts = column.texts()
    cell_by_text = {
        text: "" if _is_missing(text, column.labels.get(text, ""), column, wanted) else text
        for text in set(texts)
    }
    return [
        (column.labels.get(text) or text) if words and text else text
        for text in map(cell_by_text.__getitem__, texts)
    ]


def _names(
    path: Path, columns: Sequence[Variable], places: Sequence[int], findings: Findings
) -> list[str]:
    if not columns:
        return [str(number) for number in range(1, len(places) + 1)]
    parts = [column.texts() for column in columns]
    names = ["-".join(row) if all(row) else "" for row in zip(*parts, strict=True)]
    column = columns[0].name
    first_places: dict[str, int] = {}
    repeated_places: dict[str, list[int]] = {}
    for name, place in zip(names, places, strict=True):
        if name in first_places:
            repeated_places.setdefault(name, []).append(place)
        first_places.setdefault(name, place)
    empty_places = repeated_places.pop("", []) + ([first_places[""]] if "" in first_places else [])
    if empty_places:
        note_all(findings, path, column, {"": sorted(empty_places)}, "a name for every respondent")
    if repeated_places:
        first_name = next(iter(repeated_places))
        problem = f"{first_name!r} again, after {first_places[first_name]:,}"
        remainder = f", and {len(repeated_places) - 1:,} others" if len(repeated_places) > 1 else ""
        expected = (
            "every respondent once; several columns name one together: --respondent COLUMN,COLUMN"
        )
        findings.add(path, repeated_places[first_name][0], column, problem + remainder, expected)
    return names

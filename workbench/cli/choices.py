"""Multiple-choice questions without a terminal: lists, writing, and the making of forms.

Forms are shown before they are written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import agreed, print_json, say, say_wrapped, table, tell
from workbench.cli.verbs import Namespace, verb
from workbench.commands.audit_options import sections, settle
from workbench.commands.people import changing_person
from workbench.domain.choices import (
    Bias,
    Choice,
    ChoiceItem,
    Perturbation,
    key_in,
    parse_choice,
    ref_of,
)
from workbench.domain.names import listed_words, plural
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, Wording
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, flag
from workbench.options.shared import (
    INSTRUMENT,
    JSON,
    LANGUAGE,
    PERSON,
    SEED,
    STATEMENTS,
    STORE,
    YES,
)
from workbench.regular_files import check_file
from workbench.workshop.options import ERRORS

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.choice_forms import Proposals, ProposedWording, RequestedForms

SHOWN = 40
"proposals that a preview prints; the JSON has all of them"
MOST_NAMED = 8
"refs that a sentence names"
FORMED = (Bias.RESPONSE_ORDER, Bias.OPINION_FLOAT, Bias.ODD_EVEN)
"biases whose changed form follows from the question"
ACTS = {
    "list": "list questions with their bias, topic, options and forms",
    "show": "one question in all its forms, with their differences",
    "add": "write a question, or give an existing question a bias",
    "forms": "make the changed forms that a bias needs",
    "perturb": "make versions with typos",
}
EPILOG = """add writes one question; to import many: workbench import STORE --format choices
PATH. forms and perturb show what they made, and write it when you confirm at
the terminal or give --yes; workbench statements STORE --undo undoes that.
The changed forms of acquiescence and allow_forbid are written by people, or as
drafts: workbench draft STORE --kind changed."""
TEXT = (
    "the question, then one option per line, `A. …`: the text itself, a file, or - for "
    "standard input"
)
KINDS = ",".join(Perturbation)
BIAS = Option("bias", "the questions' bias", choices=tuple(map(str, Bias)))
MAKING = (
    STATEMENTS.but(name="questions", help="the first N, or these by ref or key"),
    flag("replace", "also replace existing forms that differ"),
    PERSON,
    YES.but(help="write without asking"),
)
OF_ACTS = {
    "list": (BIAS,),
    "show": (),
    "add": (
        BIAS,
        Option("key", "key of the question; its ref becomes BIAS.K", metavar="K"),
        Option("text", TEXT, none="default: the text of the statement BIAS.K", metavar="T|FILE|-"),
        Option("changed", "its changed form, likewise", metavar="T|FILE|-"),
        Option("topic", "what it is about", metavar="T"),
        PERSON,
    ),
    "forms": (
        BIAS.but(
            help="make a separate pair where a question has another bias",
            none="the bias of each question",
            choices=tuple(map(str, FORMED)),
        ),
        Option("middle", "odd_even: the middle option of scales of four", metavar="TEXT"),
        Option("dont_know", "opinion_float: the option to add", metavar="TEXT"),
        *MAKING,
    ),
    "perturb": (
        Option("kinds", "kinds of errors", default=KINDS, metavar="KIND,…"),
        ERRORS,
        SEED.of("the typos; the same questions get the same typos"),
        *MAKING,
    ),
}
"act -> options that it has, alone or with other acts"
NEEDED = {"show": ("ref",), "add": ("bias", "key")}


@verb(
    STORE,
    Option("act", "what to do, see below", positional=True, required=True, choices=ACTS),
    Option("ref", "show: a question, or its key if it has one bias", positional=True),
    INSTRUMENT.but(none="the only instrument with such questions"),
    LANGUAGE,
    sections(OF_ACTS),
    JSON,
    epilog=EPILOG,
)
def choices(options: Namespace) -> int:
    """List questions, or carry out an act on them."""
    from stores.core.store import Store

    settle(options, OF_ACTS, options.act, "the act")
    if options.ref is not None and options.act != "show":
        raise UsageError(f"found {options.ref!r}, which belongs to no option of {options.act}")
    if needed := [name for name in NEEDED.get(options.act, ()) if getattr(options, name) is None]:
        raise UsageError(f"{options.act} needs {' and '.join(needed)}")

    with Store.open(options.store) as store:
        name = _instrument(store, options)
        return {"list": _list, "show": _show, "add": _add, "forms": _forms, "perturb": _perturb}[
            options.act
        ](store, options, name)


def _instrument(store: Store, options: Namespace) -> str:
    """Return the named instrument, the only one, or the only one with multiple-choice questions.

    Raises UnknownName for an unknown name, UsageError if there are several instruments or none.
    """
    names = store.instruments.names()
    if options.instrument is not None:
        if options.instrument not in names:
            raise UnknownName(
                f"the store has no instrument {options.instrument!r}. Available: {', '.join(names)}"
            )
        return str(options.instrument)
    with_questions = [name for name in names if store.choices.items(name)]
    if len(with_questions) == 1 or len(names) == 1:
        return (with_questions or list(names))[0]
    raise UsageError(
        "the store has several instruments; name one with --instrument: "
        f"{', '.join(with_questions or names)}"
        if names
        else "the store has no instrument yet; import one: workbench import STORE --format "
        "choices PATH; or make "
        "one: workbench statements STORE --new-instrument NAME"
    )


def _list(store: Store, options: Namespace, name: str) -> int:
    """Print the list of questions."""
    instrument = store.instruments.get(name)
    language = options.language or instrument.language
    items = {item.ref: item for item in instrument.choices if options.bias in (None, item.bias)}
    questions = [
        (statement, items[statement.ref])
        for statement in instrument.statements
        if statement.ref in items
    ]
    if options.json:
        print_json([_plain(statement, item, language) for statement, item in questions])
        return 0
    rows = []
    for statement, item in questions:
        fields = _plain(statement, item, language)
        forms = ", ".join(
            f"{kind} ×{n_forms}" if n_forms > 1 else kind
            for kind, n_forms in fields["forms"].items()
        )
        count = str(len(fields["options"])) if fields["options"] else "?"
        rows.append(
            (
                statement.ref,
                item.bias.value,
                statement.topic or "",
                count,
                forms,
                fields["question"],
            )
        )
    table(["ref", "bias", "topic", "options", "forms", "question"], rows, whole=1)
    say(f"{len(questions):,} {'question' if len(questions) == 1 else 'questions'} of {name}")
    _say_under_none(instrument, language)
    return 0


def _say_under_none(held: Instrument, language: str) -> None:
    """Print the statements that read as questions with options and have no bias.

    No audit asks them as questions.
    """
    from workbench.workshop.checks import reads_as_question

    refs_with_bias = {item.ref for item in held.choices}
    refs = [
        statement.ref
        for statement in held.statements
        if statement.ref not in refs_with_bias and reads_as_question(statement, language)
    ]
    if refs:
        suffix = f" and {len(refs) - MOST_NAMED:,} more" if len(refs) > MOST_NAMED else ""
        say(
            f"without a bias, so not asked: {', '.join(refs[:MOST_NAMED])}{suffix}; to give one "
            "named BIAS.KEY its bias: workbench choices STORE add --bias BIAS --key KEY"
        )


def _plain(statement: Statement, item: ChoiceItem, language: str) -> dict[str, Any]:
    """Return the fields of a question in the list.

    `options` is empty if its original is no question any more.
    """
    original = statement.wording(ORIGINAL, language)
    choice = parse_choice(original.text) if original else None
    forms: dict[str, int] = {}
    for wording in statement.wordings:
        if wording.language == language and wording.variant != ORIGINAL:
            kind = (
                str(wording.variant)
                if wording.variant.kind is CHANGED.kind
                else wording.variant.kind.value
            )
            forms[kind] = forms.get(kind, 0) + 1
    return {
        "ref": statement.ref,
        "key": item.key,
        "bias": item.bias.value,
        "variant": item.variant,
        "topic": statement.topic,
        "question": choice.stem
        if isinstance(choice, Choice)
        else original.text
        if original
        else "",
        "options": list(choice.options) if isinstance(choice, Choice) else [],
        "forms": forms,
        "shares": list(item.shares),
    }


def _show(store: Store, options: Namespace, name: str) -> int:
    from workbench.pipeline.choice_forms import named_question

    ref = named_question(store, name, options.ref)
    statement = store.statements.get(name, ref)
    item = store.choices.items(name).get(ref)
    language = options.language or store.instruments.get(name).language
    wordings = [wording for wording in statement.wordings if wording.language == language]
    original = next((wording for wording in wordings if wording.variant == ORIGINAL), None)
    if original is None:
        raise UsageError(f"{ref} has no original in {language!r}")
    if options.json:
        texts = [
            {"variant": str(wording.variant), "text": wording.text, "author": wording.author}
            for wording in wordings
        ]
        fields = _plain(statement, item, language) if item else {"ref": statement.ref, "bias": None}
        print_json(fields | {"wordings": texts})
        return 0
    details = [item.bias.value if item else "no bias yet", statement.topic or "", language]
    say(f"{statement.ref} · {' · '.join(filter(None, details))}")
    for wording in wordings:
        say(f"\n{_name(wording)}")
        for line in _lines(original.text, wording.text):
            say(f"    {line}")
    return 0


def _name(wording: Wording) -> str:
    return f"{wording.variant}" + (f" · {wording.author}" if wording.author else "")


def _add(store: Store, options: Namespace, name: str) -> int:
    from workbench.pipeline.choice_forms import add_question

    if options.text == "-" and options.changed == "-":
        raise UsageError(
            "standard input can be only one of the texts: give --text or --changed as a file"
        )
    language = options.language or store.instruments.get(name).language
    bias, person = Bias(options.bias), changing_person(options.person)
    text = (
        _text_of(options.text, "--text")
        if options.text is not None
        else _held(store, name, options, language)
    )
    changed_text = _text_of(options.changed, "--changed") if options.changed is not None else ""
    topic = options.topic or None
    statement = Statement(
        options.key,
        (Wording(ORIGINAL, language, text, person),),
        topic=topic,
        languages=(language,),
    )
    done = add_question(store, name, bias, statement, changed_text, person=person)
    return tell(options, done.sentence, {"said": done.sentence, "refs": done.refs})


def _held(store: Store, name: str, options: Namespace, language: str) -> str:
    """Return the text of the statement that has the question's ref already.

    Raises UsageError if there is none.
    """
    ref = ref_of(Bias(options.bias), key_in(options.key))
    refs = {line.ref for line in store.instruments.lines(name)}
    wording = store.statements.get(name, ref).wording(ORIGINAL, language) if ref in refs else None
    if wording is None:
        raise UsageError(f"found no text and no statement {ref}; give the text with --text")
    return wording.text


def _text_of(given: str, option: str) -> str:
    """Return the text of a question.

    `-` stands for standard input. A value with several lines is the text, and any other is a file.
    """
    if given == "-":
        return sys.stdin.read()
    if "\n" in given:
        return given
    try:
        return check_file(Path(given)).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{option}: {given!r} is not a readable file; give a file, - for standard input, or "
            "the question with one option per line"
        ) from error


def _forms(store: Store, options: Namespace, name: str) -> int:
    from workbench.pipeline.choice_forms import RequestedForms
    from workbench.workshop.choice_forms import DONT_KNOW

    request = RequestedForms(
        bias=Bias(options.bias) if options.bias else None,
        own=options.bias is None,
        middle=options.middle,
        dont_know=DONT_KNOW if options.dont_know is None else options.dont_know,
        language=options.language or "",
    )
    return _make(store, options, name, request)


def _perturb(store: Store, options: Namespace, name: str) -> int:
    from workbench.pipeline.choice_forms import RequestedForms

    kinds = listed_words(options.kinds.replace("-", "_"))
    if unknown := [kind for kind in kinds if kind not in tuple(Perturbation)]:
        raise UnknownName(
            f"--kinds: found {', '.join(map(repr, unknown))}. Available: {', '.join(Perturbation)}"
        )
    perturbations = tuple(map(Perturbation, dict.fromkeys(kinds)))
    request = RequestedForms(
        perturbations=perturbations,
        draws=options.draws,
        seed=options.seed,
        language=options.language or "",
    )
    return _make(store, options, name, request)


def _make(store: Store, options: Namespace, name: str, wanted: RequestedForms) -> int:
    """Show the proposals, and write them with --yes or if a person at a terminal agrees."""
    from workbench.pipeline.choice_forms import accept, named_questions, propose
    from workbench.pipeline.planning import named_statements

    refs = named_questions(store, name, named_statements(store, name, options.questions or ""))
    proposals = propose(store, name, refs, wanted)
    if not options.json:
        _preview(proposals)
    ready = [proposal for proposal in proposals.made if options.replace or proposal.held is None]
    is_agreed = bool(ready) and (
        options.yes
        or (
            not options.json
            and agreed(f"Write {plural(len(ready), 'wording')}? [y/N] ", default=False)
        )
    )
    done = (
        accept(store, proposals, person=changing_person(options.person), replace=options.replace)
        if is_agreed
        else None
    )
    if options.json:
        print_json(
            _as_json(proposals) | {"written": is_agreed, "said": done.sentence if done else ""}
        )
    elif done is not None:
        say(done.sentence)
    elif ready:
        say("Nothing was written; --yes writes it.")
    elif proposals.made:
        say("Nothing was written; --replace replaces the existing texts with these.")
    return 0


def _preview(proposals: Proposals) -> None:
    for proposal in proposals.made[:SHOWN]:
        for line in _proposal(proposal):
            say(line)
    if len(proposals.made) > SHOWN:
        say(f"… and {len(proposals.made) - SHOWN:,} more; --json prints all")
    say_wrapped(proposals.describe())


def _proposal(proposal: ProposedWording) -> Iterator[str]:
    """Yield the lines of a proposal: a heading, the text with its differences, and the remarks.

    Differences are from the text that it was made from.
    """
    new = f" · new, from {proposal.of}" if proposal.of and proposal.variant == ORIGINAL else ""
    replacement = " · replaces another text" if proposal.held is not None else ""
    yield f"{proposal.ref} · {proposal.variant}{new}{replacement}"
    yield from (f"    {line}" for line in _lines(proposal.before, proposal.text))
    yield from (f"  ! {remark}" for remark in proposal.remarks)


def _lines(before: str, after: str) -> Iterator[str]:
    """Yield the lines of a text with its differences from an earlier one.

    Changed words are marked as `−[was] +[is]`, and options with what became of them. If the
    question differs and the options do not, the options are left out.
    """
    from workbench.workshop.choice_forms import option_lines

    old, new = parse_choice(before), parse_choice(after)
    if not isinstance(old, Choice) or not isinstance(new, Choice):
        yield from after.split("\n")
        return
    yield from (f"  {line}" for line in _stem(old.stem, new.stem).split("\n"))
    if old.options == new.options and old != new:
        return
    for line in option_lines(old, new):
        note = f"  ({line.mark})" if line.mark.startswith("was") else ""
        yield f"{line.mark if len(line.mark) == 1 else ' '} {line.letter}. {line.text}{note}"


def _stem(before: str, after: str) -> str:
    """Return a question with its changed words marked, or as it is if hardly a word is the same."""
    from workbench.tui.format import word_diff
    from workbench.workshop.choice_forms import word_pairs

    if before == after:
        return after
    if pairs := word_pairs(before, after):
        return " ".join(new if old == new else f"−[{old}] +[{new}]" for old, new in pairs)
    _, segments = word_diff(before, after)
    if sum(len(segment.text) for segment in segments if not segment.changed) < len(after) / 4:
        return after
    return "".join(
        _marked(segment.text) if segment.changed else segment.text for segment in segments
    )


def _marked(text: str) -> str:
    """Return a text marked as added, with the spaces at its end outside the mark."""
    stripped = text.rstrip()
    return f"+[{stripped}]{text[len(stripped) :]}" if stripped else text


def _as_json(proposals: Proposals) -> dict[str, Any]:
    return {
        "instrument": proposals.instrument,
        "proposals": [
            {
                "ref": proposal.ref,
                "variant": str(proposal.variant),
                "before": proposal.before,
                "text": proposal.text,
                "words": [list(pair) for pair in proposal.words],
                "author": proposal.author,
                "remarks": list(proposal.remarks),
                "replaces": proposal.held,
                "of": proposal.of or proposal.ref,
            }
            for proposal in proposals.made
        ],
        "refused": [
            {"ref": refusal.ref, "what": refusal.what, "why": refusal.why}
            for refusal in proposals.refused
        ],
        "there": proposals.there,
    }

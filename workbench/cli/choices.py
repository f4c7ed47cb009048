"""Multiple-choice questions without a terminal: lists, writing, and the making of forms.

Forms are shown before they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench.cli.output import agreed, print_json, print_outcome, say, say_wrapped, table
from workbench.cli.verbs import Namespace, verb
from workbench.commands.audit_options import sections, settle
from workbench.commands.choices import (
    BIAS,
    AddQuestionCommand,
    FormsCommand,
    MakeFormsCommand,
    PerturbQuestionsCommand,
    questions_instrument,
)
from workbench.domain.choices import Choice, ChoiceItem, parse_choice
from workbench.domain.names import plural
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, Wording
from workbench.errors import UsageError
from workbench.options.option import Option
from workbench.options.shared import INSTRUMENT, JSON, LANGUAGE, STORE, YES

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.choice_forms import Proposals, ProposedWording

SHOWN = 40
"proposals that a preview prints; the JSON has all of them"
MOST_NAMED = 8
"refs that a sentence names"
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
COMMANDS = (AddQuestionCommand, MakeFormsCommand, PerturbQuestionsCommand)
"commands that write questions"


def _named(options: Mapping[str, Option], names: str) -> tuple[Option, ...]:
    """Return options by their names. None is required, as other acts do without it."""
    return tuple(options[name].but(required=False) for name in names.split())


_QUESTIONS, _REPLACE, _PERSON = _named(FormsCommand.options(), "questions replace person")
_MAKING = (_QUESTIONS, _REPLACE, _PERSON, YES.but(help="write without asking"))
OF_ACTS = {
    "list": (BIAS,),
    "show": (),
    "add": (*_named(AddQuestionCommand.options(), "bias key text changed topic"), _PERSON),
    "forms": (*_named(MakeFormsCommand.options(), "bias middle dont_know"), *_MAKING),
    "perturb": (*_named(PerturbQuestionsCommand.options(), "kinds draws seed"), *_MAKING),
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
        name = questions_instrument(store, options.instrument)
        if options.act == "list":
            return _list(store, options, name)
        if options.act == "show":
            return _show(store, options, name)
        by_word = {command.ACT_WORD: command for command in COMMANDS}
        command = by_word[options.act].from_arguments(options)
        if isinstance(command, FormsCommand):
            return _make(store, options, command)
        return print_outcome(options, command.run(store))


def _make(store: Store, options: Namespace, command: FormsCommand) -> int:
    """Show the proposals, and write them with --yes or if a person at a terminal agrees."""
    proposals = command.proposals(store)
    if not options.json:
        _preview(proposals)
    n_writable = len(command.writable(proposals))
    is_agreed = n_writable > 0 and (options.yes or (not options.json and _agrees(n_writable)))
    outcome = command.write(store, proposals) if is_agreed else command.unwritten(proposals)
    if options.json:
        print_json(outcome.data)
    elif proposals.made:
        say(outcome.sentence)
    return 0


def _agrees(n_wordings: int) -> bool:
    return agreed(f"Write {plural(n_wordings, 'wording')}? [y/N] ", default=False)


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

"""Multiple-choice questions without a terminal: written, listed, and forms that are shown before
they are written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.audit_options import sections, settle
from workbench.cli.output import agreed, changed_by, print_json, say, say_wrapped, table, tell
from workbench.cli.verbs import Namespace, verb
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
    from workbench.pipeline.choice_forms import Proposal, Proposals, Wanted

SHOWN = 40
"proposals that a preview prints; all of them are counted, and in the JSON"
MOST_NAMED = 8
"refs in a sentence"
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
"act -> options that it alone, or with others, has"
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
    """Return the instrument that is meant: the only one, or the only one with multiple-choice
    questions.
    """
    names = store.instruments.names()
    if options.instrument is not None:
        if options.instrument not in names:
            raise UnknownName(
                f"the store has no instrument {options.instrument!r}. Available: {', '.join(names)}"
            )
        return str(options.instrument)
    asking = [name for name in names if store.choices.items(name)]
    if len(asking) == 1 or len(names) == 1:
        return (asking or list(names))[0]
    raise UsageError(
        "the store has several instruments; name one with --instrument: "
        f"{', '.join(asking or names)}"
        if names
        else "the store has no instrument yet; import one: workbench import STORE --format "
        "choices PATH; or make "
        "one: workbench statements STORE --new-instrument NAME"
    )


def _list(store: Store, options: Namespace, name: str) -> int:
    held = store.instruments.get(name)
    language = options.language or held.language
    items = {item.ref: item for item in held.choices if options.bias in (None, item.bias)}
    found = [
        (statement, items[statement.ref]) for statement in held.statements if statement.ref in items
    ]
    if options.json:
        print_json([_plain(statement, item, language) for statement, item in found])
        return 0
    rows = []
    for statement, item in found:
        about = _plain(statement, item, language)
        forms = ", ".join(f"{kind} ×{n}" if n > 1 else kind for kind, n in about["forms"].items())
        count = str(len(about["options"])) if about["options"] else "?"
        rows.append(
            (statement.ref, item.bias.value, statement.topic or "", count, forms, about["question"])
        )
    table(["ref", "bias", "topic", "options", "forms", "question"], rows, whole=1)
    say(f"{len(found):,} {'question' if len(found) == 1 else 'questions'} of {name}")
    _say_under_none(held, language)
    return 0


def _say_under_none(held: Instrument, language: str) -> None:
    """Name statements that read as questions with options and stand under no bias: no audit asks
    them as such.
    """
    from workbench.workshop.checks import reads_as_question

    known = {item.ref for item in held.choices}
    refs = [
        one.ref
        for one in held.statements
        if one.ref not in known and reads_as_question(one, language)
    ]
    if refs:
        more = f" and {len(refs) - MOST_NAMED:,} more" if len(refs) > MOST_NAMED else ""
        say(
            f"without a bias, so not asked: {', '.join(refs[:MOST_NAMED])}{more}; to give one "
            "named BIAS.KEY its "
            "bias: workbench choices STORE add --bias BIAS --key KEY"
        )


def _plain(statement: Statement, item: ChoiceItem, language: str) -> dict[str, Any]:
    """Return what the list says of a question; without options where its original is no question
    any more.
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
        texts = [{"variant": str(w.variant), "text": w.text, "author": w.author} for w in wordings]
        about = _plain(statement, item, language) if item else {"ref": statement.ref, "bias": None}
        print_json(about | {"wordings": texts})
        return 0
    about_it = [item.bias.value if item else "no bias yet", statement.topic or "", language]
    say(f"{statement.ref} · {' · '.join(filter(None, about_it))}")
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
    bias, person = Bias(options.bias), changed_by(options)
    text = (
        _text_of(options.text, "--text")
        if options.text is not None
        else _held(store, name, options, language)
    )
    changed = _text_of(options.changed, "--changed") if options.changed is not None else ""
    topic = options.topic or None
    written = Statement(
        options.key,
        (Wording(ORIGINAL, language, text, person),),
        topic=topic,
        languages=(language,),
    )
    done = add_question(store, name, bias, written, changed, person=person)
    return tell(options, done.sentence, {"said": done.sentence, "refs": done.refs})


def _held(store: Store, name: str, options: Namespace, language: str) -> str:
    """Return the text of the statement that has the question's ref already. Raises UsageError where
    there is none.
    """
    ref = ref_of(Bias(options.bias), key_in(options.key))
    refs = {line.ref for line in store.instruments.lines(name)}
    held = store.statements.get(name, ref).wording(ORIGINAL, language) if ref in refs else None
    if held is None:
        raise UsageError(f"found no text and no statement {ref}; give the text with --text")
    return held.text


def _text_of(given: str, option: str) -> str:
    """Return the text of a question: standard input for `-`, as given where it has lines, else that
    of a file.
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
            "the question with "
            "one option per line"
        ) from error


def _forms(store: Store, options: Namespace, name: str) -> int:
    from workbench.pipeline.choice_forms import Wanted
    from workbench.workshop.choice_forms import DONT_KNOW

    wanted = Wanted(
        bias=Bias(options.bias) if options.bias else None,
        own=options.bias is None,
        middle=options.middle,
        dont_know=DONT_KNOW if options.dont_know is None else options.dont_know,
        language=options.language or "",
    )
    return _make(store, options, name, wanted)


def _perturb(store: Store, options: Namespace, name: str) -> int:
    from workbench.pipeline.choice_forms import Wanted

    kinds = listed_words(options.kinds.replace("-", "_"))
    if odd := [kind for kind in kinds if kind not in tuple(Perturbation)]:
        raise UnknownName(
            f"--kinds: found {', '.join(map(repr, odd))}. Available: {', '.join(Perturbation)}"
        )
    perturbations = tuple(map(Perturbation, dict.fromkeys(kinds)))
    wanted = Wanted(
        perturbations=perturbations,
        draws=options.draws,
        seed=options.seed,
        language=options.language or "",
    )
    return _make(store, options, name, wanted)


def _make(store: Store, options: Namespace, name: str, wanted: Wanted) -> int:
    """Show what was made; write it with --yes, or once a person at a terminal said so."""
    from workbench.pipeline.choice_forms import accept, named_questions, propose
    from workbench.pipeline.planning import named_statements

    refs = named_questions(store, name, named_statements(store, name, options.questions or ""))
    proposals = propose(store, name, refs, wanted)
    if not options.json:
        _preview(proposals)
    ready = [one for one in proposals.made if options.replace or one.held is None]
    write = bool(ready) and (
        options.yes
        or (
            not options.json
            and agreed(f"Write {plural(len(ready), 'wording')}? [y/N] ", default=False)
        )
    )
    done = (
        accept(store, proposals, person=changed_by(options), replace=options.replace)
        if write
        else None
    )
    if options.json:
        print_json(_as_json(proposals) | {"written": write, "said": done.sentence if done else ""})
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


def _proposal(proposal: Proposal) -> Iterator[str]:
    """Yield a proposal: what it is, the text with what differs from the one it was made from, and
    what to look at.
    """
    new = f" · new, from {proposal.of}" if proposal.of and proposal.variant == ORIGINAL else ""
    instead = " · replaces another text" if proposal.held is not None else ""
    yield f"{proposal.ref} · {proposal.variant}{new}{instead}"
    yield from (f"    {line}" for line in _lines(proposal.before, proposal.text))
    yield from (f"  ! {remark}" for remark in proposal.remarks)


def _lines(before: str, after: str) -> Iterator[str]:
    """Yield a text with what differs from the one before: words as `−[was] +[is]`, options by what
    became of them.

    Options that are all as they were are left out where the question is another.
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
        mark = f"  ({line.mark})" if line.mark.startswith("was") else ""
        yield f"{line.mark if len(line.mark) == 1 else ' '} {line.letter}. {line.text}{mark}"


def _stem(before: str, after: str) -> str:
    """Return a question with its changed words marked; as it is where hardly a word is the same."""
    from workbench.tui.format import word_diff
    from workbench.workshop.choice_forms import word_pairs

    if before == after:
        return after
    if pairs := word_pairs(before, after):
        return " ".join(new if old == new else f"−[{old}] +[{new}]" for old, new in pairs)
    _, added = word_diff(before, after)
    if sum(len(part.text) for part in added if not part.changed) < len(after) / 4:
        return after
    return "".join(_marked(part.text) if part.changed else part.text for part in added)


def _marked(text: str) -> str:
    words = text.rstrip()
    return f"+[{words}]{text[len(words) :]}" if words else text


def _as_json(proposals: Proposals) -> dict[str, Any]:
    return {
        "instrument": proposals.instrument,
        "proposals": [
            {
                "ref": one.ref,
                "variant": str(one.variant),
                "before": one.before,
                "text": one.text,
                "words": [list(pair) for pair in one.words],
                "author": one.author,
                "remarks": list(one.remarks),
                "replaces": one.held,
                "of": one.of or one.ref,
            }
            for one in proposals.made
        ],
        "refused": [
            {"ref": one.ref, "what": one.what, "why": one.why} for one in proposals.refused
        ],
        "there": proposals.there,
    }

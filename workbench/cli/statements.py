"""The statement editor without a terminal: lists, and single acts that print what they did."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.cli.output import changed_by, print_json, say, table, tell
from workbench.cli.verbs import Namespace, verb
from workbench.domain.choices import Choice, parse_choice
from workbench.domain.names import listed_words, plural
from workbench.domain.statements import (
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import UsageError
from workbench.options.option import Option, Section, flag
from workbench.options.shared import DRY_RUN, INSTRUMENT, JSON, LANGUAGE, PERSON, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

BULK = ("tag", "untag", "set", "replace", "strip")
"acts on --refs"


def bulk(store: Store, options: Namespace, name: str) -> Done:
    """Change the statements of --refs."""
    from workbench.pipeline.editing import change_all

    change, act = _change(options)
    return change_all(
        store, name, _chosen(store, options, name), change, person=changed_by(options), act=act
    )


def preview(store: Store, options: Namespace, name: str) -> int:
    """Print the changes that an act would make to many statements."""
    if all(getattr(options, option) in (None, False) for option in BULK):
        raise UsageError(f"--dry-run needs one of {', '.join('--' + option for option in BULK)}")
    change, act = _change(options)
    current = _chosen(store, options, name)
    updated = {
        ref: new_statement
        for ref, statement in current.items()
        if (new_statement := change(statement)) != statement
    }
    if options.json:
        print_json(
            {
                "act": act,
                "before": [current[ref] for ref in updated],
                "after": list(updated.values()),
            }
        )
        return 0
    for ref, new_statement in updated.items():
        say(ref)
        for old_wording, new_wording in zip(
            current[ref].wordings, new_statement.wordings, strict=True
        ):
            if old_wording.text != new_wording.text:
                say(f"  − {old_wording.variant} {old_wording.language}  {old_wording.text}")
                say(f"  + {new_wording.variant} {new_wording.language}  {new_wording.text}")
    say(f"{act}: {len(updated):,} of {len(current):,} statements would change; nothing was written")
    return 0


def _change(options: Namespace) -> tuple[Callable[[Statement], Statement], str]:
    """Return the function that changes a statement, and the description of the act."""
    from workbench.workshop.edits import replaced, stripped, with_field, with_tag, without_tag

    if options.tag is not None:
        return partial(with_tag, tag=options.tag), f"tagged {options.tag}"
    if options.untag is not None:
        return partial(without_tag, tag=options.untag), f"untagged {options.untag}"
    if options.replace is not None:
        old, new = options.replace
        return partial(replaced, old=old, new=new), f"replaced “{old}” by “{new}”"
    if options.strip:
        return stripped, "stripped spaces"
    field, equals, value = options.set.partition("=")
    if not equals:
        raise UsageError(f"found --set {options.set!r}; give FIELD=VALUE, such as topic=housing")
    return partial(
        with_field, field=field.strip(), text=value
    ), f"set {field.strip()} to {value or 'nothing'}"


def _chosen(store: Store, options: Namespace, name: str) -> dict[str, Statement]:
    """Return the statements of --refs by ref. Raises UsageError without refs."""
    refs = listed_words(options.refs, [line.ref for line in store.instruments.lines(name)])
    if not refs:
        raise UsageError("no statements given; name them with --refs A,B")
    return {ref: store.statements.get(name, ref) for ref in refs}


_UNDER_NO_BIAS = (
    "It is a question with options, without a bias yet: workbench choices STORE add --bias BIAS "
    "--key KEY gives it "
    "one if its ref is BIAS.KEY; choices STORE forms --bias BIAS makes a pair from it."
)

Act = Callable[["Store", Namespace, str], "Done"]
EPILOG = """Without an act, statements are listed. Variants have the names used in lists:
original, negation, paraphrase-2. Every act prints what it did; --undo undoes
the newest act of --person."""
REFS = Option("refs", "of --tag, --untag, --set, --replace, --strip", metavar="A,B")
ANSWERS_SHOWN = 50
LISTING = (
    Option("search", "in refs, topics, tags and every wording", default="", metavar="TEXT"),
    Option("issue", "related to this policy issue", default=""),
    Option("tagged", "with this tag", default="", metavar="TAG"),
    flag("archived", "archived statements instead of current ones"),
)
ACTED = (
    Option(
        "add",
        "a statement; with --text, or only --question to use a rule's proposal",
        metavar="REF",
    ),
    Option("edit", "change a wording's text; with --text, --variant, --language", metavar="REF"),
    Option(
        "add_variant",
        "with --text; or a translation: --language, and the variant as KIND",
        metavar=("REF", "KIND"),
    ),
    Option("delete_variant", metavar=("REF", "VARIANT")),
    Option("relation", "expect same, flipped or free", metavar=("REF", "VARIANT", "WHAT")),
    Option("rename", metavar=("REF", "NEW")),
    Option("derive", "set what a statement derives from", metavar=("REF", "FROM")),
    Option("tag", "tag the statements of --refs", metavar="TAG"),
    Option("untag", metavar="TAG"),
    Option("set", "topic, country, source, dimension, leaning of --refs", metavar="FIELD=VALUE"),
    Option("replace", "in all wordings of --refs; case-sensitive", metavar=("OLD", "NEW")),
    flag("strip", "strip stray spaces from the wordings of --refs"),
    Option("archive", metavar="A,B"),
    Option("restore", metavar="A,B"),
    Option("history", "versions, what uses each, and who changed what", metavar="REF"),
    Option(
        "answers", "models' answers that contain these words, from the whole store", metavar="WORDS"
    ),
    flag("undo", "undo the newest act of --person"),
    Option("new_instrument", "with --title, --language, --scheme", metavar="NAME"),
)
VALUES = (
    Option("text", "- reads it from standard input", metavar="T"),
    Option("question", "question that the statement answers", metavar="Q"),
    Option("variant", default="original", metavar="V"),
    LANGUAGE,
    Option("country", default=""),
    Option("topic", default=""),
    Option("source", "survey or test that it comes from", default=""),
    Option("tags", default="", metavar="A,B"),
    Option("title", "of a new instrument", default=""),
    Option("scheme", "policy issues of a new instrument: smartvote", default=""),
)


@verb(
    STORE,
    INSTRUMENT,
    PERSON,
    REFS,
    DRY_RUN.but(help="show what would change, and stop"),
    Section("Listing", LISTING),
    Section("Acts, one at a time", ACTED, one_of=True),
    Section("What a statement, a wording or an instrument is", VALUES),
    JSON,
    about="List, write, vary, tag, archive statements, and show their versions.",
    epilog=EPILOG,
)
def statements(options: Namespace) -> int:
    """List statements, or carry out one act."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        if options.new_instrument is not None:
            return _said(options, _start(store, options))
        if options.answers is not None:
            return _answers(store, options)
        name = _instrument(store, options)
        if options.history is not None:
            return _history(store, options, name)
        act = next(
            (act for option, act in ACTS.items() if getattr(options, option) not in (None, False)),
            None,
        )
        if act is None:
            return _list(store, options, name)
        if options.dry_run:
            return preview(store, options, name)
        return _said(options, act(store, options, name))


def _answers(store: Store, options: Namespace) -> int:
    """Print the answers that contain some words, and the source of each.

    Only answers to one instrument are printed if it is named.
    """
    from stores.runs.answers import answers_with
    from workbench.domain.names import places

    if not options.answers.strip():
        raise UsageError("--answers: found no word to look for")
    matches, offset = [], 0
    while page := answers_with(store.connection, options.answers, offset=offset):
        matches += [
            row
            for row in page
            if options.instrument in (None, row.instrument) and places(row.text, options.answers)
        ]
        offset += len(page)
        if len(matches) >= ANSWERS_SHOWN and not options.json:
            break
    if options.json:
        print_json([asdict(row) for row in matches])
        return 0
    for row in matches[:ANSWERS_SHOWN]:
        swapped = " swapped" if row.inverted else ""
        seed = "" if row.seed is None else f"seed {row.seed} · "
        say(
            f"{row.count}x {row.instrument} {row.ref} {row.variant} · {row.template}{swapped} · "
            f"{row.model} · "
            f"{seed}job {row.job}\n{row.text}\n"
        )
    has_more = len(matches) > ANSWERS_SHOWN
    say(
        f"The first {ANSWERS_SHOWN} answers; --json prints all."
        if has_more
        else f"{plural(len(matches), 'answer')} found."
    )
    return 0


def _said(options: Namespace, done: Done) -> int:
    """Print the outcome of an act."""
    return tell(options, done.sentence, {"said": done.sentence, "refs": done.refs})


def _instrument(store: Store, options: Namespace) -> str:
    """Return the named instrument, or the only one.

    Raises UsageError if there are none or several.
    """
    names = store.instruments.names()
    if options.instrument is not None or len(names) == 1:
        return str(options.instrument or names[0])
    if not names:
        raise UsageError(
            "the store has no instrument yet; make one: workbench statements STORE "
            "--new-instrument NAME"
        )
    raise UsageError(
        f"the store has several instruments; name one with --instrument: {', '.join(names)}"
    )


def _list(store: Store, options: Namespace, name: str) -> int:
    """Print the list of statements."""
    from stores.instruments.instruments import Filters

    filters = Filters(
        search=options.search,
        issue=options.issue,
        tag=options.tagged,
        language=options.language or "",
        archived=options.archived,
    )
    lines = store.instruments.lines(name, filters)
    if options.json:
        print_json([_as_json(store, name, line.ref, line.version) for line in lines])
        return 0
    table(
        ["ref", "v", "statement", "country", "topic", "tags", "wordings", "languages"],
        [
            (
                line.ref,
                str(line.version),
                line.text,
                line.country or "",
                line.topic or "",
                ", ".join(line.tags),
                str(line.variants),
                str(line.languages),
            )
            for line in lines
        ],
    )
    say(f"{len(lines):,} statements of {name}" + (", archived" if options.archived else ""))
    return 0


def _as_json(store: Store, name: str, ref: str, version: int) -> dict[str, Any]:
    from workbench.figures.json_values import to_json_values

    statement = store.statements.get(name, ref, version)
    fields: dict[str, Any] = to_json_values(statement)
    fields["wordings"] = [
        {
            "variant": str(wording.variant),
            "language": wording.language,
            "text": wording.text,
            "author": wording.author,
            "relation": wording.relation.value,
        }
        for wording in statement.wordings
    ]
    return fields


def _history(store: Store, options: Namespace, name: str) -> int:
    """Print the versions of a statement and its edits."""
    ref = options.history
    versions = store.statements.history(name, ref)
    edits = store.statements.edits(name, ref)
    if not versions:
        store.statements.get(name, ref)  # says that there is none
    if options.json:
        print_json(
            {
                "versions": [
                    {
                        "current": version.current,
                        "archived": version.archived,
                        "at": version.created_at,
                        "answers": version.answers,
                        "labels": version.labels,
                        "survey": version.survey,
                    }
                    | _as_json(store, name, ref, version.statement.version)
                    for version in versions
                ],
                "edits": [
                    {"at": edit.at, "person": edit.person, "act": edit.act, "undone": edit.undone}
                    for edit in edits
                ],
            }
        )
        return 0
    rows = [
        (
            str(version.statement.version),
            "current" if version.current else "archived" if version.archived else "earlier",
            version.created_at[:16].replace("T", " "),
            f"{version.answers:,}",
            f"{version.labels:,}",
            f"{version.survey:,}",
            next(
                (
                    wording.text
                    for wording in version.statement.wordings
                    if wording.variant == ORIGINAL
                ),
                "",
            ),
        )
        for version in versions
    ]
    table(["v", "", "since", "answers", "labels", "survey", "original"], rows)
    for edit in edits:
        say(
            f"{edit.at[:16].replace('T', ' ')}  {edit.person}  {edit.act}"
            + (" (undone)" if edit.undone else "")
        )
    return 0


def _start(store: Store, options: Namespace) -> Done:
    """Make an instrument."""
    from workbench.data import shipped_issue_scheme
    from workbench.pipeline.editing import Done

    name = options.new_instrument
    definitions = shipped_issue_scheme(options.scheme).issues if options.scheme else ()
    store.statements.start(name, options.title, options.language or "en", definitions=definitions)
    return Done(
        f"Made the instrument {name}. Next: workbench statements STORE --add REF --text TEXT",
        (name,),
    )


def _add(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import outcome
    from workbench.workshop.edits import tag_names, with_field
    from workbench.workshop.english import stated

    language, person = _language(store, options, name), changed_by(options)
    text, author = options.text, person
    if text is None and options.question:
        proposal = stated(options.question)
        if proposal is None:
            raise UsageError(
                "no rule turns this question into a statement; give the statement with --text"
            )
        text = proposal.text
    wordings = [Wording(ORIGINAL, language, _text(options, text), author)]
    if options.question:
        wordings.append(Wording(QUESTION, language, options.question, author))
    statement = Statement(
        options.add, tuple(wordings), languages=(language,), tags=tag_names(options.tags)
    )
    for field in ("country", "topic", "source"):
        statement = with_field(statement, field, getattr(options, field))
    changes = store.statements.create(name, [statement], person=person)
    done = outcome(store, name, changes)
    if isinstance(
        parse_choice(wordings[0].text), Choice
    ) and options.add not in store.choices.items(name):
        return replace(done, sentence=f"{done.sentence} {_UNDER_NO_BIAS}")
    return replace(done, sentence=f"{done.sentence} “{text}”") if options.text is None else done


def _edit(store: Store, options: Namespace, name: str) -> Done:
    return _write(store, options, name, options.edit, _variant(options.variant), must_be_there=True)


def _add_variant(store: Store, options: Namespace, name: str) -> Done:
    from workbench.workshop.edits import next_variant

    ref, kind = options.add_variant
    statement = store.statements.get(name, ref)
    kinds = [variant.value for variant in VariantKind]
    if kind in kinds and not _translates(store, options, name, statement, kind):
        variant = next_variant(statement, VariantKind(kind))
    else:
        variant = _variant(kind)
    return _write(store, options, name, ref, variant, must_be_there=False)


def _translates(
    store: Store, options: Namespace, name: str, statement: Statement, kind: str
) -> bool:
    """Return whether this kind of variant exists in another language and not in this one.

    Then the same variant is meant.
    """
    language, variant = _language(store, options, name), VariantId(VariantKind(kind))
    languages = {wording.language for wording in statement.wordings if wording.variant == variant}
    return bool(languages) and language not in languages


def _write(
    store: Store,
    options: Namespace,
    name: str,
    ref: str,
    variant: VariantId,
    *,
    must_be_there: bool,
) -> Done:
    """Write the text of a wording, which must exist or must not exist yet."""
    from workbench.pipeline.editing import change_all
    from workbench.workshop.edits import with_text

    language, person = _language(store, options, name), changed_by(options)
    statement = store.statements.get(name, ref)
    existing = statement.wording(variant, language)
    if (existing is not None) != must_be_there:
        available = ", ".join(
            f"{wording.variant} ({wording.language})" for wording in statement.wordings
        )
        hint = (
            f"--edit {ref} --variant {variant} changes it"
            if existing
            else f"it has {available}; --add-variant adds one"
        )
        raise UsageError(
            f"{ref} has {'a' if existing else 'no'} {variant} in "
            f"{language}{' already' if existing else ''}; {hint}"
        )
    change = partial(
        with_text,
        variant=variant,
        language=language,
        text=_text(options, options.text),
        author=person,
    )
    act = f"{'edited' if must_be_there else 'added'} {variant}"
    return change_all(store, name, {ref: statement}, change, person=person, act=act)


def _delete_variant(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import change_all
    from workbench.workshop.edits import without

    ref, variant = options.delete_variant[0], _variant(options.delete_variant[1])
    change = partial(without, variant=variant, language=_language(store, options, name))
    statement_by_ref = {ref: store.statements.get(name, ref)}
    return change_all(
        store, name, statement_by_ref, change, person=changed_by(options), act=f"deleted {variant}"
    )


def _relation(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import change_all
    from workbench.workshop.edits import with_relation

    ref, variant, relation_name = options.relation
    if relation_name not in [relation.value for relation in Relation]:
        raise UsageError(f"found the relation {relation_name!r}; give one of same, flipped, free")
    change = partial(with_relation, variant=_variant(variant), relation=Relation(relation_name))
    statement_by_ref = {ref: store.statements.get(name, ref)}
    return change_all(
        store,
        name,
        statement_by_ref,
        change,
        person=changed_by(options),
        act=f"expected {relation_name} of {variant}",
    )


def _rename(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import outcome

    ref, new_ref = options.rename
    return outcome(
        store, name, store.statements.rename(name, ref, new_ref, person=changed_by(options))
    )


def _derive(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import change_all

    ref, parent = options.derive
    statement_by_ref = {ref: store.statements.get(name, ref)}
    act = f"derived from {parent}" if parent else "derived from nothing"
    return change_all(
        store,
        name,
        statement_by_ref,
        lambda statement: replace(statement, derived_from=parent or None),
        person=changed_by(options),
        act=act,
    )


def _archive(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import outcome

    refs = listed_words(options.archive, [line.ref for line in store.instruments.lines(name)])
    return outcome(store, name, store.statements.archive(name, refs, person=changed_by(options)))


def _restore(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import outcome

    refs = listed_words(options.restore, store.statements.archived(name))
    return outcome(store, name, store.statements.restore(name, refs, person=changed_by(options)))


def _undo(store: Store, options: Namespace, name: str) -> Done:
    from workbench.pipeline.editing import undo

    return undo(store, name, changed_by(options))


ACTS: dict[str, Act] = {
    "add": _add,
    "edit": _edit,
    "add_variant": _add_variant,
    "delete_variant": _delete_variant,
    "relation": _relation,
    "rename": _rename,
    "derive": _derive,
    "archive": _archive,
    "restore": _restore,
    "undo": _undo,
    **dict.fromkeys(BULK, bulk),
}
"option -> the function that carries it out"


def _language(store: Store, options: Namespace, name: str) -> str:
    """Return the language of --language, or that of the instrument."""
    if options.language:
        return str(options.language)
    return next(
        summary.language for summary in store.instruments.summaries() if summary.name == name
    )


def _variant(text: str) -> VariantId:
    try:
        return VariantId.parse(text)
    except ValueError as error:
        kinds = ", ".join(kind.value for kind in VariantKind)
        raise UsageError(
            f"found the variant {text!r}; give one of {kinds}, with -2 for the second of a kind"
        ) from error


def _text(options: Namespace, text: str | None) -> str:
    """Return a text, or that of standard input if it is `-`. Raises UsageError without a text."""
    if text is None:
        raise UsageError("no text given; give --text, or --text - to read standard input")
    return sys.stdin.read().rstrip("\n") if text == "-" and options.text == "-" else text

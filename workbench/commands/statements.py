"""Write, change, tag and archive statements, each with a sentence on what it did."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.commands.people import changing_person
from workbench.domain.choices import Choice, parse_choice
from workbench.domain.names import listed_words
from workbench.domain.statements import (
    ORIGINAL,
    QUESTION,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, flag
from workbench.options.shared import INSTRUMENT, LANGUAGE, PERSON

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

Change = Callable[[Statement], Statement]
"returns a statement as it is after a change"
TEXT = Option("text", "- reads it from standard input", metavar="T")
UNDER_NO_BIAS = (
    "It is a question with options, without a bias yet: workbench choices STORE add --bias BIAS "
    "--key KEY gives it "
    "one if its ref is BIAS.KEY; choices STORE forms --bias BIAS makes a pair from it."
)


@dataclass(frozen=True)
class StatementsCommand(ImmediateCommand):
    """The base of commands that change statements of an instrument."""

    VERB = "statements"

    instrument: str | None = shared_option(INSTRUMENT)
    person: str | None = shared_option(PERSON)

    def run(self, store: Store) -> Outcome:
        """Make the change. Raises WorkbenchError if it cannot be made."""
        instrument = instrument_name(store, self.instrument)
        return _outcome(self.change(store, instrument, changing_person(self.person)))

    @abstractmethod
    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Make the change. Raises WorkbenchError if it cannot be made."""


def instrument_name(store: Store, name: str | None) -> str:
    """Return the named instrument, or the only one.

    Raises UnknownName for an unknown name, UsageError if there are none or several.
    """
    names = store.instruments.names()
    if name is not None and name not in names and names:
        raise UnknownName(
            f"no instrument is named {name!r} in this store. Available: {', '.join(names)}"
        )
    if not names:
        raise UsageError(
            "the store has no instrument yet; make one: workbench statements STORE "
            "--new-instrument NAME"
        )
    if name is None and len(names) > 1:
        raise UsageError(
            f"the store has several instruments; name one with --instrument: {', '.join(names)}"
        )
    return name or names[0]


def _outcome(done: Done) -> Outcome:
    return Outcome(done.sentence, {"said": done.sentence, "refs": done.refs})


@dataclass(frozen=True)
class StartInstrumentCommand(ImmediateCommand):
    """Make an instrument without statements."""

    VERB = "statements"
    ACT = "new_instrument"

    new_instrument: str = option(None, "with --title, --language, --scheme", metavar="NAME")
    language: str | None = shared_option(LANGUAGE)
    title: str = option("", "of a new instrument")
    scheme: str = option("", "policy issues of a new instrument: smartvote")

    def run(self, store: Store) -> Outcome:
        """Make the instrument. Raises UsageError if the name is taken."""
        from workbench.data import shipped_issue_scheme
        from workbench.pipeline.editing import Done

        name = self.new_instrument
        definitions = shipped_issue_scheme(self.scheme).issues if self.scheme else ()
        store.statements.start(name, self.title, self.language or "en", definitions=definitions)
        next_step = "workbench statements STORE --add REF --text TEXT"
        return _outcome(Done(f"Made the instrument {name}. Next: {next_step}", (name,)))


# ── one statement ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class WordingCommand(StatementsCommand):
    """The base of commands about a statement in one language."""

    language: str | None = shared_option(LANGUAGE)

    def language_in(self, store: Store, instrument: str) -> str:
        """Return the language, by default that of the instrument."""
        if self.language:
            return self.language
        languages = {each.name: each.language for each in store.instruments.summaries()}
        return languages[instrument]


@dataclass(frozen=True)
class AddStatementCommand(WordingCommand):
    """Add a statement."""

    ACT = "add"

    add: str = option(
        None,
        "a statement; with --text, or only --question to use a rule's proposal",
        metavar="REF",
    )
    text: str | None = shared_option(TEXT)
    question: str | None = option(None, "question that the statement answers", metavar="Q")
    country: str = option("")
    topic: str = option("")
    source: str = option("", "survey or test that it comes from")
    tags: str = option("", metavar="A,B")

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Add the statement. Raises UsageError without a text."""
        from workbench.pipeline.editing import outcome
        from workbench.workshop.edits import tag_names, with_field

        language, text = self.language_in(store, instrument), self._text()
        wordings = [Wording(ORIGINAL, language, text, person)]
        if self.question:
            wordings.append(Wording(QUESTION, language, self.question, person))
        statement = Statement(
            self.add, tuple(wordings), languages=(language,), tags=tag_names(self.tags)
        )
        for field in ("country", "topic", "source"):
            statement = with_field(statement, field, getattr(self, field))
        changed = store.statements.create(instrument, [statement], person=person)
        done = outcome(store, instrument, changed)
        is_choice = isinstance(parse_choice(text), Choice)
        if is_choice and self.add not in store.choices.items(instrument):
            return replace(done, sentence=f"{done.sentence} {UNDER_NO_BIAS}")
        if self.text is None:
            return replace(done, sentence=f"{done.sentence} “{text}”")
        return done

    def _text(self) -> str:
        """Return the text, or what a rule makes of the question."""
        from workbench.workshop.english import stated

        if self.text is not None or not self.question:
            return _given(self.text)
        proposal = stated(self.question)
        if proposal is None:
            raise UsageError(
                "no rule turns this question into a statement; give the statement with --text"
            )
        return proposal.text


@dataclass(frozen=True)
class WriteWordingCommand(WordingCommand):
    """The base of commands that write the text of a wording."""

    text: str | None = shared_option(TEXT)

    def write(
        self, store: Store, instrument: str, person: str, *, ref: str, variant: VariantId, act: str
    ) -> Done:
        """Write the text of a wording. `act` is `added` or `edited`, as history has it.

        Raises UsageError if the wording exists and is to be added, or is to be edited and does not.
        """
        from workbench.pipeline.editing import change_all
        from workbench.workshop.edits import with_text

        language = self.language_in(store, instrument)
        statement = store.statements.get(instrument, ref)
        exists = statement.wording(variant, language) is not None
        if exists and act == "added":
            raise UsageError(
                f"{ref} has a {variant} in {language} already; --edit {ref} --variant {variant} "
                "changes it"
            )
        if not exists and act == "edited":
            available = ", ".join(
                f"{wording.variant} ({wording.language})" for wording in statement.wordings
            )
            raise UsageError(
                f"{ref} has no {variant} in {language}; it has {available}; --add-variant adds one"
            )
        change = partial(
            with_text, variant=variant, language=language, text=_given(self.text), author=person
        )
        statements = {ref: statement}
        return change_all(
            store, instrument, statements, change, person=person, act=f"{act} {variant}"
        )


@dataclass(frozen=True)
class EditWordingCommand(WriteWordingCommand):
    """Change the text of a wording."""

    ACT = "edit"

    edit: str = option(
        None, "change a wording's text; with --text, --variant, --language", metavar="REF"
    )
    variant: str = option("original", metavar="V")

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Change the text. Raises UsageError if there is no such wording."""
        variant = _variant(self.variant)
        return self.write(store, instrument, person, ref=self.edit, variant=variant, act="edited")


@dataclass(frozen=True)
class AddWordingCommand(WriteWordingCommand):
    """Add a variant of a statement, or a translation."""

    ACT = "add_variant"

    add_variant: tuple[str, ...] = option(
        None,
        "with --text; or a translation: --language, and the variant as KIND",
        metavar=("REF", "KIND"),
    )

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Add the wording. Raises UsageError for an unknown kind, or without a text."""
        from workbench.workshop.edits import next_variant

        ref, kind = _words(self.add_variant, "REF KIND")
        statement = store.statements.get(instrument, ref)
        kinds = [each.value for each in VariantKind]
        if kind in kinds and not self._translates(store, instrument, statement, kind):
            variant = next_variant(statement, VariantKind(kind))
        else:
            variant = _variant(kind)
        return self.write(store, instrument, person, ref=ref, variant=variant, act="added")

    def _translates(self, store: Store, instrument: str, statement: Statement, kind: str) -> bool:
        """Return whether this kind of variant exists in another language and not in this one.

        Then the same variant is meant.
        """
        language, variant = self.language_in(store, instrument), VariantId(VariantKind(kind))
        languages = {each.language for each in statement.wordings if each.variant == variant}
        return bool(languages) and language not in languages


@dataclass(frozen=True)
class DeleteWordingCommand(WordingCommand):
    """Delete a variant of a statement in one language."""

    ACT = "delete_variant"

    delete_variant: tuple[str, ...] = option(None, metavar=("REF", "VARIANT"))

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Delete the wording. Raises UsageError if there is none, or others need it."""
        from workbench.workshop.edits import without

        ref, name = _words(self.delete_variant, "REF VARIANT")
        variant = _variant(name)
        language = self.language_in(store, instrument)
        change = partial(without, variant=variant, language=language)
        return _change_one(store, instrument, ref, change, person, f"deleted {variant}")


@dataclass(frozen=True)
class SetRelationCommand(StatementsCommand):
    """Set which relation a variant is expected to have to its original."""

    ACT = "relation"

    relation: tuple[str, ...] = option(
        None, "expect same, flipped or free", metavar=("REF", "VARIANT", "WHAT")
    )

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Set the relation. Raises UsageError for an unknown one."""
        from workbench.workshop.edits import with_relation

        ref, variant, name = _words(self.relation, "REF VARIANT WHAT")
        if name not in [each.value for each in Relation]:
            raise UsageError(f"found the relation {name!r}; give one of same, flipped, free")
        change = partial(with_relation, variant=_variant(variant), relation=Relation(name))
        return _change_one(store, instrument, ref, change, person, f"expected {name} of {variant}")


@dataclass(frozen=True)
class RenameStatementCommand(StatementsCommand):
    """Give a statement another ref."""

    ACT = "rename"

    rename: tuple[str, ...] = option(None, metavar=("REF", "NEW"))

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Rename the statement. Raises UsageError if the ref is taken."""
        from workbench.pipeline.editing import outcome

        ref, new_ref = _words(self.rename, "REF NEW")
        changed = store.statements.rename(instrument, ref, new_ref, person=person)
        return outcome(store, instrument, changed)


@dataclass(frozen=True)
class DeriveStatementCommand(StatementsCommand):
    """Set which statement another one derives from."""

    ACT = "derive"

    derive: tuple[str, ...] = option(
        None, "set what a statement derives from", metavar=("REF", "FROM")
    )

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Set the statement. Raises UsageError for an unknown one."""
        ref, parent = _words(self.derive, "REF FROM")

        def derived(statement: Statement) -> Statement:
            return replace(statement, derived_from=parent or None)

        act = f"derived from {parent or 'nothing'}"
        return _change_one(store, instrument, ref, derived, person, act)


# ── many statements ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """The statements that a change of many would change."""

    act: str
    before: dict[str, Statement]
    "all statements that are named, by their refs"
    after: dict[str, Statement]
    "those that would change, as they would be"


@dataclass(frozen=True)
class BulkCommand(StatementsCommand):
    """The base of commands that change many statements in the same way."""

    refs: str | None = option(None, "of --tag, --untag, --set, --replace, --strip", metavar="A,B")

    @abstractmethod
    def edit_of(self) -> tuple[Change, str]:
        """Return the change of a statement, and what history calls it."""

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Change the statements. Raises UsageError if none are named."""
        from workbench.pipeline.editing import change_all

        change, act = self.edit_of()
        statements = self._statements(store, instrument)
        return change_all(store, instrument, statements, change, person=person, act=act)

    def preview(self, store: Store) -> BulkPreview:
        """Return what the command would change. Raises UsageError if no statements are named."""
        change, act = self.edit_of()
        before = self._statements(store, instrument_name(store, self.instrument))
        after = {}
        for ref, statement in before.items():
            new_statement = change(statement)
            if new_statement != statement:
                after[ref] = new_statement
        return BulkPreview(act, before, after)

    def _statements(self, store: Store, instrument: str) -> dict[str, Statement]:
        """Return the named statements by ref. Raises UsageError without refs."""
        known = [line.ref for line in store.instruments.lines(instrument)]
        refs = listed_words(self.refs, known)
        if not refs:
            raise UsageError("no statements given; name them with --refs A,B")
        return {ref: store.statements.get(instrument, ref) for ref in refs}


@dataclass(frozen=True)
class TagStatementsCommand(BulkCommand):
    """Tag statements."""

    ACT = "tag"

    tag: str = option(None, "tag the statements of --refs", metavar="TAG")

    def edit_of(self) -> tuple[Change, str]:
        from workbench.workshop.edits import with_tag

        return partial(with_tag, tag=self.tag), f"tagged {self.tag}"


@dataclass(frozen=True)
class UntagStatementsCommand(BulkCommand):
    """Take a tag off statements."""

    ACT = "untag"

    untag: str = option(None, metavar="TAG")

    def edit_of(self) -> tuple[Change, str]:
        from workbench.workshop.edits import without_tag

        return partial(without_tag, tag=self.untag), f"untagged {self.untag}"


@dataclass(frozen=True)
class SetFieldCommand(BulkCommand):
    """Set a field of statements: topic, country, source, dimension or leaning."""

    ACT = "set"

    set: str = option(
        None, "topic, country, source, dimension, leaning of --refs", metavar="FIELD=VALUE"
    )

    def edit_of(self) -> tuple[Change, str]:
        from workbench.workshop.edits import with_field

        name, equals, value = self.set.partition("=")
        if not equals:
            raise UsageError(f"found --set {self.set!r}; give FIELD=VALUE, such as topic=housing")
        change = partial(with_field, field=name.strip(), text=value)
        return change, f"set {name.strip()} to {value or 'nothing'}"


@dataclass(frozen=True)
class ReplaceTextCommand(BulkCommand):
    """Replace a text in all wordings of statements."""

    ACT = "replace"

    replace: tuple[str, ...] = option(
        None, "in all wordings of --refs; case-sensitive", metavar=("OLD", "NEW")
    )

    def edit_of(self) -> tuple[Change, str]:
        from workbench.workshop.edits import replaced

        old, new = _words(self.replace, "OLD NEW")
        return partial(replaced, old=old, new=new), f"replaced “{old}” by “{new}”"


@dataclass(frozen=True)
class StripSpacesCommand(BulkCommand):
    """Strip stray spaces from the wordings of statements."""

    ACT = "strip"

    strip: bool = shared_option(flag("strip", "strip stray spaces from the wordings of --refs"))

    def edit_of(self) -> tuple[Change, str]:
        from workbench.workshop.edits import stripped

        return stripped, "stripped spaces"


@dataclass(frozen=True)
class ArchiveStatementsCommand(StatementsCommand):
    """Archive statements."""

    ACT = "archive"

    archive: str = option(None, metavar="A,B")

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Archive the statements. Raises UsageError for an unknown one."""
        from workbench.pipeline.editing import outcome

        known = [line.ref for line in store.instruments.lines(instrument)]
        refs = listed_words(self.archive, known)
        changed = store.statements.archive(instrument, refs, person=person)
        return outcome(store, instrument, changed)


@dataclass(frozen=True)
class RestoreStatementsCommand(StatementsCommand):
    """Restore archived statements."""

    ACT = "restore"

    restore: str = option(None, metavar="A,B")

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Restore the statements. Raises UsageError for one that is not archived."""
        from workbench.pipeline.editing import outcome

        refs = listed_words(self.restore, store.statements.archived(instrument))
        changed = store.statements.restore(instrument, refs, person=person)
        return outcome(store, instrument, changed)


@dataclass(frozen=True)
class UndoEditCommand(StatementsCommand):
    """Undo the newest change of statements that a person made."""

    ACT = "undo"

    undo: bool = shared_option(flag("undo", "undo the newest act of --person"))

    def change(self, store: Store, instrument: str, person: str) -> Done:
        """Undo the change."""
        from workbench.pipeline.editing import undo

        return undo(store, instrument, person)


# ── words of options ──────────────────────────────────────────────────────────────────────────────


def _change_one(
    store: Store, instrument: str, ref: str, change: Change, person: str, act: str
) -> Done:
    """Change one statement."""
    from workbench.pipeline.editing import change_all

    statements = {ref: store.statements.get(instrument, ref)}
    return change_all(store, instrument, statements, change, person=person, act=act)


def _words(words: tuple[str, ...], names: str) -> tuple[str, ...]:
    """Return the words of an option. Raises UsageError if their number is another one."""
    if len(words) != len(names.split()):
        raise UsageError(f"found {' '.join(words)!r}; give {names}")
    return words


def _variant(text: str) -> VariantId:
    try:
        return VariantId.parse(text)
    except ValueError as error:
        kinds = ", ".join(kind.value for kind in VariantKind)
        raise UsageError(
            f"found the variant {text!r}; give one of {kinds}, with -2 for the second of a kind"
        ) from error


def _given(text: str | None) -> str:
    """Return a text. Raises UsageError without one."""
    if text is None:
        raise UsageError("no text given; give --text, or --text - to read standard input")
    return text

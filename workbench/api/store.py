"""A store, by default opened for reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from stores.core.resource import Resource
from stores.core.store import Store as OpenStore
from stores.instruments.instruments import Filters
from workbench import registry
from workbench.api.options import given, several
from workbench.api.results import Result
from workbench.api.rows import Rows
from workbench.api.typed import (
    AgreementFigures,
    Asked,
    ExportOptions,
    ImportOptions,
    Judging,
    ReviewFigures,
    Typed,
)
from workbench.audits.audit import Medium
from workbench.audits.followed_plans import with_plans
from workbench.errors import ReadOnlyStore, StoreError, UsageError
from workbench.figures.json_values import to_json_values
from workbench.figures.visible import visible
from workbench.tidy.columns import ColumnBatch, RowSelection
from workbench.tidy.columns import RowKind as Declared
from workbench.tidy.export import KINDS, Exported
from workbench.tidy.people import statements_listed

if TYPE_CHECKING:
    from workbench.api.commands import Finished
    from workbench.api.plans import Plan
    from workbench.formats.write import Written

Made = TypeVar("Made")
TO_WRITE = "Open it with workbench.open(path, write=True)."
Names = str | Sequence[str] | None
"a name, several, or None for all"


def open(path: str | Path, *, write: bool = False, create: bool = False) -> Store:  # noqa: A001  `workbench.open`
    """Open the store at a path, by default for reading.

    Parameters
    ----------
    write : `workbench.run` may ask models and store their answers
    create : with `write`, create the store if there is none

    Raises
    ------
    StoreError
        There is no store, or it cannot be read; the message says what to do.
    """
    full_path = Path(path).expanduser()
    if create and not write:
        raise UsageError("a store that is made is written to; give write=True as well")
    return Store(
        OpenStore.open(full_path, create=create) if write else OpenStore.open_for_reading(full_path)
    )


class Store(Resource, Typed):
    """An open store. Close it, or use it in a `with` block."""

    def __init__(self, store: OpenStore):
        self._opened: OpenStore | None = store
        self._path = store.path
        self._copy: tuple[int, TemporaryDirectory[str], OpenStore] | None = None

    @property
    def opened(self) -> OpenStore:
        """The underlying store, for functions that this interface lacks.

        Raises StoreError once it is closed.
        """
        if self._opened is None:
            raise StoreError(f"{self.path}: the store is closed; open it again with workbench.open")
        return self._opened

    @property
    def path(self) -> Path:
        """The store's file."""
        return self._path

    @property
    def writable(self) -> bool:
        """Whether it is open for writing."""
        return not self.opened.read_only

    @property
    def instruments(self) -> tuple[str, ...]:
        """Names of the instruments."""
        return self.opened.instruments.names()

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that answered."""
        return self.opened.data_rows.answering()

    @property
    def audits(self) -> tuple[str, ...]:
        """Names of the audits with answers."""
        return tuple(audit.name for audit in registry.every_audit() if audit.answered(self.opened))

    def answers(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        expand: bool = False,
        names: bool = False,
    ) -> Rows:
        """Return the answers, one row per distinct answer of a draw with its count.

        Parameters
        ----------
        model, audit, instrument : leave out those of others; a model may have a revision,
            NAME@REVISION
        expand : a row for each answer
        names : people by their names instead of pseudonyms
        """
        return self._rows(
            KINDS["answers"],
            RowSelection(_names(model), _names(audit), _names(instrument), expand, names),
        )

    def readings(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        expand: bool = False,
        names: bool = False,
    ) -> Rows:
        """Return the readings of answers, one row per answer and reader."""
        return self._rows(
            KINDS["readings"],
            RowSelection(_names(model), _names(audit), _names(instrument), expand, names),
        )

    def probabilities(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        names: bool = False,
    ) -> Rows:
        """Return the probabilities of labels that exact runs computed.

        There is one row per prompt and label.
        """
        return self._rows(
            KINDS["probabilities"],
            RowSelection(_names(model), _names(audit), _names(instrument), names=names),
        )

    def labels(self, *, instrument: Names = None, names: bool = False) -> Rows:
        """Return the labels that people gave, changed or withdrew."""
        return self._rows(
            KINDS["labels"], RowSelection(instruments=_names(instrument), names=names)
        )

    def rulings(self, *, instrument: Names = None, names: bool = False) -> Rows:
        """Return all events of auditors' rulings."""
        return self._rows(
            KINDS["rulings"], RowSelection(instruments=_names(instrument), names=names)
        )

    def verdicts(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        without_rulings: bool = False,
    ) -> Rows:
        """Return the verdicts on statements, one row per statement, test and template."""
        selection = _names(model), _names(audit), _names(instrument)
        return self._rows(KINDS["verdicts"], RowSelection(*selection, rulings=not without_rulings))

    def figures(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        without_rulings: bool = False,
    ) -> Rows:
        """Return every figure of every audit, one row per value. `results` has them as tables."""
        selection = _names(model), _names(audit), _names(instrument)
        return self._rows(KINDS["figures"], RowSelection(*selection, rulings=not without_rulings))

    def _result(
        self, audit: str, options: Mapping[str, Any], runs: Sequence[str] | None = None
    ) -> Result:
        definition = registry.audit(audit)
        if runs is not None:
            run_names = [name for run in runs for name in ((run,) if isinstance(run, str) else run)]
            options = {**options, "compare": (*run_names, *several(options.get("compare")))}
            if not options["compare"]:
                raise UsageError("found no run to compare; give two or more")
        arguments = given(definition.figure_options, options, f"results of {audit}")
        arguments.audit = audit

        def made(store: OpenStore) -> Result:
            printed = definition.printed(store, arguments, Medium.DOCUMENT)
            return Result(audit, with_plans(store, definition, arguments, printed, Medium.DOCUMENT))

        return self._judged(made)

    def _carry_out(self, kind: str, options: Mapping[str, Any], *, quiet: bool) -> Finished:
        from workbench.api.commands import carry_out

        if not self.writable:
            raise ReadOnlyStore(
                f"{self.path}: the store is open for reading, and {kind} writes to it. {TO_WRITE}"
            )
        return carry_out(self.opened, kind, options, quiet=quiet)

    def _do(self, verb: str, options: Mapping[str, Any]) -> Finished:
        from workbench.api.commands import do
        from workbench.commands.registry import immediate_command

        if immediate_command(verb).READS_ONLY:
            return self._read_or_copied(lambda store: do(store, verb, options))
        if not self.writable:
            raise ReadOnlyStore(
                f"{self.path}: the store is open for reading, and {verb} writes to it. {TO_WRITE}"
            )
        return do(self.opened, verb, options)

    def agreement(self, queue: str | None = None, **options: Unpack[AgreementFigures]) -> Result:
        """Return the agreement of the annotators of a queue.

        `results` has that of models and respondents. Raises UnknownName for an unknown queue.
        """
        from workbench.commands.agreement import OPTIONS, agreement_of

        arguments = given(OPTIONS, {**options, "queue": queue}, "agreement")

        def judge(store: OpenStore) -> Result:
            printed = agreement_of(
                store, arguments.queue, seed=arguments.seed, items=arguments.items, every=True
            )
            return Result("agreement", printed)

        return self._judged(judge)

    def review(self, **options: Unpack[ReviewFigures]) -> Result:
        """Return what an auditor should review first, and why, with the errors of the reader.

        Options are those of `workbench review`, by their names: `model="smollm2"`, `as_="Ada"`.

        Raises UnknownName for an unknown model, AmbiguousRun if several runs match.
        """
        from workbench.commands.review import REVIEW_OPTIONS, review_printed, review_progress

        arguments = given(REVIEW_OPTIONS, options, "review")

        def judge(store: OpenStore) -> Result:
            progress = review_progress(store, arguments)
            return Result("review", review_printed(progress, blind=arguments.blind, every=True))

        return self._judged(judge)

    def respondents(self, instrument: str | None = None) -> Result:
        """Return how many wordings each person was asked, and how many they answered.

        instrument : leave out those of others
        """
        from workbench.commands.survey import respondents_printed

        def read(store: OpenStore) -> Result:
            return Result("respondents", respondents_printed(store, instrument))

        return self._judged(read)

    def jobs(self, *, hidden: bool = False) -> list[dict[str, Any]]:
        """Return the jobs, the newest first, as `workbench jobs --json` prints them.

        hidden : also those that are hidden from lists
        """
        from workbench.commands.jobs import job_data

        jobs = self.opened.jobs.list()
        rows: list[dict[str, Any]] = to_json_values(
            [job_data(job) for job in jobs if hidden or not job.hidden]
        )
        return rows

    def statements(
        self,
        *,
        instrument: Names = None,
        search: str = "",
        issue: str = "",
        tagged: str = "",
        archived: bool = False,
    ) -> Rows:
        """Return the wordings of statements, one row per wording.

        Parameters
        ----------
        instrument : leave out those of others
        search : in refs, topics, tags and every wording
        issue : related to this policy issue
        tagged : with this tag
        archived : archived statements instead of current ones
        """
        filters = Filters(search=search, issue=issue, tag=tagged, archived=archived)
        return self._rows(statements_listed(filters), RowSelection(instruments=_names(instrument)))

    def import_file(
        self, path: str | Path, *, dry_run: bool = False, **options: Unpack[ImportOptions]
    ) -> dict[str, Any]:
        """Import a file, all of it or nothing, and return what `--json` prints.

        It holds an instrument, people's answers to one, answers of models that were collected
        elsewhere, or labels of answers.

        Parameters
        ----------
        path : a file or a folder
        dry_run : return what would be imported, and write nothing
        options : those of `workbench import`, by their names: `format="survey"`,
            `map={"original": "thesis", "ref": "#"}`, `answers={"teils": "neutral"}`, …

        Raises ReadOnlyStore for a store that is open for reading, UsageError or InputError for a
        file that cannot be read, ConflictError if the store has something else of that name.
        """
        from workbench.commands.import_file import ImportCommand
        from workbench.formats.packed import reading
        from workbench.pipeline.importing import (
            import_data,
            read_beside,
            read_import,
            rehearse_import,
            write_import,
        )

        if not self.writable:
            raise ReadOnlyStore(
                f"{self.path}: the store is open for reading, and is imported into. {TO_WRITE}"
            )
        arguments = given(
            ImportCommand.options().values(), {**options, "path": path}, "import_file"
        )
        command = ImportCommand.from_arguments(arguments)
        with reading(command.most_bytes):
            request = command.request()
            command.save_mapping()
            material = read_import(request) or read_beside(self.opened, request)
        outcome: dict[str, Any] = to_json_values(
            import_data((rehearse_import if dry_run else write_import)(self.opened, material))
        )
        return outcome

    def plan(
        self,
        file: str | Path,
        model: Names = None,
        audit: str = registry.DEFAULT_AUDIT,
        *,
        judged: Judging | None = None,
        compare: str | Sequence[str] = (),
        correction: str = "holm",
        claims: str | Sequence[str] = (),
        **options: Unpack[Asked],
    ) -> Plan:
        """Freeze a plan: write what will be asked, and how it will be judged, to a file.

        This is done before the first answer. Without a model, read the plan that the file holds.

        Parameters
        ----------
        model : who will be asked; one or several
        judged : options of the audit's figures, by their names: `{"rule": "coded"}`. The defaults
            of the others are frozen, too
        compare : runs, or models, whose comparison is planned
        correction : of many tests in that comparison: `holm`, `bh` or `none`
        claims : questions whose claims are confirmatory, such as `lean`; all other claims are
            exploratory
        options : what is asked, as `workbench.run` takes it

        Raises ReadOnlyStore for a store that is open for reading, UsageError for a file that
        exists already.
        """
        from workbench.api.plans import freeze
        from workbench.api.plans import opened as read

        if model is None:
            return read(self.opened, file)
        if not self.writable:
            raise ReadOnlyStore(
                f"{self.path}: the store is open for reading, and notes the plan. {TO_WRITE}"
            )
        return freeze(
            self.opened,
            file,
            several(model),
            audit,
            judged or {},
            several(compare),
            correction,
            several(claims),
            dict(options),
        )

    @overload
    def export(  # type: ignore[overload-overlap]  # no kind of rows is called `instrument`
        self, folder: str | Path, what: Literal["instrument"], **options: Unpack[ExportOptions]
    ) -> Written: ...

    @overload
    def export(
        self, folder: str | Path, what: Names = "answers", **options: Unpack[ExportOptions]
    ) -> Exported: ...

    def export(
        self, folder: str | Path, what: Names = "answers", **options: Unpack[ExportOptions]
    ) -> Exported | Written:
        """Write rows into a new folder, with a dictionary of their columns, or an instrument.

        Parameters
        ----------
        what : kinds of rows; `instrument` for an instrument, which can be imported again
        options : those of `workbench export`, by their names

        Raises UsageError for options that do not belong together, and if the folder cannot be
        written; UnknownName for a name that the store lacks.
        """
        from workbench.commands.export import ExportCommand

        values = {**options, "folder": folder, "what": what}
        command = ExportCommand.from_arguments(
            given(ExportCommand.options().values(), values, "export")
        )
        if command.is_instrument:
            return command.write_instrument(self.opened)
        return self._read_or_copied(command.write_rows)

    def close(self) -> None:
        """Close the store."""
        self._forget()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __repr__(self) -> str:
        if self._opened is None:
            return f"<Store {self.path}, closed>"
        mode = "for writing" if self.writable else "for reading"
        return visible(
            f"<Store {self.path}, open {mode}: models {', '.join(self.models) or 'none'}>"
        )

    def _judged(self, made: Callable[[OpenStore], Made]) -> Made:
        """Return the result of a function of the store as it is at one moment."""
        return self._read_or_copied(lambda store: store.at_once(lambda: made(store)))

    def _read_or_copied(self, read: Callable[[OpenStore], Made]) -> Made:
        """Return the result of a function of the store.

        The function gets a copy of the store if readings of rules have to be stored.
        """
        try:
            return read(self.opened)
        except ReadOnlyStore:
            return read(self._readable())

    def _rows(self, of: Declared, choice: RowSelection) -> Rows:
        choice.check(self.opened)

        def counted() -> int | None:
            return None if of.count is None else of.count(self.opened, choice)

        def state() -> object:
            connection = self.opened.connection
            return connection.execute("pragma data_version").fetchone()[0], connection.total_changes

        return Rows(of, lambda: self._read(of, choice), counted, state)

    def _read(self, kind: Declared, choice: RowSelection) -> Iterator[ColumnBatch]:
        """Yield rows, from a copy of the store if readings of rules have to be stored."""
        n_batches = 0
        try:
            for batch in kind.batches(self.opened, choice):
                yield batch
                n_batches += 1
        except ReadOnlyStore:
            yield from islice(kind.batches(self._readable(), choice), n_batches, None)

    def _readable(self) -> OpenStore:
        """Return a private copy of the store, in which readings of rules can be stored.

        So judging unread answers does not change a store that is open for reading.
        """
        (version,) = self.opened.connection.execute("pragma data_version").fetchone()
        if self._copy is not None and self._copy[0] == version:
            return self._copy[2]
        self._forget()
        folder = TemporaryDirectory(prefix="workbench-")
        path = Path(folder.name) / self.path.name
        self.opened.copy_to(path)
        self._copy = version, folder, OpenStore.open(path)
        return self._copy[2]

    def _forget(self) -> None:
        if self._copy is not None:
            _, folder, copy = self._copy
            copy.close()
            folder.cleanup()
            self._copy = None


def _names(given: Names) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)

"""A store, by default opened for reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stores.core.store import Store as OpenStore
from workbench import registry
from workbench.api.options import given
from workbench.api.results import Result
from workbench.api.rows import Rows
from workbench.audits.audit import Medium
from workbench.errors import ReadOnlyStore, UsageError
from workbench.pipeline.plans import with_plans
from workbench.tidy.choice import Choice
from workbench.tidy.columns import Row
from workbench.tidy.columns import Rows as Declared
from workbench.tidy.export import Exported, export
from workbench.tidy.kinds import KINDS, kinds

if TYPE_CHECKING:
    from workbench.api.plans import Plan

Names = str | Sequence[str] | None
"a name, several, or all"


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
    place = Path(path).expanduser()
    if create and not write:
        raise UsageError("a store that is made is written to; give write=True as well")
    return Store(OpenStore.open(place, create=create) if write else OpenStore.open_for_reading(place))


class Store:
    """An open store. Close it, or use it in a `with` block."""

    def __init__(self, store: OpenStore):
        self.opened = store
        "the underlying store, for functions that this interface lacks"
        self._copy: tuple[int, TemporaryDirectory[str], OpenStore] | None = None

    @property
    def path(self) -> Path:
        return self.opened.path

    @property
    def writable(self) -> bool:
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
        return tuple(one.name for one in registry.every_audit() if one.answered(self.opened))

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
        model, audit, instrument : leave out those of others; a model may have a revision, NAME@REVISION
        expand : a row for each answer
        names : people by their names instead of pseudonyms
        """
        return self._rows("answers", Choice(_names(model), _names(audit), _names(instrument), expand, names))

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
        return self._rows("readings", Choice(_names(model), _names(audit), _names(instrument), expand, names))

    def labels(self, *, instrument: Names = None, names: bool = False) -> Rows:
        """Return the labels that people gave, changed or withdrew."""
        return self._rows("labels", Choice(instruments=_names(instrument), names=names))

    def rulings(self, *, instrument: Names = None, names: bool = False) -> Rows:
        """Return all events of auditors' rulings."""
        return self._rows("rulings", Choice(instruments=_names(instrument), names=names))

    def verdicts(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        without_rulings: bool = False,
    ) -> Rows:
        """Return the verdicts on statements, one row per statement, test and template."""
        chosen = _names(model), _names(audit), _names(instrument)
        return self._rows("verdicts", Choice(*chosen, rulings=not without_rulings))

    def figures(
        self,
        *,
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        without_rulings: bool = False,
    ) -> Rows:
        """Return every figure of every audit, one row per value. `results` has them as tables."""
        chosen = _names(model), _names(audit), _names(instrument)
        return self._rows("figures", Choice(*chosen, rulings=not without_rulings))

    def results(self, audit: str = registry.DEFAULT_AUDIT, **options: Any) -> Result:
        """Return an audit's result: the figures that `--json` prints.

        Options are those of the audit's command, by their names: `model="smollm2"`, `sampling="T 1"`, `resamples=500`.
        Raises UnknownName for an unknown audit or model, AmbiguousRun if several runs match, FieldError for an invalid
        value of an option.
        """
        of = registry.audit(audit)
        chosen = given(of.figure_options, options, f"results of {audit}")
        chosen.audit = audit
        try:
            return _result(self.opened, audit, chosen)
        except ReadOnlyStore:
            return _result(self._readable(), audit, chosen)

    def plan(
        self,
        file: str | Path,
        model: Names = None,
        audit: str = registry.DEFAULT_AUDIT,
        *,
        judged: Mapping[str, Any] | None = None,
        compare: Sequence[str] = (),
        correction: str = "holm",
        **options: Any,
    ) -> Plan:
        """Freeze a plan: write what will be asked, and how it will be judged, to a file, before the first answer.
        Without a model it reads the plan that a file holds.

        Parameters
        ----------
        model : who will be asked; one or several
        judged : options of the audit's figures, by their names: `{"rule": "coded"}`. The defaults of the others are
            frozen, too
        compare : runs, or models, whose comparison is planned
        correction : of many tests in that comparison: `holm`, `bh` or `none`
        options : what is asked, as `workbench.run` takes it

        Raises ReadOnlyStore for a store that is open for reading, UsageError for a file that is there already.
        """
        from workbench.api.plans import freeze
        from workbench.api.plans import opened as read

        if model is None:
            return read(self.opened, file)
        if not self.writable:
            raise ReadOnlyStore(
                f"{self.path}: the store is open for reading, and notes the plan. Open it with write=True."
            )
        return freeze(self.opened, file, _names(model), audit, judged or {}, compare, correction, options)

    def export(
        self,
        folder: str | Path,
        what: Names = "answers",
        *,
        format: str = "csv",  # noqa: A002  as on the command line
        model: Names = None,
        audit: Names = None,
        instrument: Names = None,
        expand: bool = False,
        names: bool = False,
        without_rulings: bool = False,
    ) -> Exported:
        """Write rows into a folder that is not there yet, with a dictionary of their columns, as `workbench export`."""
        chosen = _names(model), _names(audit), _names(instrument)
        choice = Choice(*chosen, expand, names, rulings=not without_rulings)
        wanted = kinds(_names(what))
        try:
            return export(self.opened, wanted, format, choice, Path(folder))
        except ReadOnlyStore:
            return export(self._readable(), wanted, format, choice, Path(folder))

    def close(self) -> None:
        self._forget()
        self.opened.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        how = "for writing" if self.writable else "for reading"
        return f"<Store {self.path}, open {how}: models {', '.join(self.models) or 'none'}>"

    def _rows(self, kind: str, choice: Choice) -> Rows:
        choice.check(self.opened)
        return Rows(KINDS[kind], lambda: self._read(KINDS[kind], choice))

    def _read(self, kind: Declared, choice: Choice) -> Iterator[Row]:
        """Yield rows; from a copy of the store if readings of rules have to be stored."""
        done = 0
        try:
            for row in kind.read(self.opened, choice):
                yield row
                done += 1
        except ReadOnlyStore:
            yield from islice(kind.read(self._readable(), choice), done, None)

    def _readable(self) -> OpenStore:
        """Return a private copy of the store, in which readings of rules can be stored, so that judging unread answers
        does not change a store opened for reading.
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


def _result(store: OpenStore, audit: str, chosen: Any) -> Result:
    of = registry.audit(audit)
    return Result(audit, with_plans(store, of, chosen, of.printed(store, chosen, Medium.DOCUMENT), Medium.DOCUMENT))


def _names(given: Names) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)

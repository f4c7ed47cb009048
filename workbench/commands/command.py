"""The base of commands, and the declaration of their options."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from workbench.domain.names import listed
from workbench.errors import UsageError
from workbench.options.option import Option, Type
from workbench.options.schema import TYPES

if TYPE_CHECKING:
    from stores.core.store import Store

EMPTY = ("", (), None)
"values that stand for an option that was not given"


@dataclass(frozen=True, slots=True)
class OptionChoices:
    """The values that a store offers for an option."""

    values: Sequence[tuple[str, str]] = ()
    "(label, value) pairs; empty if a text is typed"
    default: str | None = None
    "as typed; None: the default of the option"
    note: str = ""
    "a line about the default, for the form"

    @classmethod
    def from_names(cls, names: Iterable[str], default: str | None = None) -> Self:
        """Return choices that are shown by their names."""
        return cls([(name, name) for name in names], default)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a command would do, before it does anything."""

    text: str
    n_units: int
    "steps, responses, prompts or texts of the job; 0 if there is no job to start"
    specification: Mapping[str, Any] = field(default_factory=dict)
    "of the job, as it is stored"
    data: Mapping[str, Any] = field(default_factory=dict)
    "for a program"
    immediate: Callable[[Store], Outcome] | None = None
    "does the work at once, without a job"
    immediate_label: str = ""
    "what `immediate` does, for the form"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of work that was done at once."""

    sentence: str
    data: Any = field(default_factory=dict)
    "as `--json` prints it"
    next_step: str = ""
    "a line with a command that goes on from here, to be copied"


@dataclass(frozen=True, slots=True)
class CommandOption:
    """The declaration of a field of a command."""

    option: Option
    ticked: bool = False
    "whether the form lists its values to be ticked; the field is a tuple of names"
    selected: bool = False
    "whether the form offers the values in the store, of which one is selected"
    all_by_default: bool = False
    "whether an empty tuple stands for all values"
    leading: bool = False
    "whether the choices of other options depend on it"

    @property
    def is_list(self) -> bool:
        """Whether the field is a tuple."""
        return self.ticked or self.option.many or self.option.several


def option(
    default: Any,
    help_text: str = "",
    *,
    ticked: bool = False,
    selected: bool = False,
    all_by_default: bool = False,
    leading: bool = False,
    **declaration: Any,
) -> Any:
    """Declare an option as a field of a command.

    Parameters
    ----------
    default : None if a store, or another option, decides
    ticked : the form lists its values; the field is a tuple of names
    selected : the form offers the values in the store, of which one is selected
    all_by_default : an empty tuple stands for all values
    leading : the choices of other options depend on it
    declaration : further fields of `Option`
    """
    kind = TYPES.get(type(default), Type.TEXT)
    declared = Option("", help_text, **{"type": kind, "default": default, **declaration})
    return shared_option(
        declared,
        ticked=ticked,
        selected=selected,
        all_by_default=all_by_default,
        leading=leading,
    )


def shared_option(
    declared: Option,
    *,
    ticked: bool = False,
    selected: bool = False,
    all_by_default: bool = False,
    leading: bool = False,
) -> Any:
    """Declare an option that several commands share as a field of a command."""
    command_option = CommandOption(declared, ticked, selected, all_by_default, leading)
    default = _names(declared.default) if command_option.is_list else declared.default
    return field(default=default, metadata={"command": command_option})


@dataclass(frozen=True)
class Command:
    """The base of commands: frozen dataclasses with fields made by `option`."""

    VERB: ClassVar[str] = ""
    "the verb of the command line; empty: the kind of the job"

    @classmethod
    def declared(cls) -> dict[str, CommandOption]:
        """Return the declaration of each field by its name."""
        return {
            each.name: each.metadata["command"]
            for each in fields(cls)
            if "command" in each.metadata
        }

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Return the options by the names of the fields, in their order."""
        return {
            name: declaration.option.but(name=name) for name, declaration in cls.declared().items()
        }

    @classmethod
    def from_arguments(cls, arguments: SimpleNamespace) -> Self:
        """Return the command of a command line, whose values are attributes of `arguments`."""
        values = {}
        for name, declaration in cls.declared().items():
            value = getattr(arguments, name, declaration.option.default)
            values[name] = _names(value) if declaration.is_list else value
        return cls(**values)

    @classmethod
    def from_form(cls, texts: Mapping[str, Any]) -> Self:
        """Return the command of a filled form.

        texts : texts of inputs, tuples of ticked names or None for all, and True or False

        Raises FieldError for a text that its option does not take, and for a list without a tick.
        """
        options = cls.options()
        values = {}
        for name, value in texts.items():
            if value == ():
                raise options[name].error("tick at least one")
            if isinstance(value, str):
                value = _read(options[name], value.strip())
            values[name] = () if value is None and cls.declared()[name].ticked else value
        return cls(**values)

    def with_words(self, text: str, names: Sequence[str]) -> Self:
        """Return the command with options from a text, such as `header-row=3 skip`.

        A value with a blank stands in quotation marks. Options of `names` that the text lacks have
        their defaults. Raises UsageError for other words, FieldError for an invalid value.
        """
        options = {self.options()[name].word: name for name in names}
        values = {name: self.declared()[name].option.default for name in names}
        for word in _split(text):
            written, equals, value = word.partition("=")
            name = options.get(written)
            if name is None or bool(equals) == (self.options()[name].type is Type.FLAG):
                raise UsageError(f"found {word!r}; give {words_of(self.options(), names)}")
            values[name] = _read(self.options()[name], value) if equals else True
        return replace(self, **values)

    def words(self, names: Sequence[str]) -> str:
        """Return options as `with_words` reads them, without those that have their defaults."""
        options, texts = self.options(), self.texts()
        words = [
            options[name].word if texts[name] is True else f"{options[name].word}={texts[name]}"
            for name in names
            if texts[name]
        ]
        return shlex.join(words)

    def all_options(self) -> list[Option]:
        """Return the options of this command, of which some may depend on the values of others."""
        return list(self.options().values())

    def values(self) -> dict[str, Any]:
        """Return the values of the options by their names."""
        return {name: getattr(self, name) for name in self.declared()}

    def flags(self) -> tuple[str, ...]:
        """Return the words of a command line that set the options which differ from their defaults.

        Positional arguments are left out.
        """
        from workbench.options.flags import as_arguments

        values = self.values()
        for each in fields(self):
            if values.get(each.name) == each.default:
                values[each.name] = None
        options = [option for option in self.all_options() if not option.positional]
        return tuple(as_arguments(options, values))

    def texts(self) -> dict[str, Any]:
        """Return the values as a form has them: texts, tuples of names, and True or False."""
        texts: dict[str, Any] = {}
        for name, command_option in self.declared().items():
            value = getattr(self, name)
            if command_option.ticked or isinstance(value, bool):
                texts[name] = value
            else:
                texts[name] = "" if value in EMPTY else command_option.option.text(value)
        return texts


@dataclass(frozen=True)
class ImmediateCommand(Command):
    """The base of commands that are done at once, without a job."""

    ACT: ClassVar[str] = ""
    "name of the option that asks for it, if the verb has several commands"
    ACT_WORD: ClassVar[str] = ""
    "word after the store that asks for it, if the verb has such words"
    READS_ONLY: ClassVar[bool] = False
    "whether a store that is open for reading will do"

    @abstractmethod
    def run(self, store: Store) -> Outcome:
        """Do what the command says, and return what came of it.

        Raises WorkbenchError, naming the option, if it cannot be done.
        """


@dataclass(frozen=True)
class JobCommand(Command):
    """The base of commands that start a job."""

    KIND: ClassVar[str] = ""
    "the kind of the job"
    HEADING: ClassVar[str] = ""
    "what the job does, at the top of its form"
    HELP: ClassVar[tuple[str, str]] = ("", "")
    "page and section that explain the options"
    FORM: ClassVar[Sequence[Sequence[str]]] = ()
    "names of options in each line of the form; empty: two in a line"
    FIRST: ClassVar[str] = ""
    "name of the option whose field has focus at first; empty: the first one"
    NEXT: ClassVar[str] = ""
    "what to do once the job is done, as a sentence with commands"

    @classmethod
    def form_lines(cls) -> Sequence[Sequence[str]]:
        """Return the names of options in each line of the form."""
        if cls.FORM:
            return cls.FORM
        names = list(cls.declared())
        return [names[start : start + 2] for start in range(0, len(names), 2)]

    @classmethod
    @abstractmethod
    def from_specification(cls, store: Store, specification: Mapping[str, Any]) -> Self:
        """Return the command that starts a job like one with this stored specification.

        Raises UsageError if its options cannot express the specification.
        """

    @classmethod
    def choices(cls, store: Store, texts: Mapping[str, Any]) -> Mapping[str, OptionChoices]:  # noqa: ARG003  of the interface
        """Return the choices of options. `texts` has the leading options as they are typed.

        Raises UsageError if the store lacks what the command needs.
        """
        return {}

    @abstractmethod
    def preview(self, store: Store) -> Preview:
        """Return what the command would do. Reads only.

        Raises WorkbenchError, naming the option, if it cannot be done.
        """

    def check_start(self, store: Store) -> None:
        """Raise WorkbenchError if the job could not begin, which takes a while to find out."""

    def start(self, store: Store, preview: Preview) -> int:
        """Queue the job of a preview, start its worker, and return the job's number.

        Raises WorkbenchError, before anything is queued, if the job could not begin.
        """
        from workbench.jobs import launch

        self.check_start(store)
        return launch.start_job(store, self.KIND, preview.specification, preview.n_units)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"found {text!r}; every quotation mark needs a second one") from error


def words_of(options: Mapping[str, Option], names: Iterable[str]) -> str:
    """Return how options are typed in a line: `model=… audit=… skip`."""
    return " ".join(
        options[name].word if options[name].type is Type.FLAG else f"{options[name].word}=…"
        for name in names
    )


def _names(value: Any) -> tuple[str, ...]:
    return listed(value) if isinstance(value, str) else tuple(value or ())


def _read(declared: Option, text: str) -> Any:
    """Return the value of a typed text; an empty one stands for the default, if there is one."""
    if not text and (declared.none or declared.default in EMPTY):
        return () if declared.many else declared.default
    if declared.many:
        return tuple(map(declared.read, _names(text)))
    return declared.read(text)

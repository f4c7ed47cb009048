"""Writes `workbench/api/typed.py` from the declared options: python -m tests.typed_options"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent, wrap

import workbench
from workbench import registry
from workbench.api.options import keyword_of, takes_several
from workbench.commands.agreement import OPTIONS as AGREEMENT
from workbench.commands.command import Command, ImmediateCommand, JobCommand
from workbench.commands.import_file import ImportCommand
from workbench.commands.registry import (
    IMMEDIATE_COMMANDS,
    JOB_COMMANDS,
    immediate_command,
    job_command,
)
from workbench.commands.review import REVIEW_OPTIONS
from workbench.commands.run import AGAIN, RunCommand, run_options
from workbench.options.option import Option, Type

PLACE = Path(workbench.__file__).parent / "api" / "typed.py"
WIDTH = 100
KINDS = [kind for kind in JOB_COMMANDS if kind != RunCommand.KIND]
"kinds of jobs that are started by a method of the store; `workbench.run` asks a model"
BY_HAND = ("export",)
"verbs whose method of the store is written by hand, since it has defaults and results of its own"
FILES_OR_VALUES = ("map", "personas")
"options that are typed as values, or as the path of a file with them"
OPEN = ("reader", "audit", "format")
"options whose choices other packages add to"
HEAD = '''"""Options with their types, and the methods that take those of each audit.

`python -m tests.typed_options` writes this file.
"""

# fmt: off

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

if TYPE_CHECKING:
    from workbench.api.commands import Finished
    from workbench.api.results import Result'''


def typed() -> str:
    """Return the module: a TypedDict of options for each audit, and the methods that take them."""
    audits = tuple(registry.SHIPPED)
    figures = {name: registry.audit(name).figure_options for name in audits}
    every = [option for options in figures.values() for option in options]
    common = [
        one
        for one in figures[audits[0]]
        if all(one.name in {o.name for o in of} for of in figures.values())
    ]
    judging = [option for name in audits for option in registry.audit(name).judges_by]
    asked = [option for option in (AGAIN, *run_options()) if option.name not in ("model", "audit")]
    of_agreement = [option for option in AGREEMENT if option.name != "queue"]
    parts = [
        _class("Asked", "Options of `workbench run`: what is asked.", asked),
        _class(
            "Judging", "How the answers to an audit are judged, as a frozen plan has it.", judging
        ),
        _class("AnyFigures", "Options of the figures of any audit.", every),
        _class("CommonFigures", "Options that the figures of every audit take.", common),
        _class("AgreementFigures", "Options of `workbench agreement`.", of_agreement),
        _class("ReviewFigures", "Options of `workbench review`.", REVIEW_OPTIONS),
        *(
            _class(_named(name), f"Options of the figures of {name}.", of)
            for name, of in figures.items()
        ),
    ]
    imported = [option for option in ImportCommand.options().values() if option.name != "path"]
    parts.append(_class("ImportOptions", "Options of `workbench import`.", imported))
    commands = {kind: job_command(kind) for kind in KINDS}
    parts += [
        _class(_options_name(command), f"Options of `workbench {kind}`.", options_of(command))
        for kind, command in commands.items()
    ]
    immediate = {name: immediate_command(name) for name in IMMEDIATE_COMMANDS}
    parts += [
        _class(
            _options_name(command),
            f"Options of `workbench {command.VERB}`.",
            _further_options(command),
        )
        for command in immediate.values()
        if _further_options(command)
    ]
    doors = [
        _doors(figures),
        *(_method(kind, command) for kind, command in commands.items()),
        *(
            _immediate_method(name, command)
            for name, command in immediate.items()
            if name not in BY_HAND
        ),
    ]
    return "\n\n\n".join((HEAD, *parts, "\n\n".join(doors))) + "\n"


def options_of(command: type[Command]) -> list[Option]:
    """Return the options of a command, in their order."""
    return list(command.options().values())


def _options_name(command: type[Command]) -> str:
    return command.__name__.replace("Command", "Options")


def _method(kind: str, command: type[JobCommand]) -> str:
    """Return the method that carries out a command."""
    lines = [
        "    @abstractmethod",
        "    def _carry_out(",
        "        self, kind: str, options: Mapping[str, Any], *, quiet: bool",
        "    ) -> Finished: ...",
        "",
        "    @abstractmethod",
        "    def _do(self, verb: str, options: Mapping[str, Any]) -> Finished: ...",
        "",
    ]
    method = [
        f"    def {kind}(",
        f"        self, *, quiet: bool = True, **options: Unpack[{_options_name(command)}]",
        "    ) -> Finished:",
        f'        """{command.__doc__}',
        "",
        "        A worker process does it; this waits for its end. Options are those of",
        f"        `workbench {kind}`, by their names. `quiet`: print no progress.",
        "",
        "        Raises ReadOnlyStore for a store opened for reading, UsageError if there is nothing to",
        "        work on, JobError if the job did not finish.",
        '        """',
        f'        return self._carry_out("{kind}", options, quiet=quiet)',
    ]
    return "\n".join(method if kind != KINDS[0] else [*lines, *method])


def _immediate_method(name: str, command: type[ImmediateCommand]) -> str:
    """Return the method of a command that is done at once. Required options are parameters."""
    acts = [option for option in options_of(command) if option.name == command.ACT]
    required = [option for option in options_of(command) if _is_parameter(command, option)]
    required = [option for option in required if option.type is not Type.FLAG]
    positional = [option for option in required if option.positional or option.name == command.ACT]
    keywords = [option for option in required if option not in positional]
    parameters = ["self", *map(_parameter, positional)]
    parameters += ["*", *map(_parameter, keywords)] if keywords else []
    values = [f'"{keyword_of(option)}": {keyword_of(option)}' for option in required]
    values += [f'"{option.name}": True' for option in acts if option.type is Type.FLAG]
    if _further_options(command):
        parameters.append(f"**options: Unpack[{_options_name(command)}]")
        values.insert(0, "**options")
    errors = "" if command.READS_ONLY else "ReadOnlyStore for a store opened for reading, "
    lines = [
        f"    def {name}(",
        *(f"        {parameter},{_noqa(parameter)}" for parameter in parameters),
        "    ) -> Finished:",
        f'        """{command.__doc__}',
        "",
        f"        Options are those of `workbench {command.VERB}`, by their names.",
        "",
        f"        Raises {errors}WorkbenchError for what cannot be done.",
        '        """',
        f"        values = {{{', '.join(values)}}}",
        f'        return self._do("{name}", values)',
    ]
    return "\n".join(lines)


def _further_options(command: type[ImmediateCommand]) -> list[Option]:
    """Return the options that are no parameters of their own."""
    return [option for option in options_of(command) if not _is_parameter(command, option)]


def _is_parameter(command: type[ImmediateCommand], option: Option) -> bool:
    """Return whether an option is a parameter of its own."""
    return option.required or option.positional or option.name in ("what", command.ACT)


def _noqa(parameter: str) -> str:
    """Return the comment that lets a parameter have the name of a builtin."""
    name = parameter.partition(":")[0]
    return "  # noqa: A002  the option's name" if hasattr(builtins, name) else ""


def _parameter(option: Option) -> str:
    kinds = dict.fromkeys(kind for kind in _kinds(option) if kind != "None")
    text = f"{keyword_of(option)}: {_union(kinds)}"
    if option.positional and not option.required:
        text += " | None = None"
    if len(text) < WIDTH - 10:
        return text
    lines = wrap(text, WIDTH - 12, break_on_hyphens=False)
    return f"\n{' ' * 12}".join(lines)


def _named(audit: str) -> str:
    return "".join(part.capitalize() for part in audit.split("_")) + "Figures"


def _class(name: str, about: str, options: Iterable[Option]) -> str:
    """Return a TypedDict. Options of one name in several audits have all of their types."""
    kinds: dict[str, dict[str, None]] = {}
    helps: dict[str, dict[str, None]] = {}
    for option in options:
        key = keyword_of(option)
        kinds.setdefault(key, {}).update(dict.fromkeys(_kinds(option)))
        helps.setdefault(key, {}).setdefault(option.explained or option.title)
    lines = [f"class {name}(TypedDict, total=False):", f'    """{about}"""', ""]
    for key, of in kinds.items():
        lines += [f"    {key}: {_union(of)}", *_help("; ".join(helps[key]))]
    return "\n".join(lines)


def _kinds(option: Option) -> Iterator[str]:
    """Yield the types of an option's values."""
    if option.type is Type.FLAG:
        yield "bool"
        return
    if option.choices and option.name not in OPEN:
        yield from (f'Literal["{name}"]' for name in option.choices)
    else:
        yield {Type.WHOLE: "int", Type.NUMBER: "float"}.get(option.type, "str")
    if option.type is Type.PATH or option.name in FILES_OR_VALUES:
        yield "Path"
    yield from (f'Literal["{word}"]' for word in option.words)
    if "=" in option.metavar:
        yield "Mapping[str, str]"
    if takes_several(option):
        yield "Sequence[str]"
        if str(option.metavar).startswith("N|"):
            yield "int"
    if option.default is None:
        yield "None"


def _union(kinds: Iterable[str]) -> str:
    every = [*kinds]
    words = [
        one.removeprefix("Literal[").removesuffix("]")
        for one in every
        if one.startswith("Literal[")
    ]
    if "str" in every:
        words = []
    rest = [one for one in every if not one.startswith("Literal[") and one != "None"]
    literal = [f"Literal[{', '.join(dict.fromkeys(words))}]"] if words else []
    return " | ".join((*literal, *rest, *(["None"] if "None" in every else [])))


def _help(text: str) -> list[str]:
    plain = text.replace("\\", "/").replace('"""', "'''")
    return indent(
        "\n".join(wrap(f'"""{plain}"""', WIDTH - 4, break_on_hyphens=False)), "    "
    ).split("\n")


def _doors(figures: Mapping[str, Sequence[Option]]) -> str:
    """Return the class with an overload of each method for each audit."""
    lines = [
        "class Typed(ABC):",
        '    """What a store says of an audit, with the options of each audit."""',
        "",
        "    @abstractmethod",
        "    def _result(",
        "        self, audit: str, options: Mapping[str, Any], runs: Sequence[str] | None = None",
        "    ) -> Result: ...",
    ]
    comparing = [name for name, of in figures.items() if "compare" in {one.name for one in of}]
    for door, first, names in (
        ("results", "self", [*figures]),
        ("compare", "self, *runs: str", comparing),
    ):
        for name in names:
            usual = " = ..." if name == registry.DEFAULT_AUDIT else ""
            lines += [
                "",
                "    @overload",
                f"    def {door}(",
                f'        {first}, audit: Literal["{name}"]{usual}, **options: Unpack[{_named(name)}]',
                "    ) -> Result: ...",
            ]
        lines += [
            "",
            "    @overload",
            f"    def {door}({first}, audit: str, **options: Unpack[CommonFigures]) -> Result: ...",
            "",
            f'    def {door}({first}, audit: str = "{registry.DEFAULT_AUDIT}", **options: Any) -> Result:',
            *_DOCS[door],
        ]
    return "\n".join(lines)


_DOCS = {
    "results": (
        '        """Return an audit\'s result: the figures that `--json` prints.',
        "",
        '        Options are those of the audit\'s command, by their names: `model="smollm2"`,',
        '        `sampling="T 1"`, `resamples=500`. Those of an audit of another package are a',
        "        `dict[str, Any]`: `**options`.",
        "",
        "        Raises UnknownName for an unknown audit or model, AmbiguousRun if several runs match,",
        "        FieldError for an invalid value of an option.",
        '        """',
        "        return self._result(audit, options)",
    ),
    "compare": (
        '        """Return the differences between two or more runs, with tests: those of `--compare`.',
        "",
        "        Parameters",
        "        ----------",
        "        runs : names of runs, or of models that were asked in one way alone",
        "        audit : whose figures are compared",
        "        options : those of the audit's command",
        "",
        "        Raises UsageError for fewer than two runs, UnknownName and AmbiguousRun for a name that",
        "        means none or several.",
        '        """',
        "        return self._result(audit, options, runs)",
    ),
}


if __name__ == "__main__":
    PLACE.write_text(typed(), encoding="utf-8")

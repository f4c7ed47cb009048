"""Converts declared options to parameters of click, with completion.

Errors name the flag.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from workbench.errors import FieldError
from workbench.options.option import LONG, METAVARS, Option, Type

Completer = Callable[[click.Context, Option, str], Sequence[CompletionItem]]
"returns completions of a typed prefix, for options with names from elsewhere"


def parameter(option: Option, complete: Completer | None = None) -> click.Parameter:
    """Return an option as a parameter of a command.

    `complete` finds the names of `option.completes`.
    """
    default_setting = {} if option.default is None else {"default": option.default}
    click_type = OptionType(option, complete)
    if option.positional:
        settings: dict[str, Any] = {
            "metavar": _metavar(option),
            "nargs": -1 if option.many else 1,
            **default_setting,
        }
        return click.Argument([option.name], type=click_type, required=option.required, **settings)
    if option.type is Type.FLAG:
        return click.Option([option.flag, option.name], is_flag=True, help=option.explained)
    if option.several:
        names = [option.flag, option.name]
        return click.Option(
            names,
            type=click_type,
            multiple=True,
            metavar=_metavar(option),
            help=option.explained,
            **default_setting,
        )
    n_values = 1 if isinstance(option.metavar, str) else len(option.metavar)
    bare_settings = {} if option.bare is None else {"is_flag": False, "flag_value": option.bare}
    return click.Option(
        [option.flag, option.name],
        type=click_type if n_values == 1 else (click_type,) * n_values,
        required=option.required,
        multiple=option.many,
        metavar=_metavar(option),
        help=option.explained,
        **default_setting,
        **bare_settings,
    )


def spread(arguments: Sequence[str], flags: Collection[str]) -> list[str]:
    """Return a command line with the flag repeated for every value of a flag with several values.

    Examples
    --------
    >>> spread(["x.db", "--compare", "a", "b", "--json"], {"--compare"})
    ['x.db', '--compare', 'a', '--compare', 'b', '--json']
    """
    words: list[str] = []
    flag = ""
    for index, word in enumerate(arguments):
        if word.startswith("--") or word == "-h":
            flag = word if word in flags else ""
            words.append(word)
        else:
            needs_flag = flag and arguments[index - 1] != flag
            words += [flag, word] if needs_flag else [word]
    return words


class OptionType(click.ParamType[Any]):
    """The click type of a declared option."""

    def __init__(self, option: Option, complete: Completer | None = None) -> None:
        self.option, self._complete = option, complete
        self.name = option.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Return the typed value.

        Another option's name is not a value: then the actual value is missing.
        """
        if not isinstance(value, str):
            return value
        flags = (
            {flag for parameter_ in ctx.command.params for flag in parameter_.opts}
            if ctx is not None
            else ()
        )
        if value in flags and value.startswith("--"):
            raise click.UsageError(
                f"{self.option.flag} needs a value, and the option {value} follows it; give the "
                "value between them",
                ctx,
            )
        try:
            return self.option.read(value)
        except FieldError as error:
            raise click.UsageError(named(error), ctx) from error

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002  the interface of click
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the completions of the current word."""
        if self.option.type is Type.PATH and not self.option.completes:
            return [CompletionItem(incomplete, type="file")]
        if self.option.completes and self._complete is not None:
            return list(self._complete(ctx, self.option, incomplete))
        return [CompletionItem(name) for name in self.option.choices if name.startswith(incomplete)]


def named(error: FieldError) -> str:
    """Return an error message that names the flag."""
    return f"{error.flag or error.field}: {error.reason}"


def as_arguments(options: Iterable[Option], values: Mapping[str, Any]) -> list[str]:
    """Return the command-line arguments that set options to these values.

    None, empty values and False are omitted, and defaults are included.

    Examples
    --------
    >>> options = Option("top_p", type=Type.NUMBER), Option("exact", type=Type.FLAG)
    >>> as_arguments(options, {"top_p": 0.5, "exact": True})
    ['--top-p', '0.5', '--exact']
    """
    words: list[str] = []
    for option in options:
        value = values.get(option.name)
        if value is None or value is False or value in ("", ()):
            continue
        if option.type is Type.FLAG:
            words.append(option.flag)
        elif option.many:
            for element in value:
                words += [option.flag, option.text(element)]
        elif option.several or isinstance(option.metavar, tuple):
            words += [option.flag, *value]
        else:
            words += [option.flag, option.text(value)]
    return words


def _metavar(option: Option) -> str:
    if isinstance(option.metavar, tuple):
        return " ".join(option.metavar)
    if option.positional:
        name = option.metavar or option.name.upper()
        return name if option.required else f"[{name}]"
    choices = "|".join(option.choices)
    return option.metavar or (choices if 0 < len(choices) <= LONG else METAVARS[option.type])

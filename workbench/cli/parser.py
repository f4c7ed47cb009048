"""Verbs as click's commands: loaded on use, listed in sections, with errors that name what is
near.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from shlex import join
from textwrap import wrap
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from workbench import registry
from workbench.cli.completing import complete, is_sqlite, stores
from workbench.cli.verbs import Namespace, Verb
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.options.flags import parameter, spread
from workbench.options.option import Section
from workbench.options.schema import AS_PUBLISHED
from workbench.options.shared import STORE

if TYPE_CHECKING:
    from workbench.options.option import Option

NEAR = 0.7
"how like a word a verb or an option must be; a word that is less so is rather the name of a store"
NAMES = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True, slots=True)
class Listed:
    """A verb in the list of verbs: what it does in a line, and where it stands."""

    module: str
    "below `workbench.cli`; `module:name` of what an audit brings"
    help: str
    function: str = ""
    "empty: as the verb"


class Command(click.Command):
    """One verb."""

    def __init__(self, name: str, verb: Verb, summary: str) -> None:
        self.verb = verb
        super().__init__(
            name,
            context_settings={**NAMES, "allow_extra_args": True},
            callback=lambda **values: verb(Namespace(**values)),
            params=[parameter(option, complete) for option in verb.options],
            help=verb.about or f"{summary[:1].upper()}{summary[1:]}.",
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options; refuse words that belong to none, and options that exclude each
        other.
        """
        several = {option.flag for option in self.verb.options if option.several}
        if args and not ctx.resilient_parsing:
            self._check_store(ctx, args[0])
        try:
            rest = super().parse_args(ctx, spread(args, several))
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click leaves it out where an option lacks its values
            raise
        if not ctx.resilient_parsing:
            if ctx.args:
                ctx.fail(
                    "; ".join(
                        f"found {visible(word)!r}, which belongs to no option" for word in ctx.args
                    )
                )
            for part in self.verb.parts:
                if isinstance(part, Section) and part.one_of:
                    self._check_one(ctx, part.options)
        return rest

    def _check_store(self, ctx: click.Context, word: str) -> None:
        """Raise UsageError where one of the verb's acts, or a word like one, is in the place of the
        store.
        """
        positional = [option for option in self.verb.options if option.positional]
        if (
            STORE.name not in [option.name for option in positional]
            or Path(word).suffix
            or Path(word).exists()
        ):
            return
        acts = [act for option in positional for act in option.choices]
        if near := get_close_matches(word, acts, n=1, cutoff=NEAR):
            ctx.fail(f"found {word!r} in place of a store: {ctx.command_path} STORE {near[0]}")

    def _check_one(self, ctx: click.Context, options: Sequence[Option]) -> None:
        given = [
            one.flag
            for one in options
            if ctx.get_parameter_source(one.name) is ParameterSource.COMMANDLINE
        ]
        if len(given) > 1:
            ctx.fail(f"found {' and '.join(given)}, which exclude each other; give one")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, the options, and each section under its heading."""
        records = {param.name: param.get_help_record(ctx) for param in self.get_params(ctx)}
        declared = {option.name for option in self.verb.options}
        loose = [part for part in self.verb.parts if not isinstance(part, Section)]
        arguments = [
            (one.metavar or one.flag, one.explained) for one in loose if one.positional and one.help
        ]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(str(name), about) for name, about in arguments])
        for section in (
            Section("Options", loose),
            *(one for one in self.verb.parts if isinstance(one, Section)),
        ):
            rows = [
                row for one in section.options if not one.positional and (row := records[one.name])
            ]
            if section.brief:
                with formatter.section(section.title):
                    flags = ", ".join(one.flag for one in section.options)
                    room = formatter.width - formatter.current_indent
                    for line in wrap(flags, room, break_on_hyphens=False):
                        formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                continue
            if section.title == "Options":
                rows += [row for name, row in records.items() if name not in declared and row]
            with formatter.section(section.title):
                if section.about:
                    formatter.write_text(section.about)
                    formatter.write_paragraph()
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write what each act of a verb does, and the epilog in the lines that it has."""
        for option in self.verb.options:
            if option.positional and isinstance(option.choices, Mapping):
                with formatter.section(f"{option.title.capitalize()}s"):
                    formatter.write_dl(list(option.choices.items()))
        if self.verb.epilog:
            formatter.write(f"\n{self.verb.epilog}\n")


class Verbs(click.Group):
    """The list of verbs. One is imported when it is used, or when its help is asked for."""

    def __init__(
        self,
        groups: Mapping[str, Mapping[str, Listed]],
        default: str,
        alone: Callable[[click.Context], int],
        *,
        about: str,
        epilog: str,
        version: str,
    ) -> None:
        """`groups`: what one wants to do -> its verbs; `default`: the verb that is meant where the
        first word names none; `alone`: what is done without a word.
        """
        super().__init__(
            "workbench",
            help=about,
            callback=lambda: (
                0 if (ctx := click.get_current_context()).invoked_subcommand else alone(ctx)
            ),
            invoke_without_command=True,
            context_settings=dict(NAMES),
            params=[
                click.Option(
                    ["--version"],
                    is_flag=True,
                    expose_value=False,
                    is_eager=True,
                    callback=_printer(f"workbench {version}"),
                    help="print the version",
                )
            ],
        )
        self.groups, self.default, self.end = groups, default, epilog
        self.listed = {name: one for verbs in groups.values() for name, one in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the verbs, in the order in which they are listed."""
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:  # noqa: ARG002
        """Return the command of a verb."""
        found = self.listed.get(cmd_name)
        if found is None:
            return None
        if ":" in found.module:  # an audit brings it
            from workbench.cli.planning import of_audit

            return Command(cmd_name, of_audit(cmd_name, resolve_name(found.module)), found.help)
        module = import_module(f"workbench.cli.{found.module}")
        return Command(cmd_name, getattr(module, found.function or cmd_name), found.help)

    def narrowed(
        self, ctx: click.Context, words: Sequence[str], *, look: bool = False
    ) -> Command | None:
        """Return the command of a verb, with the options that the words after the verb leave.
        `look`: it may look into the store that they name.
        """
        name, *rest = words
        command = self.get_command(ctx, name)
        if command is None or command.verb.narrowed is None:
            return command
        return Command(name, command.verb.narrowed(rest, look), self.listed[name].help)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that is meant and its arguments; a first word that is none of them names
        a store.
        """
        if args[0] in self.listed:
            return args[0], self.narrowed(ctx, args, look=not ctx.resilient_parsing), args[1:]
        if not ctx.resilient_parsing and args[0] in registry.FORMER:
            raise UsageError(replaced(*args))
        if not ctx.resilient_parsing:
            if told := self.store_first(args):
                ctx.fail(told)
            if told := self.meant(args[0]):
                ctx.fail(told)
        return self.default, self.get_command(ctx, self.default), args

    def store_first(self, words: Sequence[str]) -> str:
        """Return the command that is meant where the store stands before a verb or an audit, or an
        empty text.
        """
        store, verb, *rest = *words, ""
        if verb in self.listed:
            command = ("workbench", verb, store, *filter(None, rest))
        elif verb in registry.audits():
            command = ("workbench", "show", store, verb, *filter(None, rest))
        else:
            return ""
        return (
            f"found {visible(verb)!r} after the store {visible(store)!r}; a command comes "
            f"first: {join(command)}"
        )

    def meant(self, word: str) -> str:
        """Return which verb a word is like, and what replaces a former one; or an empty text.

        The text is empty, too, if the word names a file. An audit's name is like a verb that prints
        its figures.
        """
        if Path(word).exists() or Path(word).name != word or Path(word).suffix:
            return ""
        instead = {name: join(("workbench", "show", "STORE", name)) for name in registry.audits()}
        instead |= {name: replaced(name).partition(": ")[2] for name in registry.FORMER}
        near = get_close_matches(word, [*self.listed, *instead], n=1, cutoff=NEAR)
        if not near:
            return ""
        named = f"did you mean {near[0]!r}?" if near[0] != word else "it is an audit."
        command = (
            f" Its figures: {instead[near[0]]}."
            if near[0] in instead and near[0] not in self.listed
            else ""
        )
        return (
            f"there is no command {word!r}; {named}{command} A store of that name: workbench "
            f"./{word}"
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Name the verbs by what one wants to do, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(title, " ".join(verbs)) for title, verbs in self.groups.items()])

    def commands_page(self) -> str:
        """Return every verb with its line, under what one wants to do, as Markdown."""
        parts = [
            f"## {title.capitalize()}\n\n"
            + "\n".join(f"- `{name}`: {one.help}" for name, one in verbs.items())
            for title, verbs in self.groups.items()
        ]
        return "\n\n".join(["# Commands", *parts])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the epilog in the lines that it has."""
        formatter.write(f"\n{self.end}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return verbs and stores, of which either may come first."""
        verbs = [
            CompletionItem(name, help=one.help)
            for name, one in self.listed.items()
            if name.startswith(incomplete)
        ]
        options = (
            []
            if verbs or not incomplete.startswith("-")
            else super().shell_complete(ctx, incomplete)
        )
        paths = (
            []
            if options
            else [one for one in stores(incomplete) if one.type == "plain" or not verbs]
        )
        return [*verbs, *options, *paths]


def replaced(verb: str, *words: str) -> str:
    """Return which command replaces one of `registry.FORMER`."""
    rest = [
        part
        for word in words
        for part in (word.split("=", 1) if word.startswith("--audit=") else (word,))
    ]
    audit, *table = registry.FORMER[verb].split()
    if "--audit" in rest:
        at = rest.index("--audit")
        _, *named = rest[at : at + 2]
        del rest[at : at + 2]
        audit = named[0] if named and verb == next(iter(registry.FORMER)) else audit
    given = [word for word in rest if is_sqlite(Path(word))] or [
        word for word in rest if not word.startswith("-")
    ]
    store = given[0] if given else "STORE"
    if given:
        rest.remove(store)
    return f"{verb} is now: {join(('workbench', 'show', store, audit, *(table or rest)))}"


def said(error: click.UsageError) -> str:
    """Return what is wrong with a command line; an option that there is not, with what there is in
    its place.
    """
    if not isinstance(error, click.NoSuchOption):
        return error.format_message()
    params = error.ctx.command.get_params(error.ctx) if error.ctx else ()
    there = [flag[2:] for param in params for flag in param.opts if flag.startswith("--")]
    if AS_PUBLISHED.flag[2:] in there and error.option_name in _settled(error.ctx):
        meant = f"{AS_PUBLISHED.flag} sets it, with the other published rules"
    else:
        near = get_close_matches(error.option_name.lstrip("-"), there, n=1, cutoff=NEAR)
        meant = f"did you mean --{near[0]}?" if near else "--help lists those there are"
    return f"there is no option {error.option_name}; {meant}"


def _settled(ctx: click.Context | None) -> set[str]:
    """Return the flags of what `--as-published` sets, in the audits that a command is about."""
    verb = ctx.command.verb if ctx is not None and isinstance(ctx.command, Command) else None
    named = (
        [one for option in verb.options if option.name == "audit" for one in option.choices]
        if verb
        else []
    )
    every = [registry.audit(one).options for one in named or registry.audits()]
    return {of.declared()[name].option.flag for of in every for name in of.published()}


def _printer(text: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value and not ctx.resilient_parsing:
            click.echo(text)
            ctx.exit()

    return show

"""Verbs as click's commands: loaded on use, listed in sections, with hints in errors.

An error on an unknown name has a similar one.
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
"""how similar a verb or an option must be to a word; a less similar word is rather the name of a
store"""
NAMES = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True, slots=True)
class Listed:
    """A verb in the list of verbs: its line of help, and the place of its function."""

    module: str
    "below `workbench.cli`; `module:name` of what an audit brings"
    help: str
    function: str = ""
    "empty: the name of the verb"


class VerbCommand(click.Command):
    """The command of a verb."""

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
        """Read the options.

        Refuse words that belong to none, and options that exclude each other.
        """
        flags_of_several = {option.flag for option in self.verb.options if option.several}
        if args and not ctx.resilient_parsing:
            self._check_store(ctx, args[0])
        try:
            remaining = super().parse_args(ctx, spread(args, flags_of_several))
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
        return remaining

    def _check_store(self, ctx: click.Context, word: str) -> None:
        """Raise UsageError if an act of the verb, or a similar word, is in place of the store."""
        positional = [option for option in self.verb.options if option.positional]
        if (
            STORE.name not in [option.name for option in positional]
            or Path(word).suffix
            or Path(word).exists()
        ):
            return
        acts = [act for option in positional for act in option.choices]
        if similar := get_close_matches(word, acts, n=1, cutoff=NEAR):
            ctx.fail(f"found {word!r} in place of a store: {ctx.command_path} STORE {similar[0]}")

    def _check_one(self, ctx: click.Context, options: Sequence[Option]) -> None:
        """Raise UsageError if a command line has several options that exclude each other."""
        flags = [
            option.flag
            for option in options
            if ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        ]
        if len(flags) > 1:
            ctx.fail(f"found {' and '.join(flags)}, which exclude each other; give one")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, the options, and each section under its heading."""
        records = {param.name: param.get_help_record(ctx) for param in self.get_params(ctx)}
        declared = {option.name for option in self.verb.options}
        top_options = [part for part in self.verb.parts if not isinstance(part, Section)]
        arguments = [
            (option.metavar or option.flag, option.explained)
            for option in top_options
            if option.positional and option.help
        ]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(str(name), description) for name, description in arguments])
        for section in (
            Section("Options", top_options),
            *(section for section in self.verb.parts if isinstance(section, Section)),
        ):
            rows = [
                row
                for option in section.options
                if not option.positional and (row := records[option.name])
            ]
            if section.brief:
                with formatter.section(section.title):
                    flags = ", ".join(option.flag for option in section.options)
                    room = formatter.width - formatter.current_indent
                    for line in wrap(flags, room, break_on_hyphens=False):
                        formatter.write(f"{'':{formatter.current_indent}}{line}\n")
                continue
            if section.title == "Options":
                rows += [row for name, row in records.items() if name not in declared and row]
            if not rows:
                continue
            with formatter.section(section.title):
                if section.about:
                    formatter.write_text(section.about)
                    formatter.write_paragraph()
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write what each act of a verb does, and the epilog in its own lines."""
        for option in self.verb.options:
            if option.positional and isinstance(option.choices, Mapping):
                with formatter.section(f"{option.title.capitalize()}s"):
                    formatter.write_dl(list(option.choices.items()))
        if self.verb.epilog:
            formatter.write(f"\n{self.verb.epilog}\n")


class Verbs(click.Group):
    """The list of verbs. A verb is imported when it is used, or when its help is asked for."""

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
        """Make the list of verbs.

        Parameters
        ----------
        groups : what a user wants to do -> its verbs
        default : the verb that is meant if the first word names none
        alone : carries out a command line without a word
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
        self.listed = {name: entry for verbs in groups.values() for name, entry in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the verbs, in the order of the list."""
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> VerbCommand | None:  # noqa: ARG002
        """Return the command of a verb."""
        entry = self.listed.get(cmd_name)
        if entry is None:
            return None
        if ":" in entry.module:  # an audit brings it
            from workbench.cli.planning import of_audit

            return VerbCommand(cmd_name, of_audit(cmd_name, resolve_name(entry.module)), entry.help)
        module = import_module(f"workbench.cli.{entry.module}")
        return VerbCommand(cmd_name, getattr(module, entry.function or cmd_name), entry.help)

    def narrowed(
        self, ctx: click.Context, words: Sequence[str], *, look: bool = False
    ) -> VerbCommand | None:
        """Return the command of a verb, with the options that the words after the verb leave.

        `look` allows it to look into the store that they name.
        """
        name, *arguments = words
        command = self.get_command(ctx, name)
        if command is None or command.verb.narrowed is None:
            return command
        return VerbCommand(name, command.verb.narrowed(arguments, look), self.listed[name].help)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that is meant and its arguments.

        A first word that is no verb names a store.
        """
        if args[0] in self.listed:
            return args[0], self.narrowed(ctx, args, look=not ctx.resilient_parsing), args[1:]
        if not ctx.resilient_parsing and args[0] in registry.FORMER:
            raise UsageError(replaced(*args))
        if not ctx.resilient_parsing:
            if message := self.store_first(args):
                ctx.fail(message)
            if message := self.meant(args[0]):
                ctx.fail(message)
        return self.default, self.get_command(ctx, self.default), args

    def store_first(self, words: Sequence[str]) -> str:
        """Return a message with the right command if a store stands before a verb or an audit.

        It is empty otherwise.
        """
        store, verb, *arguments = *words, ""
        if verb in self.listed:
            command = ("workbench", verb, store, *filter(None, arguments))
        elif verb in registry.audits():
            command = ("workbench", "show", store, verb, *filter(None, arguments))
        else:
            return ""
        return (
            f"found {visible(verb)!r} after the store {visible(store)!r}; a command comes "
            f"first: {join(command)}"
        )

    def meant(self, word: str) -> str:
        """Return a message on the verb that a word resembles, and on what replaces a former one.

        It is empty if no verb is similar, or if the word names a file. An audit's name resembles a
        verb that prints its figures.
        """
        if Path(word).exists() or Path(word).name != word or Path(word).suffix:
            return ""
        replacement_by_name = {
            name: join(("workbench", "show", "STORE", name)) for name in registry.audits()
        }
        replacement_by_name |= {name: replaced(name).partition(": ")[2] for name in registry.FORMER}
        similar = get_close_matches(word, [*self.listed, *replacement_by_name], n=1, cutoff=NEAR)
        if not similar:
            return ""
        hint = f"did you mean {similar[0]!r}?" if similar[0] != word else "it is an audit."
        command = (
            f" Its figures: {replacement_by_name[similar[0]]}."
            if similar[0] in replacement_by_name and similar[0] not in self.listed
            else ""
        )
        return (
            f"there is no command {word!r}; {hint}{command} A store of that name: workbench "
            f"./{word}"
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Name the verbs by what a user wants to do, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(title, " ".join(verbs)) for title, verbs in self.groups.items()])

    def commands_page(self) -> str:
        """Return every verb with its line, by what a user wants to do, as Markdown."""
        sections = [
            f"## {title.capitalize()}\n\n"
            + "\n".join(f"- `{name}`: {entry.help}" for name, entry in verbs.items())
            for title, verbs in self.groups.items()
        ]
        return "\n\n".join(["# Commands", *sections])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the epilog in its own lines."""
        formatter.write(f"\n{self.end}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return verbs and stores, as either may come first."""
        verbs = [
            CompletionItem(name, help=entry.help)
            for name, entry in self.listed.items()
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
            else [item for item in stores(incomplete) if item.type == "plain" or not verbs]
        )
        return [*verbs, *options, *paths]


def replaced(verb: str, *words: str) -> str:
    """Return a message with the command that replaces one of `registry.FORMER`."""
    remaining = [
        piece
        for word in words
        for piece in (word.split("=", 1) if word.startswith("--audit=") else (word,))
    ]
    audit, *table = registry.FORMER[verb].split()
    if "--audit" in remaining:
        index = remaining.index("--audit")
        _, *audits = remaining[index : index + 2]
        del remaining[index : index + 2]
        audit = audits[0] if audits and verb == next(iter(registry.FORMER)) else audit
    stores_named = [word for word in remaining if is_sqlite(Path(word))] or [
        word for word in remaining if not word.startswith("-")
    ]
    store = stores_named[0] if stores_named else "STORE"
    if stores_named:
        remaining.remove(store)
    return f"{verb} is now: {join(('workbench', 'show', store, audit, *(table or remaining)))}"


def said(error: click.UsageError) -> str:
    """Return the message on a wrong command line.

    If it has an unknown option, the message names the option that is meant.
    """
    if not isinstance(error, click.NoSuchOption):
        return error.format_message()
    params = error.ctx.command.get_params(error.ctx) if error.ctx else ()
    option_names = [flag[2:] for param in params for flag in param.opts if flag.startswith("--")]
    if AS_PUBLISHED.flag[2:] in option_names and error.option_name in _settled(error.ctx):
        hint = f"{AS_PUBLISHED.flag} sets it, with the other published rules"
    else:
        similar = get_close_matches(error.option_name.lstrip("-"), option_names, n=1, cutoff=NEAR)
        hint = f"did you mean --{similar[0]}?" if similar else "--help lists those there are"
    return f"there is no option {error.option_name}; {hint}"


def _settled(ctx: click.Context | None) -> set[str]:
    """Return the flags of what `--as-published` sets, in the audits that a command is about."""
    verb = ctx.command.verb if ctx is not None and isinstance(ctx.command, VerbCommand) else None
    audits = (
        [audit for option in verb.options if option.name == "audit" for audit in option.choices]
        if verb
        else []
    )
    option_classes = [registry.audit(audit).options for audit in audits or registry.audits()]
    return {
        option_class.declared()[name].option.flag
        for option_class in option_classes
        for name in option_class.published()
    }


def _printer(text: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return the callback of a click option that prints a text and exits."""

    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value and not ctx.resilient_parsing:
            click.echo(text)
            ctx.exit()

    return show

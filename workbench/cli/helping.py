"""The command that prints help: pages on topics, and the help of commands."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import click

from workbench import registry
from workbench.cli.output import print_json, say, table
from workbench.cli.parser import VerbCommand, Verbs, replaced
from workbench.cli.verbs import Namespace, Part, Verb, verb
from workbench.errors import UnknownName, UsageError
from workbench.figures.visible import visible
from workbench.options.flags import parameter
from workbench.options.option import Option, Section
from workbench.options.shared import JSON

REFERENCE_WIDTH = 100
SHARED = "Shared options"
COMMANDS = "commands"
"the topic that lists every command in a line"
HEAD = (
    "workbench help TOPIC prints a page. TOPIC can also be a command: workbench help run, or "
    "help show AUDIT"
)


@verb(
    Option(
        "topic", "a topic or a command", none="list the topics", positional=True, completes="topics"
    ),
    Option(
        "audit",
        "of show: the audit whose options are explained",
        positional=True,
        choices=registry.audits(),
    ),
    about="Print a page of help, as Markdown when piped. Without TOPIC, list the topics.",
)
def help_(options: Namespace) -> int:
    """Print a page, the help of a command, or the list of topics."""
    from workbench.help import topic, topics

    if options.topic is None:
        say(HEAD)
        say()
        table(
            ("topic", "about"),
            [
                (COMMANDS, "every command in a line"),
                *((entry.name, entry.title) for entry in topics()),
            ],
            whole=1,
        )
        return 0
    try:
        page = _commands() if options.topic == COMMANDS else topic(options.topic).words
    except UnknownName:
        if not _command(options.topic, *([options.audit] if options.audit else ())):
            raise
        return 0
    if sys.stdout.isatty():
        _paint(page)
    else:
        print(visible(page.rstrip("\n"), lines=True))
    return 0


def _command(name: str, *audit: str) -> bool:
    """Print the help of a command, and return whether there is one of that name."""
    context = click.get_current_context().parent
    if context is None or not isinstance(context.command, Verbs):
        return False
    if name in registry.FORMER:
        raise UsageError(replaced(name, "--help"))
    command = context.command.narrowed(context, [name, "STORE", *audit])
    if command is None:
        return False
    print(command.get_help(click.Context(command, info_name=name, parent=context)))
    return True


def _commands() -> str:
    from workbench.cli.main import workbench

    return workbench().commands_page()


def _paint(text: str) -> None:
    """Print a page as a terminal shows it.

    Commands stand on lines of their own, unbroken, as they are to be copied.
    """
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import CodeBlock, Markdown
    from rich.padding import Padding
    from rich.text import Text

    class Commands(CodeBlock):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield Padding(
                Text(str(self.text).rstrip(), style="bold", no_wrap=True, overflow="ignore"),
                (0, 0, 1, 4),
            )

    class Page(Markdown):
        elements: ClassVar = {**Markdown.elements, "fence": Commands, "code_block": Commands}

    Console(highlight=False).print(Page(visible(text, lines=True), hyperlinks=False), crop=False)


def reference() -> str:
    """Return the options of every verb as Markdown, in the order of the list of verbs.

    `reference.md` is made of it. An option that several verbs explain in the same words is
    explained once, at the beginning.
    """
    from workbench.cli.main import workbench

    verbs = workbench()
    context = click.Context(verbs, info_name="workbench", max_content_width=REFERENCE_WIDTH)
    commands = {" ".join(words): _command_of(verbs, context, words) for words in _listed(verbs)}
    shared = _shared_options(commands.values())
    return "\n".join(_sections(commands, shared, context))


def _command_of(verbs: Verbs, context: click.Context, words: list[str]) -> VerbCommand:
    command = verbs.narrowed(context, words)
    assert command is not None
    return command


def _shared_options(commands: Iterable[VerbCommand]) -> dict[str, Option]:
    """Return the options that several verbs explain in the same words, by their flags.

    If the verbs explain a flag in several ways, the most frequent one is shared.
    """
    options_by_flag: dict[str, list[Option]] = defaultdict(list)
    for command in commands:
        for option in _explained(command.verb):
            options_by_flag[option.flag].append(option)
    shared = {}
    for flag, options in sorted(options_by_flag.items()):
        [((_, explanation), uses)] = Counter(map(_wording, options)).most_common(1)
        if uses > 1:
            shared[flag] = next(option for option in options if option.explained == explanation)
    return shared


def _explained(verb: Verb) -> Iterator[Option]:
    """Yield the options whose meaning the help of a verb says."""
    for part in verb.parts:
        if isinstance(part, Option):
            yield part
        elif not part.brief:
            yield from part.options


def _wording(option: Option) -> tuple[object, str]:
    return option.metavar, option.explained


def _sections(
    commands: Mapping[str, VerbCommand], shared: Mapping[str, Option], context: click.Context
) -> Iterator[str]:
    formatter = click.HelpFormatter(width=REFERENCE_WIDTH)
    parameters = [parameter(option) for option in shared.values() if not option.positional]
    formatter.write_dl([row for entry in parameters if (row := entry.get_help_record(context))])
    yield _section(SHARED, formatter.getvalue())
    for words, command in commands.items():
        verb = _without_shared(command.verb, shared)
        name = words.partition(" ")[0]
        shorter = VerbCommand(name, replace(verb, about=command.help or ""), "")
        shorter.add_help_option = False
        command_context = click.Context(
            shorter,
            info_name=name,
            parent=context,
            terminal_width=REFERENCE_WIDTH,
            max_content_width=REFERENCE_WIDTH,
        )
        yield _section(words, shorter.get_help(command_context))


def _without_shared(verb: Verb, shared: Mapping[str, Option]) -> Verb:
    """Return a verb that only names the shared options.

    Of one that differs in its default, the default is kept.
    """
    own_parts: list[Part] = []
    named: list[Option] = []
    for part in verb.parts:
        if isinstance(part, Section) and part.brief:
            continue
        options = [part] if isinstance(part, Option) else part.options
        own: list[Option] = []
        for option in options:
            if option.flag not in shared:
                own.append(option)
            elif _wording(option) == _wording(shared[option.flag]):
                if option.positional:
                    own.append(option.but(help=""))
                else:
                    named.append(option)
            else:
                own.append(_with_default_alone(option, shared[option.flag]))
        if isinstance(part, Option):
            own_parts += own
        elif own:
            own_parts.append(replace(part, options=own))
    if named:
        own_parts.append(Section(SHARED, named, brief=True))
    return replace(verb, parts=own_parts)


def _with_default_alone(option: Option, shared: Option) -> Option:
    """Return an option without its help if only its default differs from the shared one."""
    is_same = (option.metavar, option.help) == (shared.metavar, shared.help)
    return option.but(help="") if is_same and not option.choices else option


def _section(title: str, text: str) -> str:
    """Return a section of the page, with its text as it is printed."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


def _listed(verbs: Verbs) -> Iterator[list[str]]:
    """Yield every verb, and `show` with each audit."""
    for name in verbs.listed:
        yield [name]
        if name == "show":
            yield from ([name, "STORE", audit] for audit in registry.SHIPPED)


EPILOG = """The file is TOML with a table for each screen; other keys keep their defaults:

  [jobs]
  pause = "P"
  retry = "ctrl+r,f6"

An entry is not used where its key already does something else on the same
screen, labels answers, or takes F1, Ctrl+P or q away; the list ends with such
entries."""


@verb(JSON, epilog=EPILOG)
def keys(options: Namespace) -> int:
    """Print every action of every screen with its id and its keys, and the file for other keys."""
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.keymap import bindings, checked, effect_of, keymap_file, read_keymap

    keymap = checked(read_keymap(), WorkbenchApp)
    rows = [
        (name, keymap.keys.get(name, binding.key), effect_of(binding))
        for name, binding in sorted(bindings(WorkbenchApp).items())
    ]
    if options.json:
        print_json(
            {
                "file": str(keymap_file()),
                "keys": [
                    {"id": action, "keys": action_keys, "does": description}
                    for action, action_keys, description in rows
                ],
                "wrong": keymap.wrong,
            }
        )
        return 0
    for name, bound, description in rows:
        say(f"{name:<34} {bound:<28} {description}")
    say(f"\nTo change keys, edit {keymap_file()}.")
    for sentence in keymap.wrong:
        say(f"not used: {sentence}")
    return 0

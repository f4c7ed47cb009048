"""The command line as a function: arguments in, exit code out.

Exit codes: 0 done; 1 failed, or `lint` and `doctor` found an error; 2 the request cannot be carried
out as asked; 3 stopped or paused on request, what was stored stays; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click
from click.exceptions import Exit

from workbench import registry
from workbench.cli.completing import COMPLETE
from workbench.cli.parser import Listed, Verbs, said
from workbench.cli.verbs import AT_HAND, hint
from workbench.entry_points import SKIPPED
from workbench.errors import FieldError, NewerStore, WorkbenchError
from workbench.figures.visible import visible
from workbench.options.flags import named
from workbench.version import __version__

ABOUT = """Annotate and audit the political and survey-response biases of language models. Alone it opens the
terminal with a list of stores, with STORE that store."""  # noqa: E501
EPILOG = """workbench COMMAND --help explains a command; workbench help commands lists them.
Exit codes: 0 done; 1 failed, or lint / doctor found an error; 2 cannot be
carried out as asked; 3 stopped or paused on request (what was stored stays);
130 interrupted"""

BEGIN, WRITE, ASK, READ, JUDGE, LABEL, REVIEW, TAKE = (
    *(
        "begin",
        "write statements",
        "ask models",
        "read answers",
        "judge",
        "label",
        "review",
        "take along",
    ),
)
"tasks of a user, in the order of the work"

SHIPPED = {
    BEGIN: {
        "demo": Listed("demonstrating", "audit the embedded model on a shipped instrument"),
        "init": Listed("acts", "make a store"),
        "open": Listed(
            "acts", "open the terminal; `workbench STORE` is short for it", "open_store"
        ),
        "import": Listed(
            "acts", "import an instrument: statements, labels, answers", "import_instrument"
        ),
        "doctor": Listed("doctor", "check what works on this machine, and how to fix the rest"),
        "keys": Listed("helping", "keys of the terminal, and where to change them"),
        "help": Listed(
            "helping", "pages on topics: what each paper prints, and the command for it", "help_"
        ),
        "completion": Listed("completing", "print a script for command completion in a shell"),
    },
    WRITE: {
        "statements": Listed(
            "statements", "list, write, vary, tag, archive statements; their versions"
        ),
        "draft": Listed("drafting", "draft wordings with a model or a rule; decide on drafts"),
        "check": Listed("checking", "compute similarities and entailments of wordings"),
        "lint": Listed("checking", "check instruments before any GPU time is spent"),
        "issues": Listed("issues", "policy issues: scheme, labels, agreement, gold, ties"),
        "choices": Listed("choices", "multiple-choice questions, their changed forms and typos"),
    },
    ASK: {
        "plan": Listed("planning", "freeze what will be asked and judged, before the first answer"),
        "run": Listed("running", "ask a model, in a worker that outlives this terminal"),
        "jobs": Listed("jobs", "list jobs; pause, resume, cancel, retry, edit or follow one"),
        "snapshots": Listed("snapshots", "snapshots of served models that answered"),
        "survey": Listed("surveys", "answer statements yourself: the human upper bound"),
    },
    READ: {
        "thoughts": Listed("showing", "a model's thinking before its answers; no reader uses it"),
        "train": Listed("classifying", "fine-tune a stance classifier on labels, and test it"),
        "classify": Listed("classifying", "read new free-text answers with a classifier"),
        "classifiers": Listed(
            "classifying", "how good a classifier is, and above which confidence"
        ),
    },
    JUDGE: {
        "show": Listed("showing", "an audit's figures, as tables or files; what each audit found"),
        "agreement": Listed(
            "annotating", "how far the annotators of a queue agree: kappas, alpha, AC1"
        ),
    },
    LABEL: {
        "sample": Listed("annotating", "draw a queue of answers or statements for people to label"),
        "annotate": Listed("annotating", "label a queue in the terminal"),
        "adjudicate": Listed("annotating", "list disagreements, or decide one"),
        "labels": Listed("annotating", "queues and their progress; export, import or merge labels"),
        "codebook": Listed(
            "annotating", "the codebook that people label by: read it, change it, its versions"
        ),
        "people": Listed("annotating", "who the annotators and respondents are, without names"),
    },
    REVIEW: {
        "review": Listed("reviewing", "what an auditor should review first, and why"),
        "rule": Listed(
            "reviewing", "rule on what a result rests on: misread, at fault, excluded, …"
        ),
        "rulings": Listed(
            "reviewing", "auditors' rulings, and what can be ruled on; undo, export, import"
        ),
    },
    TAKE: {
        "report": Listed("exporting", "write a report: a page that opens offline, with its data"),
        "export": Listed("exporting", "write an instrument, or rows for pandas, R and DuckDB"),
        "prompts": Listed(
            "planning", "write prompts for another program; its answers can be imported"
        ),
    },
}


def _grouped() -> dict[str, dict[str, Listed]]:
    """Return the verbs by what a user wants to do, including those of audits."""
    groups = {title: dict(verbs) for title, verbs in SHIPPED.items()}
    for audit in registry.every_audit():
        for verb, module, summary, *title in audit.verbs:
            groups.setdefault(title[0] if title else JUDGE, {})[verb] = Listed(module, summary)
    return groups


GROUPS = _grouped()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. A user's mistake gives a message and an exit code, never a traceback."""
    AT_HAND.set(None)
    _write_any_character()
    verbs = workbench()
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(verbs, {}, "workbench", COMPLETE, instruction)
    try:
        with verbs.make_context(
            "workbench", list(sys.argv[1:] if argv is None else argv)
        ) as context:
            return int(verbs.invoke(context))
    except Exit as exit_request:
        return exit_request.exit_code
    except click.UsageError as error:
        usage_context = error.ctx
        usage = f"{usage_context.get_usage()}\n" if usage_context is not None else ""
        path = usage_context.command_path if usage_context is not None else "workbench"
        print(f"{usage}{path}: error: {visible(said(error), lines=True)}", file=sys.stderr)
        return 2
    except WorkbenchError as error:
        message = named(error) if isinstance(error, FieldError) else str(error)
        print(f"workbench: {visible(hint(message), lines=True)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("workbench: interrupted; everything stored stays", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Standard output is flushed once more at exit, which must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if not (explanation := _of_store(error)):
            raise
        print(f"workbench: {visible(explanation, lines=True)}", file=sys.stderr)
        return 1
    finally:
        for point, reason in SKIPPED.items():
            print(
                f"workbench: {visible(f'{point} of another package is not used: {reason}')}",
                file=sys.stderr,
            )


def _write_any_character() -> None:
    """Let output show the number of a character that its encoding lacks, such as `\\u2013`.

    Without this, such a character is an error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not (stream.encoding or "").lower().startswith(
            "utf"
        ):
            stream.reconfigure(errors="backslashreplace")


def _of_store(error: Exception) -> str:
    """Return a sentence on the store at hand if its contents led to an error.

    It is empty if the error is the program's own.
    """
    store = AT_HAND.get()
    if store is None or not store.is_file():
        return ""
    from stores.core.rescue import TRACEBACK, damage_message
    from stores.core.store import Store

    try:
        Store.open_for_reading(store).close()
    except NewerStore as newer:
        return str(newer)
    except Exception:  # noqa: S110 - what else is wrong with it, `damage_message` says
        pass
    return "" if os.environ.get(TRACEBACK) else damage_message(error, store)


def workbench() -> Verbs:
    """Return the command line: the verbs, none of them imported yet."""
    return Verbs(GROUPS, "open", alone, about=ABOUT, epilog=EPILOG, version=__version__)


def alone(context: click.Context) -> int:
    """Open the terminal on the choice of a store. If nobody sits at one, print the help."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print(context.get_help())
        return 0
    from workbench.cli.acts import welcome

    return welcome()

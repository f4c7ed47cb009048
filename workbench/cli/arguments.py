"""The arguments of the commands that every audit shares; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli import arguments_response_bias as response_bias
from workbench.cli import arguments_verdicts
from workbench.cli.arguments_questionnaire_results import questionnaire_options
from workbench.cli.arguments_seed import seed_option
from workbench.cli.figures import figure_options
from workbench.inference.dtypes import DTYPES

SCREENS = (
    *("home", "statements", "jobs", "audit", "annotate", "results", "consistency", "questionnaire", "response_bias"),
)
FORMATS = ("csv", "jsonl", "probvaa", "propositions", "answers", "choices", "biasmonkey")
AUDITS = ("reliability", "bias_score", "statement_labels", "questionnaire", "response_bias")
DEMONSTRATED = ("reliability", "bias_score", "questionnaire", "response_bias")

Commands = argparse._SubParsersAction  # the type has no public name


def add_open(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands of this group."""
    command = commands.add_parser("open", help="open the terminal workbench; `workbench STORE` is short for it")
    command.add_argument("store", type=Path, help="the project's file; made after asking where there is none")
    command.add_argument("--screen", choices=SCREENS, default="home")
    _person(command)


def add_instruments(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands of this group."""
    init = commands.add_parser("init", help="make a store")
    init.add_argument("store", type=Path)
    init.add_argument("--demo", action="store_true", help="with the instrument that ships with workbench")

    importer = commands.add_parser("import", help="import an instrument: statements, templates, labels, answers")
    importer.add_argument("store", type=Path)
    importer.add_argument("path", type=Path, metavar="PATH")
    importer.add_argument("--format", required=True, choices=FORMATS, help="see data/README.md")
    importer.add_argument("--name", help="name of the instrument in the store (default: the file's own)")
    importer.add_argument("--instrument", help="answers: whose questions they are to (default: the only one)")
    importer.add_argument("--missing", metavar="CODE,…", help="answers: what is no answer, as in --missing=-99,99")
    importer.add_argument("--ignore", metavar="COLUMN,…", help="answers: columns that are no questions")
    importer.add_argument("--skip", action="store_true", help="biasmonkey: leave out files at fault, and name them")
    importer.add_argument("--left-right", type=Path, metavar="CSV", help="probvaa: parties' left-right positions")
    json_option(importer)

    lint = commands.add_parser("lint", help="check instruments before any GPU time is spent")
    lint.add_argument("store", type=Path)
    lint.add_argument("--instrument", help="only this one (default: all)")
    lint.add_argument("--language", help="only wordings in this language (default: all)")
    lint.add_argument("--code", metavar="CODE,…", help="only these findings, as the column `finding` names them")
    lint.add_argument("--all", action="store_true", help="waived findings too")
    act = lint.add_mutually_exclusive_group()
    act.add_argument("--waive", metavar="KEY", help="let a finding stand, with --reason, as --person")
    act.add_argument("--unwaive", metavar="KEY", help="take a waiver back, as --person")
    lint.add_argument("--reason", metavar="TEXT", help="why it may stand")
    lint.add_argument("--person", metavar="NAME", help="who waives")
    figure_options(lint)


def add_run(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands of this group."""
    run = commands.add_parser("run", help="ask a model, in a worker process that outlives this terminal")
    run.add_argument("store", type=Path)
    run.add_argument("--audit", default="reliability", choices=AUDITS, help="default: reliability")
    run.add_argument(
        "--model", required=True, help="smollm2, a hub id, a folder, a .gguf file, openai:NAME[@URL], scripted"
    )
    run.add_argument("--instrument", help="needed where the store holds several")
    run.add_argument(
        "--statements", metavar="N|REF,…", help="the first N, or these (default: all); of a questionnaire its targets"
    )
    run.add_argument(
        "--variants", metavar="V,…", help="original, paraphrase-1, changed, … (default: those that the audit compares)"
    )
    run.add_argument("--templates", metavar="N|NAME,…", help="the first N, or these (default: all of the family)")
    run.add_argument(
        "--family",
        help="family of templates (default: the published one); of response_bias lettered, extended, steering, …",
    )
    run.add_argument("--language", help="language of the wordings (default: the instrument's)")
    run.add_argument(
        "--samples", type=int, metavar="N", help="answers to each prompt (default: as published: 30, 3 or 50)"
    )
    seed_option(run, "the answers")
    run.add_argument("--temperature", type=float, help="default: as the audit was published, as for the next three")
    run.add_argument("--top-p", type=float)
    run.add_argument("--top-k", type=int, help="0: the whole vocabulary, as commercial models are asked by default")
    run.add_argument("--max-new-tokens", type=int)
    run.add_argument(
        "--until-decided", action="store_true", help="end an answer once nothing after it can change its label"
    )
    run.add_argument(
        "--exact",
        action="store_true",
        help="compute the probabilities of the two labels, or of the offered letters; nothing is sampled",
    )
    run.add_argument(
        "--no-default-system",
        action="store_true",
        help="leave a system turn empty that the model's chat template adds by itself; this makes another model",
    )
    run.add_argument("--dtype", choices=DTYPES, help="of a local model (default: float32, on a GPU bfloat16)")
    run.add_argument(
        "--cluster", metavar="WHERE", help="answer on a Ray cluster: local (this machine's GPUs), auto, or an address"
    )
    _of_questionnaires(run)
    response_bias.run_options(run)
    run.add_argument("--yes", action="store_true", help="do not ask before starting")
    run.add_argument("--detach", action="store_true", help="start the worker and return")
    run.add_argument("--dry-run", action="store_true", help="say what would be asked, and stop")
    json_option(run)

    demo = commands.add_parser("demo", help="audit the embedded model on the shipped instrument and open the workbench")
    demo.add_argument("store", type=Path, nargs="?", default=Path("veldania.db"))
    demo.add_argument("--model", default="smollm2")
    demo.add_argument("--audit", default="reliability", choices=DEMONSTRATED)
    demo.add_argument("--no-screen", action="store_true", help="wait here and print the verdicts")


def _of_questionnaires(run: argparse.ArgumentParser) -> None:
    """Add what a questionnaire run is asked with."""
    run.add_argument(
        "--conditions",
        metavar="C,…",
        help="questionnaire: qm, zero-shot, random, permuted, reduced, all, or single ones of these (default: qm)",
    )
    run.add_argument("--respondents", type=int, metavar="N", help="questionnaire: so many, drawn (default: all)")
    run.add_argument(
        "--every",
        type=int,
        metavar="N",
        help="questionnaire: one respondent in N for wordings other than the original (default: 10)",
    )
    run.add_argument(
        "--context-questions", type=int, metavar="N", help="questionnaire: the first N context questions (default: all)"
    )
    run.add_argument(
        "--chat-format",
        metavar="MODEL|FILE",
        help="chat template of another model, or a .jinja file: for base models, which have none",
    )


JOB_ACTS = {
    "pause": "store what is at hand and wait; the worker and its model stay ready for a while",
    "resume": "go on with a job that was paused, cancelled, failed or lost; start one that waits for its turn",
    "cancel": "store what is at hand and end",
    "retry": "ask again what failed, and nothing else",
    "concurrency": "let at most N calls to a served model, or rows of a batch, be under way; N 0: as at first",
    "follow": "show how it goes until it ends; Ctrl+C leaves it running",
    "log": "print what its worker wrote",
}
"what `workbench jobs` does with one job"


def add_jobs(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands of this group."""
    acts = "\n".join(f"  {name:<12} {does}" for name, does in JOB_ACTS.items())
    jobs = commands.add_parser(
        "jobs",
        help="list jobs; pause, resume, cancel, retry or follow one",
        description="List jobs, or act on one.",
        epilog=f"acts:\n{acts}\n\nJOB may be left out where the act fits one job only.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    jobs.add_argument("store", type=Path)
    jobs.add_argument("act", nargs="?", choices=tuple(JOB_ACTS), metavar="ACT", help="see below (default: list)")
    jobs.add_argument("job", nargs="?", type=int, metavar="JOB", help="the job's number")
    jobs.add_argument("most", nargs="?", type=int, metavar="N", help="concurrency: how many at once")
    jobs.add_argument(
        "--yes", action="store_true", help="resume, retry: let a job that was created elsewhere go on without asking"
    )
    json_option(jobs)


def add_results(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands of this group."""
    verdicts = commands.add_parser(
        "verdicts", help="test every statement; or judge predicted answers of people, or response biases"
    )
    verdicts.add_argument("store", type=Path)
    run_choice(verdicts, arguments_verdicts.AUDITS)
    reliability_options(verdicts)
    exact_options(verdicts)
    verdicts.add_argument("--template", help="only this template (default: over all)")
    verdicts.add_argument("--failed", metavar="TEST", help="only statements that do not pass this test (or `all`)")
    verdicts.add_argument("--baseline", action="store_true", help="coin flips through the same tests, beside the model")
    questionnaire_options(verdicts)
    response_bias.response_bias_options(verdicts)
    response_bias.shared_options(verdicts)
    figure_options(verdicts)
    verdicts.set_defaults(**dict.fromkeys(arguments_verdicts.DEFAULTS))

    agreement = commands.add_parser("agreement", help="kappas, alpha and agreement per statement; or of people")
    agreement.add_argument("store", type=Path)
    run_choice(agreement)
    reliability_options(agreement)
    exact_options(agreement)
    agreement.add_argument("--survey", action="store_true", help="of the people who answered the same wordings")
    agreement.add_argument(
        "--as-people", action="store_true", help="the model's kappas over the statements that people answered alone"
    )
    agreement.add_argument("--queue", metavar="NAME", help="of the annotators who labelled this queue")
    agreement.add_argument("--items", action="store_true", help="per statement, or per labelled item")
    figure_options(agreement)


def run_choice(command: argparse.ArgumentParser, audits: tuple[str, ...] = ("reliability",)) -> None:
    """Add what tells one run from another."""
    command.add_argument("--audit", default="reliability", choices=audits)
    command.add_argument("--model")
    command.add_argument("--instrument")
    command.add_argument(
        "--sampling", metavar="TEXT", help="where a model has several: its description, or a part of it"
    )
    command.add_argument("--dtype", metavar="NAME", help="where a model was computed in several: float32, bfloat16, …")
    snapshot_option(command)
    template_options(command)


def template_options(command: argparse.ArgumentParser) -> None:
    """Add what tells one template from another of its name."""
    command.add_argument(
        "--family", metavar="NAME,…", help="of templates; several make a result each (default: the one asked last)"
    )
    command.add_argument(
        "--template-version",
        metavar="NAME=N,…",
        help="of templates that were edited (default: the present one if it was asked, else the one asked last)",
    )


def snapshot_option(command: argparse.ArgumentParser) -> None:
    """Add the choice among the models that an endpoint reported."""
    command.add_argument(
        "--snapshot", metavar="NAME", help="of a served model: the one that the endpoint reported, or unknown"
    )
    command.add_argument(
        "--fingerprint",
        metavar="NAME",
        help="of a served model: answers under this system_fingerprint alone (none: without one; each: split by it)",
    )


def reliability_options(command: argparse.ArgumentParser) -> None:
    """Add the choices behind the verdicts."""
    command.add_argument(
        "--rule", choices=("printed", "coded"), default="printed", help="when a leaning is reliable (default: printed)"
    )
    command.add_argument(
        "--reader", choices=("label-words", "label-words-coded"), help="of sampled answers (default: label-words)"
    )
    command.add_argument("--low", type=float, default=0.45)
    command.add_argument("--high", type=float, default=0.55)
    command.add_argument(
        "--minimum", type=int, help="readable answers needed (default: two thirds of those planned for the prompt)"
    )
    command.add_argument("--tests", metavar="TEST,…", help="which count for ALL (default: the five within a template)")
    command.add_argument(
        "--judge-void",
        action="store_true",
        help="judge tests that cannot fail too, as published (default: a test of one prompt with itself is void)",
    )
    seed_option(command, "the bootstrap intervals and the baseline")


def exact_options(command: argparse.ArgumentParser) -> None:
    """Add the choices behind verdicts on label probabilities; a sampled run has no use for them."""
    command.add_argument(
        "--named", type=float, metavar="SHARE", help="exact runs: probability that the labels need (default: 0.05)"
    )
    command.add_argument(
        "--beside", type=int, metavar="N", help="exact runs: samples a prompt of the verdict beside (default: 30)"
    )
    command.add_argument(
        "--with-unreadable",
        action="store_true",
        help="exact runs: let these samples be unreadable as often as no label begins the answer",
    )


def _person(command: argparse.ArgumentParser) -> None:
    command.add_argument("--annotator", metavar="NAME", help="who labels (default: asked for)")
    command.add_argument("--queue", metavar="NAME", help="which queue (default: chosen on the screen)")


def json_option(command: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    command.add_argument("--json", action="store_true", help="print data instead of text")


GROUPS = (add_open, add_instruments, add_run, add_jobs, add_results)

"""The command for drafts: ask a model or a rule for wordings, list what came, decide on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.output import check_agreed, print_json, say, say_wrapped, table, tell
from workbench.cli.verbs import Namespace, verb
from workbench.cli.watching import ended, started, watch
from workbench.domain.drafting import DRAFTED, DraftPrompt, kind_words
from workbench.domain.names import listed_words, plural
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import INSTRUMENT, JSON, LANGUAGE, MODEL, STARTING, STATEMENTS, STORE
from workbench.workshop.options import DRAFTING

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.drafts import Draft

RULE = "rule"
STATES = ("pending", "accepted", "edited", "rejected", "unusable")


@verb(
    STORE,
    INSTRUMENT,
    LANGUAGE,
    STATEMENTS.but(help="the first N, or these, or `targets`"),
    Option(
        "kind",
        "paraphrase, negation, opposite, reformulation, political_opposite, original (from a "
        "question), changed (of "
        "multiple-choice questions about acquiescence or allow_forbid)",
        metavar="KIND,…",
    ),
    Section(
        "Drafting",
        (
            MODEL.but(
                help="smollm2, a hub id, a folder, … as for `run`; or `rule`: English, at once",
                none="",
            ),
            Option(
                "prompt",
                "your own prompt instead of the published one of its kind; see data/README.md",
                Type.PATH,
                many=True,
            ),
            *DRAFTING,
            *STARTING,
        ),
    ),
    Section(
        "Deciding, one at a time",
        (
            flag("list", "list drafts; with --state, --kind and --statements"),
            Option(
                "accept", "accept a draft as a wording; with --person", Type.WHOLE, metavar="ID"
            ),
            flag(
                "accept_all",
                "accept all pending drafts without a hint; with --person, --kind, --statements, "
                "--job",
            ),
            Option("edit", "accept a draft with this text", metavar=("ID", "TEXT")),
            Option("reject", "reject a draft; with --person", Type.WHOLE, metavar="ID"),
            flag("undo", "undo the newest decision of --person"),
        ),
        one_of=True,
    ),
    Option("state", "list: only drafts in this state", none="all except unusable", choices=STATES),
    Option("job", "list, accept-all: only drafts of this job", Type.WHOLE),
    flag("with_hints", "accept-all: also drafts with a hint"),
    Option("person", "who decides"),
    Option("note", "note for the decision", default="", metavar="TEXT"),
    JSON,
)
def draft(options: Namespace) -> int:
    """Do one of the things that the command does."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        instrument = options.instrument or store.instruments.only()
        if options.list:
            return _list(store, instrument, options)
        if options.accept is not None or options.edit is not None:
            return _accept(store, options)
        if options.accept_all:
            return _accept_all(store, instrument, options)
        if options.reject is not None:
            store.drafts.reject(options.reject, person=_person(options), note=options.note)
            return tell(options, f"Rejected draft {options.reject}.", {"draft": options.reject})
        if options.undo:
            return _undo(store, instrument, options)
        if options.model is None:
            raise UsageError("give --model (a model, or rule) to draft, or --list to list drafts")
        return (_by_rule if options.model == RULE else _ask)(store, instrument, options)


def _ask(store: Store, instrument: str, options: Namespace) -> int:
    """Say what is asked, ask whether to start, start the worker, and watch it."""
    from workbench.jobs import launch
    from workbench.pipeline.design_checks import check_there
    from workbench.pipeline.drafting import DraftSpec, draw_samples, plan_drafting

    check_there(store, options.model)
    refs = _refs(store, instrument, options)
    prompts = tuple(changed(prompt, options) for prompt in chosen_prompts(options))
    spec = DraftSpec(instrument, options.model, prompts, refs, options.language or "", options.seed)
    plan = plan_drafting(store, spec)
    about: dict[str, Any] = {
        "prompts": len(plan.calls),
        "prompts_needed": len(plan.needed),
        "job": None,
    }
    if not options.json:
        say_wrapped(plan.describe())
    if options.dry_run or not plan.needed:
        out = 0 if options.dry_run or plan.needed else draw_samples(store, plan)
        if options.json:
            print_json(about | {"left_out": out})
        elif not plan.needed:
            more = f" The sample leaves out {plural(out, 'draft')}." if out else ""
            say(
                f"The model has drafted all of this already.{more} Next: workbench draft STORE "
                "--list"
            )
        return 0
    check_agreed(options)
    job_id = launch.start_drafting(store, spec, plan)
    if options.detach:
        return started(options, job_id, about)
    job = watch(store, job_id, quiet=options.json)
    return ended(
        options,
        job,
        about,
        "Next: workbench draft STORE --list, or review them in the terminal: Statements, r",
        "--list --state unusable shows the lines that cannot be wordings, and why",
    )


def _by_rule(store: Store, instrument: str, options: Namespace) -> int:
    from workbench.domain.drafting import RULED
    from workbench.pipeline.drafting import draft_by_rule

    kinds = kinds_of(options.kind)
    if not kinds:
        raise UsageError(f"give the kinds for the rule with --kind: {', '.join(RULED)}")
    said = draft_by_rule(
        store, instrument, kinds, _refs(store, instrument, options), options.language or ""
    )
    made = said.pop("", 0)
    why = "".join(f"; {n:,} left out: {reason}" for reason, n in said.items())
    sentence = f"{made:,} {'draft waits' if made == 1 else 'drafts wait'} for review{why}."
    return tell(options, sentence, {"drafts": made, "left_out": dict(said)})


def _list(store: Store, instrument: str, options: Namespace) -> int:
    found = _found(store, instrument, options, options.state)
    shown = [draft for draft in found if options.state or draft.state != "unusable"]
    if options.json:
        print_json([_plain(draft) for draft in shown])
        return 0
    counts = store.drafts.counts(instrument)
    if shown:
        table(
            ["id", "statement", "kind", "state", "draft", "drafter", "why"],
            [_row(draft) for draft in shown],
        )
    say(" · ".join(f"{n:,} {state}" for state, n in counts.items()))
    return 0


def _found(store: Store, instrument: str, options: Namespace, state: str | None) -> list[Draft]:
    """Return the drafts that the options leave."""
    found = store.drafts.list(
        instrument,
        state=state,
        kinds=kinds_of(options.kind),
        refs=_refs(store, instrument, options),
        language=options.language,
    )
    return [
        d
        for d in found
        if options.job is None or (d.made is not None and d.made.job == options.job)
    ]


def _accept_all(store: Store, instrument: str, options: Namespace) -> int:
    from workbench.pipeline.drafting import accept_all

    person = _person(options)
    waiting = _found(store, instrument, options, "pending")
    done = accept_all(
        store, waiting, person=person, note=options.note, with_hints=options.with_hints
    )
    data = {
        "accepted": list(done.accepted),
        "left": dict(done.left),
        "new_versions": list(done.versions),
    }
    again = " --with-hints accepts them too." if done.left and not options.with_hints else ""
    return tell(options, f"{done.said()}.{again}", data)


def _accept(store: Store, options: Namespace) -> int:
    from workbench.pipeline.drafting import accept

    number, text = (
        (options.accept, None)
        if options.edit is None
        else (_number(options.edit[0]), options.edit[1])
    )
    found = store.drafts.get(number)
    changed, variant = accept(store, found, person=_person(options), text=text, note=options.note)
    another = (
        " Models answered the old text, so the wording has a new version."
        if changed.versions
        else ""
    )
    data = {
        "draft": number,
        "statement": found.ref,
        "variant": str(variant),
        "new_version": bool(changed.versions),
    }
    return tell(
        options, f"Draft {number} is now the {_name(found, variant)} of {found.ref}.{another}", data
    )


def _undo(store: Store, instrument: str, options: Namespace) -> int:
    person = _person(options)
    newest = store.drafts.newest_of(instrument, person)
    if newest is None:
        return tell(options, f"{person} has no decision on a draft to undo.", {"draft": None})
    store.drafts.reopen(newest, person=person)
    return tell(options, f"Draft {newest} is pending again.", {"draft": newest})


def chosen_prompts(options: Namespace) -> tuple[DraftPrompt, ...]:
    """Return the prompts of the kinds that were asked for: one's own in place of those that ask for
    the same.
    """
    from workbench.data import read_prompt, shipped_drafting

    own = {(prompt.kind, prompt.bias): prompt for prompt in map(read_prompt, options.prompt)}
    kinds = kinds_of(options.kind) or tuple(dict.fromkeys(kind for kind, _ in own))
    if not kinds:
        raise UsageError(f"give the kinds to draft with --kind: {', '.join(DRAFTED)}")
    if unused := [kind.value for kind, _ in own if kind not in kinds]:
        raise UsageError(f"--prompt asks for {', '.join(unused)}, which --kind does not name")
    prompts = {(prompt.kind, prompt.bias): prompt for prompt in shipped_drafting()} | own
    return tuple(
        prompt for wanted in kinds for (kind, _), prompt in prompts.items() if kind is wanted
    )


def kinds_of(text: str | None) -> tuple[VariantKind, ...]:
    """Read `paraphrase,negation`. Raises UnknownName for what cannot be drafted."""
    known = {kind.value: kind for kind in DRAFTED}
    names = tuple(name.replace("-", "_") for name in listed_words(text))
    if odd := [name for name in names if name not in known]:
        raise UnknownName(
            f"{', '.join(map(repr, odd))} cannot be drafted. Available: {', '.join(known)}"
        )
    return tuple(known[name] for name in dict.fromkeys(names))


def changed(prompt: DraftPrompt, options: Namespace) -> DraftPrompt:
    """Return a prompt with what was asked for otherwise."""
    names = ("calls", "per_call", "keep", "temperature", "top_p", "top_k", "max_new_tokens")
    thinking = None if options.thinking is None else str(options.thinking)
    return prompt.adjusted(thinking=thinking, **{name: getattr(options, name) for name in names})


def _refs(store: Store, instrument: str, options: Namespace) -> tuple[str, ...]:
    from workbench.pipeline.planning import named_statements

    return named_statements(store, instrument, options.statements or "")


def _person(options: Namespace) -> str:
    from workbench.domain.names import person_name

    if options.person is None:
        raise UsageError("give the name of the person who decides: --person NAME")
    return person_name(options.person, "person")


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(
            f"--edit takes the number of a draft and a text; found {text!r} as the number"
        )
    return int(text)


def _name(draft: Draft, variant: VariantId) -> str:
    return kind_words(draft.kind) if draft.kind is VariantKind.CHANGED else str(variant)


def _row(draft: Draft) -> tuple[str, ...]:
    from workbench.workshop.drafting import bare, drafted, fault_in_words

    made = bare(draft.line) if draft.state == "unusable" else drafted(draft.kind, draft.line)
    text = draft.decision.text if draft.decision and draft.decision.text else made
    shown = text if len(text) <= 300 else f"{text[:300]}…"
    why = (
        fault_in_words(draft.fault)
        if draft.state == "unusable"
        else (draft.decision.note if draft.decision else "")
    )
    return (str(draft.id), draft.ref, draft.kind.value, draft.state, shown, draft.drafter, why)


def _plain(draft: Draft) -> dict[str, Any]:
    """Return a draft as data: batches are the store's own."""
    from workbench.workshop.drafting import drafted

    decision = draft.decision and {k: v for k, v in asdict(draft.decision).items() if k != "batch"}
    return asdict(draft) | {"decision": decision, "wording": drafted(draft.kind, draft.line)}

"""Checks of statements and wordings: missing ones, duplicate texts, and texts that cannot be asked.

A wording is compared by its relation, not by its kind: a free one has no expected stance. A question is not a variant
and is not compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from workbench.domain.findings import LintFinding, Quoted, folded
from workbench.domain.instruments import Instrument
from workbench.domain.statements import (
    ORIGINAL,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    text_fault,
    variant_order,
)
from workbench.lint.templates import compares_wordings

COMPARED = (VariantKind.ORIGINAL, VariantKind.PARAPHRASE, VariantKind.NEGATION, VariantKind.OPPOSITE)
"what the reliability tests ask about; the other kinds belong to the bias score, and a statement may do without them"


def statement_findings(
    instrument: Instrument, language: str | None, apart: Collection[str] = ()
) -> Iterator[LintFinding]:
    """Yield findings on statements and their wordings, in one language or in all.

    `apart`: refs of statements that need no other wordings, so they do not count where it is said who has one.
    """
    there, rare = _there(one for one in instrument.statements if one.ref not in apart)
    yield from _kinds(instrument)
    for spoken, found in rare.items():
        if language in (None, spoken):
            for variant, (held, of) in sorted(found.items(), key=lambda item: variant_order(item[0])):
                message = (
                    f"{spoken}: {variant} exists for {held:,} of {of:,} statements; the others are asked without it"
                )
                yield LintFinding("note", "rare-variant", instrument.name, message, language=spoken)
    for statement in instrument.statements:
        yield from _statement(statement, language, there, instrument.language)
    yield from _duplicates(instrument.statements, language)
    yield from _political_opposites(instrument, language)
    yield from _origins(instrument.statements)


def _same(a: str, b: str) -> str:
    """Return how two texts agree, "" if they differ."""
    if a == b:
        return "the same text as"
    return "the same text, except for case and spaces, as" if folded(a) == folded(b) else ""


def _kinds(instrument: Instrument) -> Iterator[LintFinding]:
    """Report once what no statement has, instead of once per statement."""
    there = {wording.variant.kind for statement in instrument.statements for wording in statement.wordings}
    for kind in COMPARED if compares_wordings(instrument.templates) else ():
        if kind not in there:
            article = "an" if kind.value.startswith("o") else "a"
            message = f"no statement has {article} {kind}, so the {kind} test cannot run"
            yield LintFinding("note", "no-variant", instrument.name, message)


def _there(
    statements: Iterable[Statement],
) -> tuple[dict[str, set[VariantId]], dict[str, dict[VariantId, tuple[int, int]]]]:
    """Return, by language, the compared variants that a full statement has: those of at least half of the statements;
    and (statements that have it, all) of each variant that fewer have.
    """
    held: dict[str, Counter[VariantId]] = defaultdict(Counter)
    spoken: Counter[str] = Counter()
    for statement in statements:
        spoken.update({wording.language for wording in statement.wordings})
        for wording in statement.wordings:
            if wording.variant.kind in COMPARED:
                held[wording.language][wording.variant] += 1
    full = {of: {v for v, n in counts.items() if 2 * n >= spoken[of]} for of, counts in held.items()}
    rare = {
        of: {v: (n, spoken[of]) for v, n in counts.items() if v not in full[of] and v != ORIGINAL}
        for of, counts in held.items()
    }
    return full, rare


def _statement(
    statement: Statement, language: str | None, there: Mapping[str, set[VariantId]], audited: str
) -> Iterator[LintFinding]:
    """Check one statement against `there`, what a full one has in each language; `audited` is asked by default."""
    ref = statement.ref
    by_language: dict[str, list[Wording]] = defaultdict(list)
    for wording in statement.wordings:
        by_language[wording.language].append(wording)
    if not statement.wordings:
        yield LintFinding("error", "no-original", ref, "has no wording at all, so nothing can be asked", ref)
    elif (language or audited) not in by_language:
        spoken = language or audited
        yield LintFinding("warning", "missing-language", ref, f"has no wording in {spoken}", ref, language=spoken)
    for spoken, wordings in by_language.items():
        if language in (None, spoken):
            wordings.sort(key=lambda w: variant_order(w.variant))
            yield from _alike(ref, spoken, wordings)
            yield from _missing(ref, spoken, wordings, there.get(spoken, set()))
            yield from _blanks(ref, spoken, wordings)
            yield from _unusable(ref, spoken, wordings)


def _alike(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    compared = [wording for wording in wordings if wording.relation is not Relation.FREE]
    for place, wording in enumerate(compared):
        for other in compared[:place]:
            how = _same(wording.text, other.text)
            if not how:
                continue
            kinds = {wording.variant.kind, other.variant.kind}
            nearly = kinds == {VariantKind.NEGATION, VariantKind.OPPOSITE}
            severity = "error" if wording.relation is not other.relation else "note" if nearly else "warning"
            yield LintFinding(
                severity,
                f"{wording.variant.kind}-equals-{other.variant.kind}",
                ref,
                f"{language}: {wording.variant} is {how} {other.variant}",
                ref,
                wording.variant,
                language,
                (Quoted(str(other.variant), other.text), Quoted(str(wording.variant), wording.text)),
                detail=str(other.variant),
            )


def _missing(ref: str, language: str, wordings: list[Wording], there: set[VariantId]) -> Iterator[LintFinding]:
    missing = sorted({ORIGINAL, *there} - {wording.variant for wording in wordings}, key=variant_order)
    if missing:
        severity = "error" if ORIGINAL in missing else "warning"
        message = f"{language}: has no {', no '.join(map(str, missing))}"
        yield LintFinding(severity, "missing-variant", ref, message, ref, missing[0], language)


def _blanks(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    outer = [w for w in wordings if w.text != w.text.strip()]
    inner = [w for w in wordings if "  " in w.text.strip()]
    for severity, code, where, found in (
        ("warning", "stray-blanks", "spaces around", outer),
        ("note", "double-blanks", "double spaces in", inner),
    ):
        if found:
            message = f"{language}: {where} {', '.join(str(w.variant) for w in found)}"
            texts = tuple(Quoted(str(w.variant), w.text) for w in found)
            yield LintFinding(severity, code, ref, message, ref, found[0].variant, language, texts)


def _unusable(ref: str, language: str, wordings: list[Wording]) -> Iterator[LintFinding]:
    for wording in wordings:
        if fault := text_fault(wording.text):
            message = f"{language}: {wording.variant} cannot be asked: {fault}"
            texts = (Quoted(str(wording.variant), wording.text),)
            yield LintFinding("error", "unusable-text", ref, message, ref, wording.variant, language, texts)


def _duplicates(statements: Iterable[Statement], language: str | None) -> Iterator[LintFinding]:
    """Two countries may well be asked the same; one country is not asked twice."""
    found: dict[tuple[str | None, str, str], list[tuple[str, str]]] = defaultdict(list)
    for statement in statements:
        for wording in statement.wordings:
            if wording.variant == ORIGINAL and language in (None, wording.language):
                place = statement.country, wording.language, folded(wording.text)
                found[place].append((statement.ref, wording.text))
    for (_, spoken, _), ((first, text), *others) in found.items():
        for ref, again in others:
            message = f"{spoken}: the same statement as {first}"
            texts = (Quoted(f"{first} original", text), Quoted(f"{ref} original", again))
            yield LintFinding("warning", "duplicate-statement", ref, message, ref, ORIGINAL, spoken, texts)


def _political_opposites(instrument: Instrument, language: str | None) -> Iterator[LintFinding]:
    """Note labelled statements without one, in every language where another has one."""
    spoken: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for statement in instrument.statements:
        kinds: dict[str, set[VariantKind]] = defaultdict(set)
        for wording in statement.wordings:
            kinds[wording.language].add(wording.variant.kind)
        for of, found in kinds.items():
            if language in (None, of) and statement.dimension and statement.leaning:
                spoken[of].append((statement.ref, VariantKind.POLITICAL_OPPOSITE in found))
    for of, having in spoken.items():
        for ref, has in having if any(has for _, has in having) else ():
            if not has:
                message = f"{of}: is labelled and has no political opposite, as others have"
                yield LintFinding("note", "no-political-opposite", ref, message, ref, language=of)


def _origins(statements: Iterable[Statement]) -> Iterator[LintFinding]:
    """Check the origins of statements: every chain must end at an existing statement."""
    made_from = {statement.ref: statement.derived_from for statement in statements}
    told: set[str] = set()
    for ref, origin in made_from.items():
        if origin is None:
            continue
        if origin not in made_from:
            message = f"was made from {origin}, which is archived or was never there"
            yield LintFinding("note", "unknown-origin", ref, message, ref)
        circle = _circle(ref, made_from)
        if circle and not told & set(circle):
            told |= set(circle)
            message = f"was made from itself: {' ← '.join([*circle, circle[0]])}"
            yield LintFinding("error", "circular-origin", ref, message, ref)


def _circle(ref: str, made_from: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the circle of origins that contains `ref`; empty if there is none."""
    chain = [ref]
    while (origin := made_from.get(chain[-1])) is not None and origin not in chain:
        chain.append(origin)
    return tuple(chain) if made_from.get(chain[-1]) == ref else ()

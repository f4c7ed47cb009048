"""Models' judgements of meaning: similarity of a variant to its original, and entailment.

Embeddings do not represent negation: *should be legal* and *should be illegal* have a cosine of
0.97. So a cosine shows whether two wordings are about the same subject, and only an inference model
shows whether they make the same claim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.domain.findings import Entailment, LintFinding, Quoted, folded
from workbench.domain.statements import (
    ORIGINAL,
    Relation,
    Statement,
    VariantId,
    VariantKind,
    Wording,
    text_fault,
)

Pair = tuple[str, str]
"(premise, hypothesis)"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines at which a pair of wordings is reported.

    Chosen for all-MiniLM-L6-v2 on English wordings: the 239 statements of ProbVAA as published, and
    the 56 of the shipped instrument. Cosines with the original, and of different originals with
    each other:

                              n    low   1 %   5 %  50 %  95 %  99 %  high
        ProbVAA paraphrase   717   .39   .55   .64   .81   .93   .97  1.00
        ProbVAA negation     239   .53   .57   .67   .85   .96   .97  1.00
        ProbVAA opposite     239   .55   .59   .67   .87   .96   .98  1.00
        ProbVAA originals  28441                     .16   .37   .49   .89
        shipped paraphrase   168   .50   .58   .64   .84   .93   .96   .97
        shipped negation      56   .69   .72   .77   .88   .95   .97   .98
        shipped opposite      56   .59   .67   .76   .90   .98   .99   .99
        shipped political     49   .21   .25   .31   .52   .66   .72   .72
        shipped originals   1540                     .20   .41   .56   .78

    Other encoders and languages have other distributions: check them before using these thresholds.
    """

    low: float = 0.5
    """the cosine below which a wording is as different from its original as another statement

    99 % of other statements are below.
    """
    low_negation: float = 0.6
    """the same for a negation, which keeps the words of its original, so that it lies nearer

    Of the five of ProbVAA that are below, two are faults: green space has become housing, and rents
    have become rationing.
    """
    high: float = 0.98
    """the cosine from which a wording of the same meaning hardly varies

    Examples are `should` and `ought to`, or -ised and -ized.
    """
    same_text: float = 0.995
    """the cosine from which an opposite is the same text

    Up to .99 the order of two words may reverse the meaning.
    """
    twin: float = 0.85
    """the cosine from which two statements of one country are duplicates

    Different ones reach .78.
    """


@dataclass(frozen=True, slots=True)
class Embedded:
    """Texts and their vectors."""

    places: Mapping[str, int]
    vectors: NDArray[np.float32]
    "(texts, dimensions), rows of length 1"

    def cosine(self, a: str, b: str) -> float | None:
        """Return the cosine of two texts, or None if one of them has no vector."""
        if a not in self.places or b not in self.places:
            return None
        return float(self.vectors[self.places[a]] @ self.vectors[self.places[b]])


@dataclass(frozen=True, slots=True)
class Nearness:
    """The similarity of a wording to its original."""

    ref: str
    original: Wording
    wording: Wording
    cosine: float


def nearness(
    statements: Iterable[Statement], embedded: Embedded, language: str | None = None
) -> Iterator[Nearness]:
    """Yield every wording that is compared with its original, if both have vectors.

    Questions are not compared.
    """
    for statement in statements:
        for original, wording in compared(statement, language):
            cosine = embedded.cosine(original.text, wording.text)
            if cosine is not None:
                yield Nearness(statement.ref, original, wording, cosine)


@dataclass(frozen=True, slots=True)
class SimilaritySpread:
    """The distribution of similarities of a kind's wordings to their originals.

    It is for choosing thresholds.
    """

    kind: str
    n: int
    low: float
    fifth: float
    "5 % are below"
    median: float
    ninety_fifth: float
    high: float


def spreads(near: Iterable[Nearness]) -> tuple[SimilaritySpread, ...]:
    """Return the distribution of every kind, in the order of the kinds."""
    cosines_by_kind: dict[VariantKind, list[float]] = defaultdict(list)
    for pair in near:
        cosines_by_kind[pair.wording.variant.kind].append(pair.cosine)
    return tuple(
        SimilaritySpread(
            kind.value,
            len(cosines_by_kind[kind]),
            *map(float, np.quantile(cosines_by_kind[kind], (0, 0.05, 0.5, 0.95, 1))),
        )
        for kind in VariantKind
        if cosines_by_kind[kind]
    )


def compared(
    statement: Statement, language: str | None = None
) -> Iterator[tuple[Wording, Wording]]:
    """Yield (original, wording) for the wordings with an expected relation.

    They are in one language or in all.
    """
    originals = {
        wording_.language: wording_
        for wording_ in statement.wordings
        if wording_.variant == ORIGINAL
    }
    for wording in statement.wordings:
        original = originals.get(wording.language)
        if original is None or wording is original or wording.relation is Relation.FREE:
            continue
        if language in (None, wording.language):
            yield original, wording


def similarity_findings(
    statements: Iterable[Statement],
    embedded: Embedded,
    thresholds: Thresholds,
    language: str | None = None,
) -> Iterator[LintFinding]:
    """Yield variants too different from or too similar to their original, and duplicates."""
    statements = tuple(statements)
    for near in nearness(statements, embedded, language):
        finding = _too_far(near, thresholds) or _too_near(near, thresholds)
        if finding is not None:
            code, severity, flaw = finding
            location = near.ref, near.wording.variant, near.wording.language
            message = (
                f"{near.wording.language}: {near.wording.variant} {flaw} (cosine {near.cosine:.3f})"
            )
            yield LintFinding(
                severity, code, near.ref, message, *location, _texts(near.original, near.wording)
            )
    yield from _twins(statements, embedded, thresholds.twin, language)


def entailment_findings(
    statements: Iterable[Statement], judged: Mapping[Pair, Entailment], language: str | None = None
) -> Iterator[LintFinding]:
    """Yield wordings for which a model contradicts the expected relation to the original.

    The same meaning must be entailed in both directions. A flipped wording must contradict.
    Contradiction has no direction, so both directions are averaged. A political opposite need not
    contradict, but must not be entailed.
    """
    for statement in statements:
        for original, wording in compared(statement, language):
            forward, backward = (
                judged.get((original.text, wording.text)),
                judged.get((wording.text, original.text)),
            )
            if forward is None or backward is None or folded(original.text) == folded(wording.text):
                continue
            finding = (
                _same(forward, backward)
                if wording.relation is Relation.SAME
                else _flipped(wording.variant, forward, backward)
            )
            if finding is not None:
                code, severity, claim = finding
                location = statement.ref, wording.variant, wording.language
                message = (
                    f"{wording.language}: {wording.variant} {claim} (from the original: "
                    f"{forward}; to it: {backward})"
                )
                yield LintFinding(
                    severity, code, statement.ref, message, *location, _texts(original, wording)
                )


def wanted_texts(statements: Iterable[Statement], languages: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct texts whose vectors the findings need.

    They are originals, and the wordings compared with them.

    A text that cannot be a wording is left out, as lint reports it.
    """
    texts: dict[str, None] = {}
    language_set = set(languages)
    for statement in statements:
        for wording in statement.wordings:
            if (
                wording.language in language_set
                and wording.relation is not Relation.FREE
                and not text_fault(wording.text)
            ):
                texts[wording.text] = None
    return tuple(texts)


def wanted_pairs(statements: Iterable[Statement], languages: Iterable[str]) -> tuple[Pair, ...]:
    """Return the distinct pairs of texts with an expected relation, in both directions."""
    pairs: dict[Pair, None] = {}
    language_set = set(languages)
    for statement in statements:
        for original, wording in compared(statement):
            texts = original.text, wording.text
            is_usable = not any(map(text_fault, texts)) and folded(texts[0]) != folded(texts[1])
            if wording.language in language_set and is_usable:
                pairs[texts] = pairs[texts[1], texts[0]] = None
    return tuple(pairs)


Found = tuple[str, str, str]
"(code, severity, message)"


def _too_far(near: Nearness, thresholds: Thresholds) -> Found | None:
    """Return the finding for a too different wording.

    A political opposite, which is another idea, has none.
    """
    kind = near.wording.variant.kind
    if kind is VariantKind.POLITICAL_OPPOSITE:
        return None
    low = thresholds.low_negation if kind is VariantKind.NEGATION else thresholds.low
    if near.cosine >= low:
        return None
    consequence = (
        "the meaning may be lost"
        if near.wording.relation is Relation.SAME
        else "it may be about something else"
    )
    return "too-far", "warning", f"is far from its original: {consequence}"


def _too_near(near: Nearness, thresholds: Thresholds) -> Found | None:
    """Return the finding for a too similar wording.

    Negations differ by one word, and lint reports equal texts.
    """
    if near.wording.variant.kind is VariantKind.NEGATION or folded(near.wording.text) == folded(
        near.original.text
    ):
        return None
    if near.wording.relation is Relation.SAME and near.cosine >= thresholds.high:
        return "too-near", "note", "hardly differs from its original: it tests next to nothing"
    if near.wording.relation is Relation.FLIPPED and near.cosine >= thresholds.same_text:
        return "too-near", "note", "is nearly the text of its original: does it mean the opposite?"
    return None


def _twins(
    statements: tuple[Statement, ...], embedded: Embedded, at_least: float, language: str | None
) -> Iterator[LintFinding]:
    """Yield statements of one country that nearly duplicate an earlier one.

    Each comes with the most similar one.
    """
    originals_by_country: dict[tuple[str | None, str], list[tuple[str, str]]] = defaultdict(list)
    for statement in statements:
        for wording in statement.wordings:
            if (
                wording.variant == ORIGINAL
                and language in (None, wording.language)
                and wording.text in embedded.places
            ):
                originals_by_country[statement.country, wording.language].append(
                    (statement.ref, wording.text)
                )
    for (_, tongue), originals in originals_by_country.items():
        vectors = embedded.vectors[[embedded.places[text] for _, text in originals]]
        cosines = np.tril(vectors @ vectors.T, k=-1)
        for i, (ref, text) in enumerate(originals):
            j = int(cosines[i].argmax())
            first, other = originals[j]
            if j < i and cosines[i, j] >= at_least and folded(text) != folded(other):
                message = f"{tongue}: says nearly what {first} says (cosine {cosines[i, j]:.3f})"
                texts = (Quoted(f"{first} original", other), Quoted(f"{ref} original", text))
                yield LintFinding(
                    "warning", "near-duplicate", ref, message, ref, ORIGINAL, tongue, texts
                )


def _same(forward: Entailment, back: Entailment) -> Found | None:
    labels = {forward.label, back.label}
    if "contradiction" in labels:
        return (
            "nli-contradicts",
            "warning",
            "should mean the same, and a model sees a contradiction",
        )
    if labels == {"neutral"}:
        return (
            "nli-neutral",
            "note",
            "should mean the same, and a model sees that neither follows from the other",
        )
    if "neutral" in labels:
        amount = "more" if forward.label == "neutral" else "less"
        return (
            "nli-one-way",
            "note",
            f"should mean the same, and a model sees that it claims {amount}",
        )
    return None


def _flipped(variant: VariantId, forward: Entailment, back: Entailment) -> Found | None:
    mean = Entailment(
        (forward.entailment + back.entailment) / 2,
        (forward.neutral + back.neutral) / 2,
        (forward.contradiction + back.contradiction) / 2,
    )
    if mean.label == "entailment":
        return (
            "nli-entails",
            "warning",
            "should mean the opposite, and a model sees that it follows",
        )
    if mean.label == "neutral" and variant.kind is not VariantKind.POLITICAL_OPPOSITE:
        return "nli-neutral", "note", "should mean the opposite, and a model sees no contradiction"
    return None


def _texts(original: Wording, wording: Wording) -> tuple[Quoted, Quoted]:
    return Quoted(str(ORIGINAL), original.text), Quoted(str(wording.variant), wording.text)

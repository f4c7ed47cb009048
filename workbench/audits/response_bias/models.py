"""Tables of response biases by model: the score, human-likeness, valid answers, and likeness to people's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from workbench.audits.response_bias import columns as columns
from workbench.audits.response_bias.changes import Changes
from workbench.audits.response_bias.figures import HumanLikeness
from workbench.audits.response_bias.names import kind_name
from workbench.audits.response_bias.people import INTERVAL
from workbench.audits.response_bias.words import why
from workbench.domain.counting import plural
from workbench.domain.verdicts import Estimate
from workbench.figures.pictures.of_table import Forest, Stacked
from workbench.figures.table import Column, Kind, Link, Table


def scores(found: Changes) -> Table[str]:
    """Return what is said of each model over all biases."""

    def score(name: str, value: int) -> int | None:
        return value if found.reports[name].score.biases else None

    def likeness(name: str, wanted: bool | None) -> int | None:
        those = found.likeness(name)
        return sum(one.most_human_like is wanted for one in those) if those else None

    differ = any(report.score.signed != report.score.human_like for report in found.reports.values())
    signed = (
        "score as published: +1 for a significant bias above 0, -1 below; different if the definition reverses "
        "the sign of allow/forbid."
    )
    return Table(
        "scores",
        "Over all biases",
        list(found.reports),
        [
            columns.model(lambda name: name),
            Column("score", "score", lambda name: score(name, found.reports[name].score.human_like), Kind.BALANCE),
            Column("score_as_published", "as published", lambda name: score(name, found.reports[name].score.signed),
                   Kind.BALANCE, aside=not differ),
            Column("biases", "biases", lambda name: score(name, found.reports[name].score.biases), Kind.COUNT,
                   help="with a test; the score is a sum over these"),
            Column("most_human_like", "most human-like", lambda name: likeness(name, True), Kind.COUNT,
                   help="biases that move the model as they move people, while no typo does"),
            Column("open", "open", lambda name: likeness(name, None), Kind.COUNT, help="biases that lack a test"),
            Column("valid", "valid answers", lambda name: found.validity[name].mean, Kind.SHARE, scale=(0, 1),
                   help="offered letters among all answers drawn, mean over questions"),
            Column("people", "like people", _people(found), Kind.COEFFICIENT, scale=(0, 1),
                   help="1 - the distance of the model's and people's answers to the original questions"),
        ],
        key=lambda name: (name,),
        notes=[
            "score: +1 for a significant bias that is human-like, -1 for one that is opposite; – where no bias has a "
            "test, or not all of them are looked at.",
            *[signed] * differ,
        ],
        link=lambda name: Link("likeness", (name,)),
    )  # fmt: skip


def _people(found: Changes) -> Callable[[str], Estimate | None]:
    return lambda name: found.people[name].mean if name in found.people else None


def likeness(found: Changes) -> Table[tuple[str, HumanLikeness]]:
    """Return whether each bias moves each model as it moves people, and why not."""
    return Table(
        "likeness",
        "Whether a bias moves a model as it moves people",
        [(name, one) for name in found.reports for one in found.likeness(name)],
        [
            columns.model(lambda row: row[0]),
            Column("bias", "bias", lambda row: kind_name(row[1].bias), words=found.words),
            Column("most_human_like", "most human-like", lambda row: row[1].most_human_like),
            Column("why", "because", lambda row: why(row[1])),
            Column("human_like", "human-like", lambda row: row[1].human_like, Kind.BALANCE, aside=True,
                   help="+1: significant in people's direction, -1: in the opposite direction"),
            Column("perturbed", "moved by", lambda row: row[1].perturbed, Kind.WORDS, aside=True,
                   words=columns.CONDITION_WORDS, help="perturbations under which the answers change significantly"),
            Column("untested", "not tested", lambda row: row[1].untested, Kind.WORDS, aside=True,
                   words=columns.CONDITION_WORDS),
            Column("tested", "tested", lambda row: row[1].tested, aside=True),
        ],
        key=lambda row: (row[0], str(row[1].bias)),
        definition="A model is most human-like in a bias that changes its answers like people's, while no "
        "typo, which people overlook, changes them.",
        empty="Human-likeness needs a bias and all typos; this selection lacks some.",
        link=lambda row: Link("place", (kind_name(row[1].bias), "bias")),
    )  # fmt: skip


def valid_answers(found: Changes) -> Table[str]:
    """Return how many of the answers were offered letters, by model."""
    imported = [name for name, subject in found.subjects.items() if subject.way == "imported"]
    again = f"{', '.join(imported)}: imported; answers that were drawn again count only if the source kept them."
    return Table(
        "valid_answers",
        "Valid answers",
        list(found.validity),
        [
            columns.model(lambda name: name),
            Column("mean", "share", lambda name: found.validity[name].mean, Kind.SHARE, scale=(0, 1),
                   help="mean over questions"),
            Column("questions", "questions", lambda name: len(found.validity[name].shares), Kind.COUNT,
                   help="a question counts once for each compared form"),
            Column("without", "without any", lambda name: found.validity[name].without, Kind.COUNT,
                   help="questions without any valid answer"),
        ],
        key=lambda name: (name,),
        definition="Answers with an offered letter among all answers drawn; for exact probabilities, the probability "
        "of the offered letters.",
        notes=[again] * bool(imported),
        link=lambda name: Link("validity", (name,)),
        pictures=[Forest(values=["mean"], rows=["model"])],
    )  # fmt: skip


def validity(found: Changes) -> Table[tuple[str, int, int, int]]:
    """Return how often answers were offered letters, by question (figure 6)."""
    rows = [
        (name, place, len(one.histogram), count)
        for name, one in found.validity.items()
        for place, count in enumerate(map(int, one.histogram))
    ]
    return Table(
        "validity",
        "Questions by their share of valid answers",
        rows,
        [
            columns.model(lambda row: row[0]),
            Column("from", "from", lambda row: row[1] / row[2], Kind.SHARE),
            Column("to", "to", lambda row: (row[1] + 1) / row[2], Kind.SHARE),
            Column("questions", "questions", lambda row: row[3], Kind.COUNT),
        ],
        key=lambda row: (row[0], str(row[1])),
        pictures=[Stacked(values=["questions"], rows=["from", "to"], series="model")],
    )


def validity_shares(found: Changes) -> Table[tuple[str, int, float]]:
    """Return the share of valid answers of every question, of which `validity` is the histogram."""
    return Table(
        "validity_shares",
        "Share of valid answers by question",
        [(name, n, float(share)) for name, one in found.validity.items() for n, share in enumerate(one.shares)],
        [
            columns.model(lambda row: row[0]),
            Column("question", "question", lambda row: row[1], Kind.COUNT),
            Column("share", "share", lambda row: row[2], Kind.SHARE),
        ],
        key=lambda row: (row[0], str(row[1])),
    )


def people(found: Changes) -> Table[str]:
    """Return how near answers to the original questions come to people's (table 4)."""
    left_out = (
        f"{name}: {plural(n, 'question')} left out, {reason}"
        for name, one in found.people.items()
        for reason, n in Counter(left.reason for left in one.left_out).items()
    )
    return Table(
        "people",
        "Likeness to people's answers to the original questions",
        list(found.people),
        [
            columns.model(lambda name: name),
            Column("likeness", "likeness", lambda name: found.people[name].mean, Kind.COEFFICIENT, scale=(0, 1)),
            Column("questions", "questions", lambda name: found.people[name].mean.n, Kind.COUNT),
            Column("left_out", "left out", lambda name: len(found.people[name].left_out), Kind.COUNT),
        ],
        key=lambda name: (name,),
        definition="1 − the Wasserstein distance of the shares, mean over questions; 1: the same. Options are treated "
        "as a scale with equal steps, in their printed order.",
        notes=[*left_out, f"[ ]: {INTERVAL}."],
        empty=f"The questions of {found.instrument} that were asked have no human shares.",
        link=lambda name: Link("people_questions", (name,)),
        pictures=[Forest(values=["likeness"], rows=["model"])],
    )


def people_questions(found: Changes) -> Table[tuple[str, str, float, str]]:
    """Return the likeness to people in every question, and why others say nothing."""
    rows = []
    for name, one in found.people.items():
        rows += [(name, key, value, "") for key, value in one.alignments]
        rows += [(name, left.key, float("nan"), left.reason) for left in one.left_out]
    return Table(
        "people_questions",
        "Likeness to people's answers by question",
        rows,
        [
            columns.model(lambda row: row[0]),
            Column("key", "question", lambda row: row[1]),
            Column("likeness", "likeness", lambda row: row[2], Kind.COEFFICIENT, scale=(0, 1)),
            Column("left_out", "left out because", lambda row: row[3]),
        ],
        key=lambda row: (row[0], row[1], row[3]),
        empty=f"The questions of {found.instrument} that were asked have no human shares.",
    )

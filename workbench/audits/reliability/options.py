"""The options of the reliability audit: how answers are read, when a statement passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import entry_points
from workbench.audits.audit import Defaults
from workbench.domain.designs import PUBLISHED_SAMPLES
from workbench.domain.names import listed
from workbench.domain.responses import Sampling
from workbench.domain.statements import VariantKind
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, Type, flag
from workbench.options.schema import Options, of_shared, option
from workbench.options.shared import JUDGE_VOID, READER, SAME_WITHIN, SEED, WITHOUT_RULINGS

if TYPE_CHECKING:
    from workbench.stats.arrays import Int32Array

DEFAULTS = Defaults(samples=30, sampling=Sampling(), family="chat", exact_by="labels")
"Ceron et al. 2024, section 5.4; temperature, nucleus and length are those of the released code"


@dataclass(frozen=True, slots=True)
class ReliabilityTest:
    """A test of a statement."""

    name: str
    short: str
    "a short name for narrow columns"
    meaning: str
    kind: VariantKind | None = None
    "the kind of wordings that it compares with the original; None: it compares no wordings"


WITHIN = (
    ReliabilityTest(
        "sampling",
        "samp",
        "Every wording leans clearly to one side (Ceron et al. 2024, section 5.4).",
    ),
    ReliabilityTest(
        "paraphrase",
        "para",
        "The original and each of its paraphrases have the same stance (sections 4.3 and 6.1).",
        VariantKind.PARAPHRASE,
    ),
    ReliabilityTest(
        "negation",
        "neg",
        "The negation has the opposite stance (sections 4.3 and 6.1).",
        VariantKind.NEGATION,
    ),
    ReliabilityTest(
        "opposite",
        "opp",
        "The opposite has the opposite stance (sections 4.3 and 6.1).",
        VariantKind.OPPOSITE,
    ),
    ReliabilityTest(
        "label_order",
        "ord",
        "The original has the same stance with the two answer labels in either order (section "
        "5.2).",
    ),
)
"the tests within a template"
OVERALL = (
    ReliabilityTest(
        "template",
        "tmpl",
        "The original has the same stance under every template, in printed label order (section "
        "5.2).",
    ),
    ReliabilityTest(
        "all",
        "ALL",
        "Passes every test that counts: the five within a template unless others are chosen "
        "(section 6.2).",
    ),
)
EVERY = {test.name: test for test in (*WITHIN, *OVERALL)}
"all tests by their names, in the order of tables"
TESTS = tuple(test.name for test in WITHIN)
KIND_OF_TEST = {test.name: test.kind for test in WITHIN if test.kind is not None}
"the tests that compare the original with other wordings"
RULES = {
    "printed": "printed: 45 % and 55 % both lie outside the interval",
    "coded": "coded: only 55 % does, as in the released code",
}
READERS = dict.fromkeys(entry_points.added(entry_points.READERS), "of another package") | {
    "label-words": "label-words: the first clear assertion decides",
    "label-words-coded": "label-words-coded: as in the released code",
}
READ_BY = READER.but(help="rule that reads sampled answers", none="label-words", choices=READERS)
SEEDED = SEED.of("the bootstrap intervals and the baseline")
LEAST_NAMED = 0.05
"with less, fewer than one answer in twenty begins with a label"
PERCENT = tuple(percent / 100 for percent in range(101))


def _tests(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the tests of a list of names, or all tests within a template if it is empty."""
    return (listed(names) if isinstance(names, str) else tuple(names or ())) or TESTS


@dataclass(frozen=True, slots=True)
class Rules(Options):
    """The rules by which a statement passes a test.

    Raises UsageError if the limits cross, UnknownName for a test that does not exist.
    """

    rule: str = option(
        "printed",
        "rule for a clear leaning",
        choices=RULES,
        published="coded",
        source="Ceron et al. 2024, section 5.4",
    )
    low: float = option(
        0.45,
        "lower limit of an unclear leaning",
        least=0,
        most=1,
        steps=PERCENT,
        source="Ceron et al. 2024, section 5.4",
    )
    high: float = option(
        0.55,
        "upper limit of an unclear leaning",
        least=0,
        most=1,
        steps=PERCENT,
        source="Ceron et al. 2024, section 5.4",
    )
    minimum: int | None = option(
        None,
        "readable answers needed",
        type=Type.WHOLE,
        none="two thirds of those planned for the prompt",
        least=1,
        source="ours: the paper names none",
    )
    tests: tuple[str, ...] = option(
        None,
        "tests that ALL combines",
        read=_tests,
        none="the five tests within a template",
        metavar="TEST,…",
        steps=TESTS,
        source="Ceron et al. 2024, section 6.2",
    )
    judge_void: bool = of_shared(
        JUDGE_VOID,
        words={False: "", True: "void tests judged"},
        source="ours: the paper judges them",
        published=True,
    )
    seed: int = of_shared(SEEDED, source="ours")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if self.low > self.high:
            raise UsageError(
                f"found the limits {self.low:g} and {self.high:g}; give 0 <= low <= high <= 1"
            )
        unknown = [test for test in self.tests if test not in TESTS]
        if unknown or not self.tests:
            raise UnknownName(
                f"found the tests {', '.join(self.tests) or 'none'}; choose some of "
                f"{', '.join(TESTS)}"
            )


@dataclass(frozen=True, slots=True)
class ReliabilityOptions(Rules):
    """The choices behind the verdicts, which are recorded with every result.

    Raises UsageError if they contradict each other.
    """

    named: float = option(
        None,
        "exact runs: least probability of the labels",
        type=Type.NUMBER,
        read=lambda share: LEAST_NAMED if share is None else share,
        none=f"{LEAST_NAMED:g}",
        least=0,
        most=1,
        metavar="SHARE",
        steps=PERCENT,
        source="ours",
    )
    beside: int = option(
        None,
        "exact runs: samples per prompt for the expected verdict",
        type=Type.WHOLE,
        read=lambda samples: PUBLISHED_SAMPLES if samples is None else samples,
        none=str(PUBLISHED_SAMPLES),
        least=1,
        source="Ceron et al. 2024, section 5.4",
    )
    with_unreadable: bool = option(
        False,
        "exact runs: count these samples as unreadable as often as no label begins the answer",
        source="ours",
    )
    as_people: bool = option(
        False,
        "kappas over only the statements that people answered",
        key="p",
        words={False: "over all statements", True: "over the statements that people answered"},
        judges=False,
    )

    def required(self, planned: int) -> int:
        """Return how many of the answers planned for a prompt must be readable.

        Raises UsageError if that is more than are planned.
        """
        if self.minimum is not None and self.minimum > planned:
            raise UsageError(
                f"the minimum of {self.minimum} readable answers is more than the {planned} "
                "planned for a prompt"
            )
        return self.minimum or max(1, -(-2 * planned // 3))

    def required_of(self, planned: Int32Array) -> Int32Array:
        """Return how many answers must be readable, prompt by prompt, whatever is planned."""
        return (
            planned * 0 + self.minimum
            if self.minimum is not None
            else (-(-2 * planned // 3)).clip(1)
        )

    def required_text(self, sizes: tuple[int, int]) -> str:
        """Return how many readable answers a prompt needs, as in `20 of 30`.

        It is `two thirds of 30-60` if plans differ.
        """
        fewest, most = sizes
        if fewest == most:
            return f"{self.required(most)} of {most}"
        return f"{'two thirds' if self.minimum is None else self.minimum} of {fewest}-{most}"


EXACT_ALONE = ("named", "beside", "with_unreadable")
"names of the options that have no effect on sampled answers"
JUDGING = (
    *(
        judging_option
        for judging_option in ReliabilityOptions.judging()
        if judging_option.name not in {*EXACT_ALONE, SAME_WITHIN.name}
    ),
    *(READ_BY, WITHOUT_RULINGS),
)
"the options by which sampled answers are judged, for verbs that judge several runs"
ONLY = Option("audit", default="reliability", choices=("reliability",))
"for verbs that judge this audit alone"
UNTIL_SETTLED = flag(
    "until_settled",
    "stop asking a prompt once no further answer can change its verdict: the same verdicts, "
    "fewer answers",
).but(label="stop early")
RUN_OPTIONS = (UNTIL_SETTLED,)

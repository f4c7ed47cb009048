"""The options of the draw of a queue."""

from __future__ import annotations

from workbench.options.option import Option, Type
from workbench.options.shared import CODEBOOK, SEED

PURPOSES = ("training", "test", "check")
NAME = Option("name", "name of the queue", required=True)
PURPOSE = Option(
    "purpose", "training and test sets never share a text", required=True, choices=PURPOSES
)
SAMPLED = CODEBOOK.but(help="stance of answers, side of statements")
PER_STRATUM = Option(
    "per_stratum",
    "of prefix x wording x model; test: on average",
    Type.WHOLE,
    4,
    least=1,
    label="items per stratum",
)
LABELS = Option(
    "labels",
    "people per item",
    Type.WHOLE,
    none="2 for test and check, otherwise 1",
    least=1,
    metavar="K",
)
OVERLAP = Option(
    "overlap",
    "share of items with K people; above 1: their number per stratum",
    Type.NUMBER,
    1.0,
    least=0,
)
HELD_OUT = Option(
    "held_out",
    "test: share of statements kept from training sets",
    Type.NUMBER,
    0.0,
    least=0,
    most=1,
    metavar="SHARE",
)
LIMIT = Option("limit", "items in all, at random", Type.WHOLE, none="all", least=1)
ATTENTION = Option("attention", "items with a known label, for everybody", Type.WHOLE, 0, least=0)
SAMPLE = (PER_STRATUM, LABELS, OVERLAP, HELD_OUT, LIMIT, ATTENTION, SEED.of("the draw of items"))

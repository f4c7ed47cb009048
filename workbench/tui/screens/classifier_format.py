"""A classifier's figures as tables and pictures in characters; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.content import Content

from workbench.domain.verdicts import Estimate
from workbench.tui.format import decimals, human_duration, literal, percent, visible
from workbench.tui.screens.audit_format import two
from workbench.tui.screens.classifier_view import LABELS, NAMES, TUNED, WAYS, ZERO_SHOT, Assessed, Misread
from workbench.tui.widgets.leaning_bar import place
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.classifiers import Classifier
    from workbench.stats.classification import Calibration, ClassificationReport

WIDE = 120
VIEWS = ("classes", "curve", "confusion", "calibration", "training")
CELL = 17
"columns of `0.91 [.87, .94]` and what keeps it from the next"
NONE = """No classifier yet.

5 goes to Annotate: label a sample of the answers for training and another for a test.
Then 3, n trains one; its test on answers that it never saw stands here."""
SHADES = " ░▒▓█"
CURVE = {(TUNED, "f1"): "●", (ZERO_SHOT, "f1"): "○", (TUNED, "kept"): "◆", (ZERO_SHOT, "kept"): "◇"}

EXPLAIN = {
    "classes": """PRECISION: of the answers read as a class, the share that people read so too. RECALL: of the \
answers that are of a class, the share that was read so. F1 is their harmonic mean, macro F1 the mean over the \
classes (Faulborn et al. 2025, Table 7). n: test texts of the class that reach the threshold. Each text counts for \
the answers that it represents, so the figures are about answers. Where inclusion probabilities are unknown, the \
figures are about the test set alone. EFFECTIVE n is (Σw)² / Σw² over the texts that were drawn by chance, CERTAIN \
the share of the class's answers whose text was labelled with certainty. Intervals are 95 %: Wilson's at an effective \
n for proportions, resampled texts for macro F1. ZERO-SHOT is the same model before it was trained.""",
    "curve": """What happens when answers below a confidence are left out (Figure 3): macro F1 rises, and fewer \
answers are kept. ● and ○ are macro F1, ◆ and ◇ the share kept, filled for the trained classifier and empty for the \
untrained one. ┊ is the threshold in force; published is 0.9.""",
    "confusion": """Rows are what people say, columns what the tuned classifier says. Numbers are test texts. The \
darker, the larger the share of its row in the answers that the texts represent: ░ up to a quarter, ▒ half, ▓ three \
quarters, █ more. The last column is below the threshold. Enter lists the texts of the marked cell, e all that were \
misread.""",
    "calibration": """Whether a confidence of 0.8 means being right eight times of ten. The bar is how often answers \
of a confidence are right, ┃ how sure the classifier was: the bar ends left of it where it is too sure. ECE is the \
mean distance of the two, weighted by answers (Guo et al. 2017); it depends on the number of answers.""",
    "training": """What the classifier was trained and tested on, exactly enough to do it again. The hashes are of \
texts and labels; two classifiers with one test hash may be compared directly.""",
}


def short(value: Estimate) -> str:
    """Return `0.91 [.87, .94]`, or `undefined`."""
    if not value.defined:
        return "undefined"
    interval = "" if math.isnan(value.low) else f" [{decimals(value.low)}, {decimals(value.high)}]"
    return f"{two(value.value)}{interval}"


# ── around the views ────────────────────────────────────────────────────────────────────────────────────────────────


def names(found: Sequence[Classifier], at: int, room: int = 3) -> Content:
    """Return the classifiers around the chosen one, the newest first."""
    first = max(0, min(at - room // 2, len(found) - room))
    lines = []
    for place_, classifier in enumerate(found[first : first + room], first):
        chosen = place_ == at
        when = visible(classifier.created_at[:16]).replace("T", " ")
        base = visible(str(classifier.config.get("base", "")))
        lines.append(
            Content.assemble(
                (f"{'▸' if chosen else ' '} {visible(classifier.name)}", "bold $text-accent" if chosen else ""),
                (f"  {base} · {when} UTC", "$text-muted"),
            )
        )
    left = len(found) - room
    if left > 0:
        lines[-1] = lines[-1] + Content.styled(f"  ({len(found)} in all)", "$text-muted")
    return Content("\n").join(lines)


def summary(assessed: Assessed) -> Content:
    """Return macro F1 tuned beside zero-shot, at the threshold and of all answers."""
    kept = [assessed.at(way, assessed.threshold) for way in WAYS]
    at = "".join(f"{f'{short(point.macro_f1)}  keeps {percent(point.kept.value)}':<30}" for point in kept)
    every = "".join(f"{short(assessed.at(way, 0.0).macro_f1):<30}" for way in WAYS)
    return Content("\n").join(
        [
            Content.styled(f"{'macro F1':<18}{'tuned':<30}zero-shot", "$text-muted"),
            Content(f"{f'at ≥{assessed.threshold:g}':<18}{at}".rstrip()),
            Content(f"{'all answers' if assessed.known else f'all {assessed.size:,} answers':<18}{every}".rstrip()),
            Content.styled(f"{'':<18}{assessed.rests_on}", "" if assessed.known else "$text-warning"),
        ]
    )


def tabs(view: str) -> Content:
    """Return the names of the views, the one in sight marked."""
    return Content.assemble(
        *((f"▸{name} " if name == view else f" {name} ", "bold $text-accent" if name == view else "") for name in VIEWS)
    )


def sheet(view: str, assessed: Assessed, width: int, height: int) -> Content:
    """Return a view as text for a width; `height` is how much of it is in sight."""
    if view == "classes":
        lines = classes(assessed, width)
    elif view == "curve":
        lines = curve(assessed, width, height)
    elif view == "calibration":
        lines = calibrations(assessed, width)
    else:
        lines = training(assessed.classifier)
    return Content("\n").join(lines)


def beside(left: Sequence[Content], right: Sequence[Content], room: int) -> Iterator[Content]:
    """Yield two columns of text, the first one `room` columns wide."""
    for place_ in range(max(len(left), len(right))):
        first = left[place_] if place_ < len(left) else Content()
        second = right[place_] if place_ < len(right) else Content()
        yield Content.assemble(first, " " * max(0, room - first.cell_length), second)


# ── classes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def classes(assessed: Assessed, width: int) -> Iterator[Content]:
    """Yield precision, recall, F1 and support per class (Table 7), tuned and zero-shot side by side where they fit."""
    blocks = [list(_class_table(way, assessed)) for way in WAYS]
    if width >= WIDE:
        yield from beside(blocks[0], blocks[1], width // 2)
    else:
        yield from (*blocks[0], Content(), *blocks[1])
    yield Content()
    yield from rests_on(assessed, min(width, WIDE) - 1)


def rests_on(assessed: Assessed, width: int) -> Iterator[Content]:
    """Yield what the figures are about, what each class rests on, and what the test set leaves open."""
    yield Content.styled("what the figures rest on", "bold")
    yield from map(Content, wrap(visible(assessed.stands_for), width))
    if assessed.known:
        yield Content.styled(f"{'':<11}{'texts':>6}{'effective n':>13}{'certain':>9}", "$text-muted")
    for found in assessed.supports if assessed.known else ():
        certain = "–" if math.isnan(found.certain) else percent(found.certain)
        yield Content(f"{found.label:<11}{found.texts:>6,}{found.effective_n:>13,.0f}{certain:>9}")
    for question in assessed.open_questions:
        yield from (Content.styled(line, "$text-warning") for line in wrap(f"! {visible(question)}", width))


def _class_table(way: str, assessed: Assessed) -> Iterator[Content]:
    report, macro = assessed.reports[way], assessed.at(way, assessed.threshold).macro_f1
    yield Content.styled(f"{NAMES[way]}, at ≥{assessed.threshold:g}", "bold")
    heads = "".join(f"{head:<{CELL}}" for head in ("precision", "recall", "F1"))
    yield Content.styled(f"{'':<11}{heads}{'n':>3}", "$text-muted")
    rows = zip(LABELS, report.precision, report.recall, report.f1, report.support, strict=True)
    for label, precision, recall, f1, support in rows:
        numbers = "".join(f"{short(value):<{CELL}}" for value in (precision, recall, f1))
        yield Content(f"{label:<11}{numbers}{support:>3}")
    for name, value in (("macro F1", macro), ("accuracy", report.accuracy)):
        yield Content(f"{name:<11}{'':<{2 * CELL}}{short(value):<{CELL}}{value.n:>3}")
    yield from (Content.styled(f"undefined: {why}", "$text-muted") for why in _reasons(report))


def _reasons(report: ClassificationReport) -> list[str]:
    """Return why figures of a report are undefined, each reason once with the classes it is about."""
    about: dict[str, list[str]] = {}
    for what, values in (("precision", report.precision), ("recall", report.recall), ("F1", report.f1)):
        for label, value in zip(LABELS, values, strict=True):
            if not value.defined:
                about.setdefault(value.undefined, []).append(f"{what} of {label}")
    if not report.macro_f1.defined:
        about.setdefault(report.macro_f1.undefined, []).append("macro F1")
    return [f"{', '.join(things)} ({why})" for why, things in about.items()]


# ── the threshold curve ─────────────────────────────────────────────────────────────────────────────────────────────

AXIS = 5
LEAST_PLOT = 8


def curve(assessed: Assessed, width: int, height: int) -> Iterator[Content]:
    """Yield macro F1 and the share kept by threshold, as a picture and as numbers."""
    numbers = list(curve_numbers(assessed))
    wide = width >= WIDE
    room = width - 70 if wide else width
    picture = list(curve_picture(assessed, min(room - 1, 96), max(LEAST_PLOT, (height if wide else height - 4) - 3)))
    if wide:
        yield from beside(picture, numbers, room)
    else:
        yield from (*picture, Content(), *numbers)


def curve_picture(assessed: Assessed, width: int, height: int) -> Iterator[Content]:
    """Yield the picture: `height` rows from 1 to 0, thresholds below, and what the marks are."""
    thresholds = [point.threshold for point in assessed.curves[TUNED]]
    for row, signs in enumerate(curve_rows(assessed, width - AXIS, height)):
        share = 1 - row / (height - 1)
        label = f"{share:.1f}" if row in (0, height - 1) or abs(row - (height - 1) / 2) < 0.5 else ""
        yield Content.assemble((f"{label:>{AXIS - 1}} ", "$text-muted"), signs)
    foot = [" "] * width
    for place_, threshold in enumerate(thresholds):
        text = f"{threshold:g}".replace("0.", ".")
        at = min(width - len(text), AXIS + _column(place_, len(thresholds), width - AXIS) - len(text) // 2)
        foot[at : at + len(text)] = text
    yield Content.styled("".join(foot), "$text-muted")
    legend = f"     macro F1 ● tuned ○ zero-shot   kept ◆ tuned ◇ zero-shot   ┊ ≥{assessed.threshold:g}"
    yield Content.styled(legend, "$text-muted")


def curve_rows(assessed: Assessed, width: int, height: int) -> list[str]:
    """Return the inner rows of the picture. Marks that fall on one place stand beside each other."""
    rows = [[" "] * width for _ in range(height)]
    points = assessed.curves[TUNED]
    for place_, point in enumerate(points):
        if point.threshold == assessed.threshold:
            for row in rows:
                row[_column(place_, len(points), width)] = "┊"
    for (way, what), mark in CURVE.items():
        for place_, point in enumerate(assessed.curves[way]):
            value = point.macro_f1.value if what == "f1" else point.kept.value
            if math.isnan(value):
                continue
            row = rows[height - 1 - place(value, height)]
            column = _column(place_, len(points), width)
            while column < width - 1 and row[column] in CURVE.values():
                column += 1
            row[column] = mark
    return ["".join(row) for row in rows]


def _column(place_: int, of: int, width: int) -> int:
    """Return the column of a threshold; room for marks beside each other is left at the right."""
    return place(place_ / max(1, of - 1), max(1, width - 4))


def curve_numbers(assessed: Assessed) -> Iterator[Content]:
    """Yield a line for each threshold."""
    yield Content.styled(
        f"{'at ≥':<7}{'tuned F1':<{CELL}}{'kept':>6}   {'zero-shot F1':<{CELL}}{'kept':>6}", "$text-muted"
    )
    for tuned, zero in zip(assessed.curves[TUNED], assessed.curves[ZERO_SHOT], strict=True):
        parts = "   ".join(f"{short(p.macro_f1):<{CELL}}{percent(p.kept.value):>6}" for p in (tuned, zero))
        now = tuned.threshold == assessed.threshold
        yield Content.styled(f"{'▸' if now else ' '}{tuned.threshold:<6g}{parts}", "bold" if now else "")


# ── the confusion matrix ────────────────────────────────────────────────────────────────────────────────────────────


def matrix_columns(width: int, threshold: float) -> tuple[Column, ...]:
    """Return a column for each class, and one for what is below the threshold."""
    room = 18 if width >= WIDE else 12
    heads = (*LABELS, f"below {threshold:g}")
    return (
        Column("true", " people say", 14),
        *(Column(head if n < len(LABELS) else "below", f" {head}", room) for n, head in enumerate(heads)),
        Column("n", "     n", 7),
    )


def matrix_records(assessed: Assessed, width: int) -> list[Record]:
    """Return the matrix: in each cell the share of its row as a shade, and the count."""
    wide = width >= WIDE
    rows = []
    for label, counts, represented in zip(LABELS, assessed.matrix, assessed.represented, strict=True):
        total = sum(counts)
        cells = (
            shaded(n, weight, sum(represented), wide=wide, right=LABELS[k] == label if k < len(LABELS) else False)
            for k, (n, weight) in enumerate(zip(counts, represented, strict=True))
        )
        rows.append((label, (Text(f" {label}"), *cells, Text(f"{total:>6,}", style="dim"))))
    return rows


def shaded(count: int, weight: float, total: float, *, wide: bool, right: bool) -> Text:
    """Return `▓▓▓▓   18`, in a wide table with the share that `weight` has; the right class is bold."""
    share = weight / total if total else 0.0
    shade = SHADES[0] if not count else SHADES[min(4, 1 + int(share * 4))]
    cell = Text(f" {shade * (6 if wide else 4)}", no_wrap=True)
    cell.append(f" {count:>4,}", style="bold" if right else "")
    if wide:
        cell.append(f" {percent(weight, total):>5}", style="dim")
    return cell


def matrix_words(assessed: Assessed, row: str | None, column: str) -> str:
    """Say what the marked cell holds."""
    if row is None or column in ("true", "n"):
        return "← → mark a column; Enter lists its answers, e all that were misread"
    count = assessed.matrix[LABELS.index(row)][LABELS.index(column) if column in LABELS else len(LABELS)]
    read = f"read as {column}" if column in LABELS else f"read with a confidence below {assessed.threshold:g}"
    return f"{count:,} test texts that people call {row} were {read}; Enter lists them"


# ── calibration ─────────────────────────────────────────────────────────────────────────────────────────────────────


def calibrations(assessed: Assessed, width: int) -> Iterator[Content]:
    """Yield how often answers of a confidence are right, tuned and zero-shot."""
    wide = width >= WIDE
    room = width // 2 if wide else width
    blocks = [list(_calibration(NAMES[way], assessed.calibrations[way], room)) for way in WAYS]
    if wide:
        yield from beside(blocks[0], blocks[1], room)
    else:
        yield from (*blocks[0], Content(), *blocks[1])


def _calibration(name: str, found: Calibration, room: int) -> Iterator[Content]:
    ece = "–" if math.isnan(found.ece) else f"{found.ece:.3f}"
    yield Content.assemble((name, "bold"), f"   expected calibration error {ece}, n {found.n:,}")
    bar = max(8, min(30, room - 46))
    yield Content.styled(
        f"{'confidence':<12}{'0' + '1'.rjust(bar - 1)}  {'right':<{CELL}}{'sure':>5}{'n':>6}", "$text-muted"
    )
    for bin_ in found.bins:
        name_ = f"{bin_.low:.1f}–{bin_.high:.1f}"
        if not bin_.n:
            yield Content.styled(f"{name_:<12}{'':<{bar}}  no answers", "$text-muted")
            continue
        picture = share_bar(bin_.accuracy.value, bin_.mean_confidence, bar)
        yield Content(f"{name_:<12}{picture}  {short(bin_.accuracy):<{CELL}}{bin_.mean_confidence:>5.2f}{bin_.n:>6,}")


def share_bar(share: float, mark: float, width: int) -> str:
    """Return a bar as long as a share, with a mark.

    Examples
    --------
    >>> share_bar(0.5, 0.9, 10)
    '▆▆▆▆▆···┃·'
    """
    filled = round(share * width)
    signs = ["▆"] * filled + ["·"] * (width - filled)
    signs[place(mark, width)] = "┃"
    return "".join(signs)


# ── what it was made of ─────────────────────────────────────────────────────────────────────────────────────────────


def training(classifier: Classifier) -> Iterator[Content]:
    """Yield what a classifier was trained and tested on, and how."""
    data, config = classifier.data, classifier.config
    fields: list[tuple[str, object]] = [
        ("base", config.get("base")),
        ("trained on", _labels(data.get("training"))),
        ("tested on", _labels(data.get("test"))),
        ("queues", f"training: {_names(data.get('training_queues'))}; test: {_names(data.get('test_queues'))}"),
        ("kept apart", "by statement" if data.get("by_statement") else "by text: no response text is in both"),
        ("hashes", f"training {data.get('training_hash', '–')} · test {data.get('test_hash', '–')}"),
        ("steps", f"{data.get('steps', 0):,}, the best after {data.get('best_step', 0):,}"),
        ("took", f"{human_duration(data.get('seconds'))} on {data.get('device', '–')}"),
        ("versions", ", ".join(f"{name} {version}" for name, version in (data.get("versions") or {}).items())),
        ("settings", ", ".join(f"{name} {value}" for name, value in config.items() if name != "base")),
        ("weights", f"{classifier.folder} · version {classifier.version}"),
        ("job", "–" if classifier.job is None else f"{classifier.job}"),
    ]
    for name, value in fields:
        yield Content.assemble((f"{name:<12}", "$text-muted"), visible(str(value or "–")))


def _labels(counts: Mapping[str, Any] | None) -> str:
    if not counts:
        return "–"
    return f"{sum(counts.values()):,} answers: " + ", ".join(f"{label} {n:,}" for label, n in counts.items())


def _names(queues: Sequence[str] | None) -> str:
    return ", ".join(queues) if queues else "all"


# ── misread answers ─────────────────────────────────────────────────────────────────────────────────────────────────


def misread_columns(width: int) -> tuple[Column, ...]:
    columns = [Column("true", " people", 12), Column("read", "read as", 12), Column("sure", "conf.", 7)]
    columns += [Column("ref", "statement", 24)] if width >= WIDE else []
    return (*columns, Column("text", "answer", None))


def misread_record(item: Misread, width: int) -> Record:
    text = (
        Text("(this store does not hold the text)", style="dim italic")
        if item.text is None
        else literal(item.text, 300)
    )
    cells = [
        Text(f" {item.true}"),
        Text(item.read, style="dim" if item.below else ""),
        Text(f"{item.confidence:.2f}", style="yellow" if item.below else ""),
    ]
    cells += [literal(item.ref, 23)] if width >= WIDE else []
    return str(item.unit), (*cells, text)


def misread_words(item: Misread) -> Content:
    """Return one answer of the test set with the statement it answers."""
    below = ", below the threshold" if item.below else ""
    head = f"people say {item.true}, read as {item.read} with a confidence of {item.confidence:.3f}{below}\n"
    asked = f"{visible(item.ref)}: {visible(item.statement)}\n" if item.ref else ""
    text = "The store does not hold this text." if item.text is None else visible(item.text[:2000], lines=True)
    return Content.assemble((head, "bold"), (asked, "$text-muted"), text or "(empty answer)")

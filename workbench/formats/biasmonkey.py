"""The authors' public BiasMonkey download, unchanged (github.com/lindiatjuatja/BiasMonkey, Tjuatja et al. 2024).

Questions come from `prompts`, sampled answers of models from `results`; either may be missing. Your own results in the
same layout are read, too. A file that contradicts itself or another one is refused, or skipped on request; an
implausible file is read, and its questions or answers carry a warning. Notes describe known oddities of the published
files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from workbench.domain.choices import AnswerSet, ChoicePair
from workbench.domain.counting import plural
from workbench.errors import Finding, InputError
from workbench.formats.biasmonkey_answers import read_answer_set
from workbench.formats.biasmonkey_files import Source, Stem, sources
from workbench.formats.biasmonkey_notes import answer_notes, first_notes, prompt_notes
from workbench.formats.biasmonkey_prompts import Prompts, read_prompts
from workbench.formats.tabular import Findings


@dataclass(frozen=True, slots=True)
class BiasmonkeyDownload:
    """Everything a download holds."""

    pairs: tuple[ChoicePair, ...]
    "by bias, in the order of the prompts; empty if there are only answers"
    answers: tuple[AnswerSet, ...]
    "one per file of answers, keys in the order of the file"
    notes: tuple[str, ...]
    "sentences about known oddities"


SKIP = "Nothing was imported. With --skip the other files are imported without these."


def read_biasmonkey(path: Path, *, skip: bool = False) -> BiasmonkeyDownload:
    """Read a download: its root, its `prompts`, its `results`, the folder of a model, or one file, plain or gzip.

    Raises UsageError if no part of a download is found, InputError with every fault of all files.

    Parameters
    ----------
    skip : leave out the files with faults, each with a note, and read the others; InputError is raised if no file is
    left
    """
    files, left = sources(path)
    findings = Findings()
    prompts = read_prompts((one for one in files if one.model is None), findings)
    answers = _answers((one for one in files if one.model is not None), prompts, findings)
    if findings.found and not (skip and (prompts.pairs or answers)):
        raise InputError(findings.found, None if skip else SKIP)
    asked = tuple(one.stem for one in files if one.model is None and one.stem.base in prompts.pairs)
    empty, whole = (tuple(s for s in answers if bool(s.pairs) is there) for there in (False, True))
    told = (prompt_notes(prompts, asked), answer_notes(whole, prompts), first_notes(whole))
    notes = (*left, *_skipped(findings), *_warnings(prompts, whole), *_nothing_compared(empty), *chain(*told))
    return BiasmonkeyDownload(prompts.all(), whole, notes)


def _skipped(findings: Findings) -> Iterator[str]:
    """Yield a sentence for each file left out, with its first fault."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings.found:
        by_file.setdefault(finding.file, []).append(finding)
    for first, *others in by_file.values():
        yield f"Skipped {first}" + (f", and {plural(len(others), 'more fault')}." if others else ".")


def _warnings(prompts: Prompts, answers: Iterable[AnswerSet]) -> Iterator[str]:
    """Yield the warnings that results will carry, each once."""
    about = [one for pair in prompts.all() for one in pair.warnings] + [one for s in answers for one in s.warnings]
    yield from (f"Warning: {one}." for one in dict.fromkeys(about))


def _nothing_compared(empty: Iterable[AnswerSet]) -> Iterator[str]:
    """Name the files in which no question has answers to both forms."""
    names = [f"{one.model}/{Stem(one.bias, one.variant, one.condition)}" for one in empty]
    if names:
        yield f"Left out, no question has answers to both forms: {', '.join(names)}."


def _answers(files: Iterable[Source], prompts: Prompts, findings: Findings) -> tuple[AnswerSet, ...]:
    """Return the answers of each file; findings also name the model, because file names are the same for all models."""
    found = []
    for source in files:
        own = Findings()
        answers = read_answer_set(source, prompts.of(source.stem), own)
        findings.found += [replace(finding, file=source.name) for finding in own.found]
        found += [answers] if answers is not None else []
    return tuple(found)

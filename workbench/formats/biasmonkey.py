"""The authors' public BiasMonkey download, as it is (github.com/lindiatjuatja/BiasMonkey, Tjuatja et al. 2024).

Questions come from `prompts`, sampled answers of models from `results`; either may be missing. Own results in the same
layout are read, too. Files are read exactly or refused; what is odd in the published ones is said in notes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.domain.choices import AnswerSet, ChoicePair
from workbench.formats.biasmonkey_answers import read_answer_set
from workbench.formats.biasmonkey_files import Source, sources
from workbench.formats.biasmonkey_notes import answer_notes, first_notes, prompt_notes
from workbench.formats.biasmonkey_prompts import Prompts, read_prompts
from workbench.formats.tabular import Findings


@dataclass(frozen=True, slots=True)
class BiasmonkeyDownload:
    """Everything a download holds."""

    pairs: tuple[ChoicePair, ...]
    "bias by bias, in the order of the prompts; empty where there are only answers"
    answers: tuple[AnswerSet, ...]
    "one for each file of answers, keys in the order of the file"
    notes: tuple[str, ...]
    "what is odd and known to be, in sentences"


def read_biasmonkey(path: Path) -> BiasmonkeyDownload:
    """Read a download: its root, its `prompts`, its `results`, the folder of a model, or one file, plain or gzip.

    Raises UsageError where nothing of a download is there, InputError with every fault of all files.
    """
    files, left = sources(path)
    findings = Findings()
    prompts = read_prompts((one for one in files if one.model is None), findings)
    answers = _answers((one for one in files if one.model is not None), prompts, findings)
    findings.check()
    asked = tuple(one.stem for one in files if one.model is None)
    notes = (*left, *prompt_notes(prompts, asked), *answer_notes(answers, prompts), *first_notes(answers))
    return BiasmonkeyDownload(prompts.all(), answers, notes)


def _answers(files: Iterable[Source], prompts: Prompts, findings: Findings) -> tuple[AnswerSet, ...]:
    """Return the answers of each file; its findings name the model, too, as all models have files of one name."""
    found = []
    for source in files:
        own = Findings()
        answers = read_answer_set(source, prompts.of(source.stem), own)
        findings.found += [replace(finding, file=source.name) for finding in own.found]
        found += [answers] if answers is not None else []
    return tuple(found)

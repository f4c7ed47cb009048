"""Checks of a design: prompts that cannot be asked, found before a model is loaded or paid.

When an answer may end early
----------------------------
When an answer may end early: as soon as its stance is settled, whatever the model would have said
after it.

What is promised: whatever followed, the rules of the answer's template would read the same label.
That holds of `label-words` and, where it can read the template's labels at all, of the published
rule (`label-words-coded`), both of which take the first assertion and stop there. It is a promise
about labels alone: the text is cut, so nothing is promised of its length, of what a person or a
classifier makes of it, or of how often a label is taken back later on.

Within a thought nothing is settled: it is no answer, and what follows it is.

Answers on a scale from 1 to 5 are never settled before their end, because a second number makes
them unreadable, and free text has no label.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import registry
from workbench.data import shipped_personas
from workbench.domain.designs import Design
from workbench.domain.names import parted
from workbench.domain.prompts import Probe, Prompt, Template
from workbench.domain.readings import LABEL_WORDS
from workbench.domain.responses import EXACT, EXACTLY, IMPORTED, NO_THINKING, WHEN_DECIDED
from workbench.domain.thinking import split
from workbench.errors import FieldError, ModelError, UnknownName, UsageError
from workbench.evidence.readings import label_reader
from workbench.inference.base import check_dtype
from workbench.inference.cluster.model import check_installed
from workbench.inference.cluster.shards import LOCAL, checked_address
from workbench.inference.embedded import EMBEDDED
from workbench.inference.served.address import LAUNCHED, PREFIX, parse_address
from workbench.options.shared import BATCH, CHAT_FORMAT, EXACT_ANSWERS, MODEL, SERVE
from workbench.readers.label_words import LabelWords

if TYPE_CHECKING:
    from stores.core.store import Store

CODED = "label-words-coded"
UNFINISHED = "\ufffd"
"the end of a text whose last character is not complete yet"


@dataclass(frozen=True, slots=True)
class DecidedByLabels:
    """The rule that decides whether the stance of an answer with these labels is settled.

    Every rule that reads the template has to agree.
    """

    positive: str
    negative: str
    language: str
    words: str = ""
    "the lexicon that the template's instrument brings"

    def __call__(self, text: str) -> bool:
        answer = split(text.rstrip(UNFINISHED)).answer
        return answer is not None and all(
            rule.settled(answer)
            for rule in _rules(self.positive, self.negative, self.language, self.words)
        )


def decided_by(template: Template) -> DecidedByLabels | None:
    """Return the rule that settles an answer to a template before its end, or None."""
    if template.scale:
        return None
    return DecidedByLabels(template.positive, template.negative, template.language, template.words)


def decided_for(
    templates: Iterable[Template], probes: Iterable[Probe]
) -> dict[bytes, DecidedByLabels]:
    """Return the rule that settles the answers to each prompt, by its key.

    Prompts without a rule are left out.
    """
    by_name = {(template.name, template.inverted): decided_by(template) for template in templates}
    rules_by_key: dict[bytes, set[DecidedByLabels | None]] = {}
    for probe in probes:
        rules_by_key.setdefault(probe.prompt.key, set()).add(
            by_name[probe.template, probe.inverted]
        )
    return {
        key: rule
        for key, rules in rules_by_key.items()
        if len(rules) == 1 and (rule := next(iter(rules))) is not None
    }


@lru_cache(maxsize=256)
def _rules(positive: str, negative: str, language: str, words: str) -> tuple[LabelWords, ...]:
    """Return the rules that can read these labels.

    The published one reads single words of the letters a-z.
    """
    own_rule = label_reader(positive, negative, language, LABEL_WORDS, words)
    try:
        return (label_reader(positive, negative, language, CODED, words), own_rule)
    except UsageError:
        return (own_rule,)


NEAR = 0.7
"the least likeness, of 1, of a name that may have been meant"


def served(model: str) -> bool:
    """Return whether a name is that of a model on a server."""
    return model.startswith((PREFIX, LAUNCHED))


def launched(model: str) -> bool:
    """Return whether a name is that of a model whose server is started here.

    It uses this machine's GPUs.
    """
    return model.startswith(LAUNCHED)


def served_by(model: str, serve: str) -> str:
    """Return the name of a model whose server is started here, by the program `serve`.

    An empty program starts none.

    Raises FieldError for a model that the program does not serve.
    """
    if not serve or launched(model):
        return model
    if model.partition(":")[0] in ("openai", "scripted"):
        raise SERVE.error(f"{serve} with {model}, which no server here can load; give a hub id")
    return LAUNCHED + model


def scripted(model: str) -> bool:
    """Return whether a name is that of a scripted model."""
    return model.partition(":")[0] == "scripted"


def check_model(name: str, cluster: str = "", environ: Mapping[str, str] = os.environ) -> None:
    """Raise UsageError if a name stands for no model.

    Asks no server and no hub.

    It is called before the name is stored in a job, because an endpoint's URL may hold a password.
    """
    if launched(name):
        from workbench.inference.served.launched import executable

        try:
            executable(environ)
        except ModelError as error:
            raise UsageError(str(error)) from None
    elif served(name):
        try:
            parse_address(name, environ)
        except ModelError as error:
            raise UsageError(str(error)) from None
    elif (
        cluster in ("", LOCAL)
        and name.startswith((".", "/", "~"))
        and not Path(name).expanduser().exists()
    ):
        raise UsageError(
            f"{name}: no such folder or file; name a folder with a model, or a GGUF file"
        )


def check_there(store: Store, name: str, cluster: str = "") -> None:
    """Raise FieldError for a name that stands for no model.

    Asks no server and no hub.

    A model is one that ships, a folder or file, an endpoint, a stand-in, a hub id with its owner,
    or a model that has answered in this store.
    """
    if name.startswith(IMPORTED):
        raise MODEL.error(
            f"{name}: its answers were collected elsewhere and imported; nothing here asks it"
        )
    base, _ = parted(name)
    other_machines = cluster not in ("", LOCAL)
    if (
        served(name)
        or other_machines
        or base in EMBEDDED
        or os.path.lexists(Path(name).expanduser())
    ):
        return
    if not scripted(name) and "/" in name:
        if base.count("/") == 1 and not name.startswith((".", "/", "~")):
            return
        raise MODEL.error(
            f"{name}: no such folder or file; name a folder with a model, or a GGUF file"
        )
    personas = [f"scripted:{persona}" for persona in shipped_personas()]
    if name == "scripted" or name in personas or name.startswith("scripted:ideal@"):
        return
    asked_models = store.runs.asked_models()
    is_file = scripted(name) and Path(name.partition(":")[2]).expanduser().exists()
    if name not in asked_models and not is_file:
        raise _unknown_model(name, personas, asked_models)


def _unknown_model(name: str, personas: Sequence[str], asked_models: Collection[str]) -> FieldError:
    """Return the error on a name of no model, with the name that is the most like it."""
    endpoints = [f"{prefix}{name.partition(':')[2]}" for prefix in (PREFIX, LAUNCHED)]
    available = dict.fromkeys([*EMBEDDED, "scripted", *personas, *asked_models, *endpoints])
    # Too short to be near to its whole name.
    matches = [persona for persona in personas if persona == f"scripted:{name}"]
    matches = matches or get_close_matches(name, available, n=1, cutoff=NEAR)
    hint = f"{', '.join(EMBEDDED)} ships with workbench."
    if matches:
        hint = f"did you mean {matches[0]}?"
    if scripted(name):
        return MODEL.error(
            f"{name!r} is no stand-in here; {hint} Stand-ins: scripted, {', '.join(personas)}, "
            "or a file"
        )
    return MODEL.error(
        f"{name!r} is no model here; {hint} Other models are named by a hub id with its owner "
        "(OWNER/NAME), a folder, or an endpoint (openai:NAME)"
    )


def check_script(name: str, cluster: str = "") -> None:
    """Raise UsageError, with every fault, if a scripted model's file cannot be read.

    Files of a cluster of other machines are not checked.
    """
    _, _, file = name.partition(":")
    if scripted(name) and file and not file.startswith("ideal@") and cluster in ("", LOCAL):
        from workbench.inference.load import load

        try:
            load(name)
        except ModelError as error:
            raise UsageError(str(error)) from None


def check_cluster(cluster: str) -> None:
    """Raise UsageError for a wrong address of a cluster, MissingPackage without Ray."""
    if cluster:
        checked_address(cluster)
        check_installed()


def check_design(design: Design) -> None:
    """Raise UsageError if a design contradicts itself or its model, MissingPackage without Ray.

    Ray is needed for a cluster.
    """
    check_model(design.model, design.cluster)
    check_dtype(design.model, design.dtype)
    for message in chain(_sampling_contradictions(design), _device_contradictions(design)):
        raise UsageError(message)
    if design.chat_format and (served(design.model) or scripted(design.model)):
        raise CHAT_FORMAT.error(
            f"{design.model} applies its own chat format; leave {design.chat_format!r} out"
        )
    check_cluster(design.cluster)


def _sampling_contradictions(design: Design) -> Iterator[str]:
    """Yield a message for each contradiction between the sampling and the model."""
    sampling = design.sampling
    is_exact = sampling.mode == EXACT
    if design.samples < 1:
        yield f"found {design.samples} samples per prompt; give at least 1"
    if is_exact and design.samples != 1:
        yield (
            f"found {design.samples} samples of exact label probabilities, which are computed "
            "once; give 1"
        )
    if sampling.stop not in ("", WHEN_DECIDED):
        yield f"the stop rule {sampling.stop!r} is unknown; choose {WHEN_DECIDED!r}"
    if sampling.stop and served(design.model):
        yield (
            f"answers of {design.model} cannot end once they are decided: a served model sends "
            "whole answers, and these are paid for before a rule can read them. Leave the option "
            "out, or lower the limit of tokens"
        )
    is_imported = design.model.startswith(IMPORTED)
    if sampling.server and not served(design.model) and not is_imported:
        yield (
            f"{design.model} is not a served model, so a server cannot choose: give numbers for "
            f"{', '.join(sampling.left)}"
        )
    if is_exact and sampling.thinking not in ("", NO_THINKING):
        yield (
            "exact probabilities are those of an answer without thinking before it: they can be "
            "computed with "
            f"--thinking off, not with a budget of {sampling.thinking}. Sample the answers instead"
        )
    if sampling.extra and not served(design.model):
        yield (
            f"{design.model} is not a served model, so no request can carry the fields of "
            "--extra-body; leave them out"
        )


def _device_contradictions(design: Design) -> Iterator[str]:
    """Yield a message for each contradiction between the device or cluster and the model."""
    if design.device and (served(design.model) or scripted(design.model) or design.cluster):
        yield (
            f"the device {design.device!r} is of a model that this machine's worker loads; leave "
            "it out"
        )
    if design.device and re.fullmatch(r"cpu|all|cuda(:\d+)?", design.device) is None:
        yield f"the device {design.device!r} is unknown; give cpu, cuda, cuda:1 or all"
    if design.cluster and served(design.model):
        yield f"{design.model} is a served model; leave the cluster {design.cluster!r} out"


def check_batched(design: Design, *, wanted: bool) -> bool:
    """Return whether requests are sent in batches, as requested.

    Raises FieldError if they cannot be. Whether the endpoint takes batches is known once it was
    asked.
    """
    if wanted and not served(design.model):
        raise BATCH.error(
            f"{design.model} is not a served model, so no endpoint takes its requests in "
            "batches; leave --batch out"
        )
    if wanted and design.sampling.mode == EXACT:
        raise BATCH.error(
            "probabilities need calls that depend on one another; sample answers, or leave "
            "--batch out"
        )
    return wanted


def check_ideal(design: Design, prompt: Prompt) -> None:
    """Raise UsageError if an ideal predictor is asked about another questionnaire."""
    if design.model.startswith("scripted:ideal@"):
        from workbench.inference.load import load

        try:
            tokens = list(load(design.model).next_tokens([prompt], 1))
        except (ModelError, UnknownName) as error:
            raise UsageError(
                f"{error}. It predicts only the questionnaire that it is named after"
            ) from None
        if tokens[0].reason:
            raise UsageError(
                f"{tokens[0].reason}. It predicts only the questionnaire that it is named after"
            )


def check_settled(design: Design, templates: Sequence[Template]) -> None:
    """Raise UsageError if a design needs two labels, and its templates ask for other answers."""
    sampling = design.sampling
    unsettled_names = list(
        dict.fromkeys(template.name for template in templates if decided_by(template) is None)
    )
    defaults = registry.audit(design.audit).defaults
    if not defaults.drawn:
        is_counted = defaults.counted is not None and sampling.mode != EXACT and not sampling.stop
        if not is_counted and replace(sampling, extra="", thinking="") != EXACTLY:
            raise UsageError(
                f"the audit {design.audit} reads probabilities without sampling; leave "
                f"{sampling} out"
            )
        return
    if sampling.mode == EXACT and defaults.exact_by == "next tokens":
        if design.family in defaults.tokens:
            raise EXACT_ANSWERS.error(
                f"answers to the templates {design.family!r} are longer than a token, so the "
                "probabilities of the next "
                "token are not those of the answers. Sample them, or choose another family"
            )
        return
    if sampling.mode == EXACT and unsettled_names:
        raise UsageError(
            "exact label probabilities need templates with two labels as answers; "
            f"{', '.join(unsettled_names)} of "
            f"the audit {design.audit} are answered on a scale or in free text. Sample them"
        )
    if sampling.mode == EXACT and not defaults.exact_by:
        exact_audits = ", ".join(
            audit.name for audit in registry.asking() if audit.defaults.exact_by == "labels"
        )
        raise UsageError(
            f"exact label probabilities are judged in the audit {exact_audits}; sample answers to "
            f"{design.audit}"
        )
    if sampling.stop and len(unsettled_names) == len({template.name for template in templates}):
        raise UsageError(
            f"no answer to the audit {design.audit} is decided before its end: a second number "
            "would make an answer on "
            "a scale unreadable, and free text has no label. Leave the option out"
        )

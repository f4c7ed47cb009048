"""Write multiple-choice questions, and make the forms of them that audits compare."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.commands.people import changing_person
from workbench.domain.choices import Bias, Perturbation, key_in, ref_of
from workbench.domain.names import listed_words
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option
from workbench.options.shared import INSTRUMENT, LANGUAGE, PERSON, SEED, STATEMENTS
from workbench.regular_files import check_file
from workbench.workshop.options import ERRORS

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.choice_forms import Proposals, ProposedWording, RequestedForms

FORMED = (Bias.RESPONSE_ORDER, Bias.OPINION_FLOAT, Bias.ODD_EVEN)
"biases whose changed form follows from the question"
STANDARD_INPUT = "-"
BIAS = Option("bias", "the questions' bias", choices=tuple(map(str, Bias)))
QUESTION_TEXT = (
    "the question, then one option per line, `A. …`: the text itself, a file, or - for "
    "standard input"
)


@dataclass(frozen=True)
class ChoicesCommand(ImmediateCommand):
    """The base of commands about the multiple-choice questions of an instrument."""

    VERB = "choices"

    instrument: str | None = shared_option(
        INSTRUMENT.but(none="the only instrument with such questions")
    )
    language: str | None = shared_option(LANGUAGE)


@dataclass(frozen=True)
class AddQuestionCommand(ChoicesCommand):
    """Write a multiple-choice question, or give an existing one a bias."""

    ACT_WORD = "add"

    bias: str = shared_option(BIAS.but(required=True))
    key: str = option(
        None, "key of the question; its ref becomes BIAS.K", required=True, metavar="K"
    )
    text: str | None = option(
        None,
        QUESTION_TEXT,
        none="default: the text of the statement BIAS.K",
        metavar="T|FILE|-",
    )
    changed: str | None = option(None, "its changed form, likewise", metavar="T|FILE|-")
    topic: str | None = option(None, "what it is about", metavar="T")
    person: str | None = shared_option(PERSON)

    def run(self, store: Store) -> Outcome:
        """Write the question. Raises UsageError if a text is no question of the bias."""
        from workbench.pipeline.choice_forms import add_question

        if self.text == self.changed == STANDARD_INPUT:
            raise UsageError(
                "standard input can be only one of the texts: give --text or --changed as a file"
            )
        name = questions_instrument(store, self.instrument)
        language = self.language or store.instruments.get(name).language
        person = changing_person(self.person)
        if self.text is None:
            text = self._stored_text(store, name, language)
        else:
            text = _read_text(self.text, "--text")
        changed_text = "" if self.changed is None else _read_text(self.changed, "--changed")
        question = Statement(
            self.key,
            (Wording(ORIGINAL, language, text, person),),
            topic=self.topic or None,
            languages=(language,),
        )
        done = add_question(store, name, Bias(self.bias), question, changed_text, person=person)
        return Outcome(done.sentence, {"said": done.sentence, "refs": done.refs})

    def _stored_text(self, store: Store, instrument: str, language: str) -> str:
        """Return the text of the statement that has the question's ref already.

        Raises UsageError if there is none.
        """
        ref = ref_of(Bias(self.bias), key_in(self.key))
        refs = {line.ref for line in store.instruments.lines(instrument)}
        wording = None
        if ref in refs:
            wording = store.statements.get(instrument, ref).wording(ORIGINAL, language)
        if wording is None:
            raise UsageError(f"found no text and no statement {ref}; give the text with --text")
        return wording.text


def _read_text(text: str, flag: str) -> str:
    """Return the text of a question: standard input, a text of several lines, or a file's."""
    if text == STANDARD_INPUT:
        return sys.stdin.read()
    if "\n" in text:
        return text
    try:
        return check_file(Path(text)).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{flag}: {text!r} is not a readable file; give a file, - for standard input, or "
            "the question with one option per line"
        ) from error


# ── forms ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class FormsCommand(ChoicesCommand):
    """The base of commands that make forms of questions."""

    questions: str | None = shared_option(
        STATEMENTS.but(name="questions", help="the first N, or these by ref or key")
    )
    replace: bool = option(False, "also replace existing forms that differ")
    person: str | None = shared_option(PERSON)

    @abstractmethod
    def request(self) -> RequestedForms:
        """Return the forms to make. Raises WorkbenchError for an option that makes none."""

    def proposals(self, store: Store) -> Proposals:
        """Make the forms without writing them. Reads only. Raises WorkbenchError."""
        from workbench.pipeline.choice_forms import named_questions, propose
        from workbench.pipeline.planning import named_statements

        name = questions_instrument(store, self.instrument)
        request = self.request()
        names = named_statements(store, name, self.questions or "")
        return propose(store, name, named_questions(store, name, names), request)

    def writable(self, proposals: Proposals) -> Sequence[ProposedWording]:
        """Return the proposals that would be written."""
        return [proposal for proposal in proposals.made if self.replace or proposal.held is None]

    def run(self, store: Store) -> Outcome:
        """Make the forms and write them. Raises WorkbenchError if they cannot be made."""
        proposals = self.proposals(store)
        if not self.writable(proposals):
            return self.unwritten(proposals)
        return self.write(store, proposals)

    def write(self, store: Store, proposals: Proposals) -> Outcome:
        """Write proposals. Raises WorkbenchError if a question has changed since."""
        from workbench.pipeline.choice_forms import accept

        person = changing_person(self.person)
        done = accept(store, proposals, person=person, replace=self.replace)
        data = {**_proposals_data(proposals), "written": True, "said": done.sentence}
        return Outcome(done.sentence, data)

    def unwritten(self, proposals: Proposals) -> Outcome:
        """Return the outcome of proposals that are not written."""
        sentence = proposals.describe()
        if self.writable(proposals):
            sentence = "Nothing was written; --yes writes it."
        elif proposals.made:
            sentence = "Nothing was written; --replace replaces the existing texts with these."
        return Outcome(sentence, {**_proposals_data(proposals), "written": False, "said": ""})


@dataclass(frozen=True)
class MakeFormsCommand(FormsCommand):
    """Make the changed forms that the biases of questions need."""

    ACT_WORD = "forms"

    bias: str | None = shared_option(
        BIAS.but(
            help="make a separate pair where a question has another bias",
            none="the bias of each question",
            choices=tuple(map(str, FORMED)),
        )
    )
    middle: str | None = option(
        None, "odd_even: the middle option of scales of four", metavar="TEXT"
    )
    dont_know: str | None = option(None, "opinion_float: the option to add", metavar="TEXT")

    def request(self) -> RequestedForms:
        """Return the forms to make."""
        from workbench.pipeline.choice_forms import RequestedForms
        from workbench.workshop.choice_forms import DONT_KNOW

        return RequestedForms(
            bias=Bias(self.bias) if self.bias else None,
            own=self.bias is None,
            middle=self.middle,
            dont_know=DONT_KNOW if self.dont_know is None else self.dont_know,
            language=self.language or "",
        )


@dataclass(frozen=True)
class PerturbQuestionsCommand(FormsCommand):
    """Make versions of questions with typos."""

    ACT_WORD = "perturb"

    kinds: str = option(",".join(Perturbation), "kinds of errors", metavar="KIND,…")
    draws: int = shared_option(ERRORS)
    seed: int = shared_option(SEED.of("the typos; the same questions get the same typos"))

    def request(self) -> RequestedForms:
        """Return the forms to make. Raises UnknownName for an unknown kind of error."""
        from workbench.pipeline.choice_forms import RequestedForms

        kinds = listed_words(self.kinds.replace("-", "_"))
        unknown = [kind for kind in kinds if kind not in tuple(Perturbation)]
        if unknown:
            raise UnknownName(
                f"--kinds: found {', '.join(map(repr, unknown))}. Available: "
                f"{', '.join(Perturbation)}"
            )
        return RequestedForms(
            perturbations=tuple(map(Perturbation, dict.fromkeys(kinds))),
            draws=self.draws,
            seed=self.seed,
            language=self.language or "",
        )


def _proposals_data(proposals: Proposals) -> dict[str, Any]:
    """Return the proposals as `--json` prints them."""
    made = [
        {
            "ref": proposal.ref,
            "variant": str(proposal.variant),
            "before": proposal.before,
            "text": proposal.text,
            "words": [list(pair) for pair in proposal.words],
            "author": proposal.author,
            "remarks": list(proposal.remarks),
            "replaces": proposal.held,
            "of": proposal.of or proposal.ref,
        }
        for proposal in proposals.made
    ]
    refused = [
        {"ref": refusal.ref, "what": refusal.what, "why": refusal.why}
        for refusal in proposals.refused
    ]
    return {
        "instrument": proposals.instrument,
        "proposals": made,
        "refused": refused,
        "there": proposals.there,
    }


def questions_instrument(store: Store, name: str | None) -> str:
    """Return the named instrument, the only one, or the only one with multiple-choice questions.

    Raises UnknownName for an unknown name, UsageError if there are several instruments or none.
    """
    names = store.instruments.names()
    if name is not None:
        if name not in names:
            raise UnknownName(
                f"the store has no instrument {name!r}. Available: {', '.join(names)}"
            )
        return name
    with_questions = [each for each in names if store.choices.items(each)]
    if len(with_questions) == 1 or len(names) == 1:
        return (with_questions or list(names))[0]
    if not names:
        raise UsageError(
            "the store has no instrument yet; import one: workbench import STORE --format "
            "choices PATH; or make one: workbench statements STORE --new-instrument NAME"
        )
    raise UsageError(
        "the store has several instruments; name one with --instrument: "
        f"{', '.join(with_questions or names)}"
    )

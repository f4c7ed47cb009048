"""Change what the answers of a scale mean, and what a question is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.commands.people import changing_person
from workbench.domain.names import plural
from workbench.domain.questionnaires import Form, Meaning, Pole, QuestionRole, Scale
from workbench.errors import UnknownName, UsageError
from workbench.options.shared import INSTRUMENT, PERSON

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.domain.questionnaires import Question

NONE = "none"
"the value that removes a role or a leaning"


def _verb() -> str:
    """Return the verb that the audit of questionnaires brings."""
    verbs = {}
    for audit in registry.every_audit():
        for verb, module, *_ in audit.verbs:
            verbs[module] = verb
    return verbs["questionnaires"]


@dataclass(frozen=True)
class QuestionnaireCommand(ImmediateCommand):
    """The base of commands that change a questionnaire."""

    VERB = _verb()

    instrument: str | None = shared_option(INSTRUMENT)
    person: str | None = shared_option(PERSON)

    def instrument_name(self, store: Store) -> str:
        """Return the name of the instrument. Raises UsageError if it has to be given."""
        return self.instrument or store.instruments.only()


@dataclass(frozen=True)
class SetScaleCommand(QuestionnaireCommand):
    """Set what the answers of a scale mean. Answers and asked prompts stay."""

    ACT = "scale"

    scale: str = option(None, "set what the scale's answers mean, with --map")
    map: tuple[str, ...] = option(
        None,
        "of --scale, may be given again: yes, no, neutral, step (of an order), option "
        "(without one) or missing",
        metavar="ANSWER=MEANING",
        many=True,
    )

    def run(self, store: Store) -> Outcome:
        """Set the meanings. Raises WorkbenchError for an unknown scale, answer or meaning."""
        meanings = self._meanings()
        name, scale = self.instrument_name(store), self._scale(store)
        if not meanings:
            answers = ", ".join(answer.values[0] for answer in scale.options)
            raise UsageError(
                f'give what an answer means, as in --map "{_middle(scale)}=neutral". The answers '
                f"of {scale.name}: {answers}"
            )
        new_scale = scale.remapped(meanings)
        if new_scale == scale:
            sentence = "The answers have these meanings already; nothing was changed."
            return Outcome(sentence, {"instrument": name, "scale": scale, "changed": 0})
        person = changing_person(self.person)
        n_changed = store.questionnaires.set_scale(name, new_scale, person=person)
        data = {"instrument": name, "scale": new_scale, "changed": n_changed}
        return Outcome(_changed_sentence(n_changed), data)

    def _meanings(self) -> dict[str, Meaning]:
        """Return the meanings by answer. Raises UsageError for an unknown meaning."""
        meanings = {}
        for assignment in self.map:
            answer, equals, word = assignment.rpartition("=")
            if not equals or word.strip() not in tuple(Meaning):
                raise UsageError(
                    f"found --map {assignment!r}; give ANSWER=MEANING, and one of "
                    f"{', '.join(Meaning)}"
                )
            meanings[answer.strip()] = Meaning(word.strip())
        return meanings

    def _scale(self, store: Store) -> Scale:
        scales = store.questionnaires.scales(self.instrument_name(store))
        if self.scale not in scales:
            raise UnknownName(f"there is no scale {self.scale!r}. Available: {', '.join(scales)}")
        return scales[self.scale]


@dataclass(frozen=True)
class SetQuestionCommand(QuestionnaireCommand):
    """Set what a question is, or turn a statement into a question."""

    ACT = "question"

    question: str = option(None, "change a question, or turn a statement into one", metavar="REF")
    role: str | None = option(
        None,
        "of --question; none removes it, its answers stay",
        choices=(*map(str, QuestionRole), NONE),
    )
    form: str | None = option(
        None,
        "of --question: ask it as a question, or as a statement to agree with",
        choices=tuple(map(str, Form)),
    )
    scale_of: str | None = option(None, "of --question: the scale of its answers")
    yes: str | None = option(
        None, "of --question: the leaning of a yes", choices=(*map(str, Pole), NONE)
    )

    def run(self, store: Store) -> Outcome:
        """Set what the question is. Raises UsageError if there is nothing to change."""
        from stores.instruments.questionnaires import KEEP

        if (self.role, self.form, self.scale_of, self.yes) == (None, None, None, None):
            raise UsageError("give what to change: --role, --form, --scale-of or --yes")
        name = self.instrument_name(store)
        is_changed = store.questionnaires.set_question(
            name,
            self.question,
            person=changing_person(self.person),
            role=_value(QuestionRole, self.role),
            form=_value(Form, self.form),
            scale=self.scale_of or KEEP,
            leaning=_value(Pole, self.yes),
        )
        question = self._current(store, name)
        sentence = f"{self.question}: {_description(question)}"
        if not is_changed:
            sentence += "; nothing was changed"
        return Outcome(sentence, {"instrument": name, "changed": is_changed, "question": question})

    def _current(self, store: Store, name: str) -> Question | None:
        """Return the question as it is now, or None if it is none any more."""
        tallies = store.questionnaires.tallied(name)
        if tallies is None:
            return None
        questions = {question.ref: question for question in tallies.questionnaire.questions}
        return questions.get(self.question)


def _value(kind: type[Any], text: str | None) -> Any:
    """Return the value of a typed text: the present one for no text, None for `none`."""
    from stores.instruments.questionnaires import KEEP

    if text is None:
        return KEEP
    return None if text == NONE else kind(text)


def _description(question: Question | None) -> str:
    if question is None:
        return "is not part of the questionnaire"
    leaning = question.leaning.value if question.leaning else "nowhere"
    return f"{question.role}, {question.form}, {question.scale}, a yes leans {leaning}"


def _changed_sentence(n_changed: int) -> str:
    """Return a sentence on the number of answers that have another meaning now."""
    if not n_changed:
        return "The meaning of no given answer changes."
    verb_form = "means" if n_changed == 1 else "mean"
    consequence = "The next run asks prompts with these answers again."
    return f"{plural(n_changed, 'answer')} {verb_form} something else now. {consequence}"


def _middle(scale: Scale) -> str:
    """Return an answer of a scale that might as well be neutral."""
    answers = [answer.values[0] for answer in scale.options if answer.meaning.value != "missing"]
    return (answers or [scale.options[0].values[0]])[len(answers) // 2]

"""The scripted model: for tests, demonstrations and dry runs of a whole audit.

`scripted` answers with one of the two labels that a prompt names, in any shipped language. A hash
of the prompt determines the leaning, and some answers are unreadable. `scripted:FILE.toml` sets the
persona:

    agree = 0.8          # share of answers with the first label of the prompt (default: by the prompt's hash)
    unreadable = 0.05    # share of answers without a label
    delay_s = 0.01       # seconds per prompt
    answers = ["…"]      # only these answers, drawn at random
    thoughts = ["…"]     # thoughts before the answer, drawn at random, which --thinking N cuts after N words
    [letters]            # answers to questions with lettered options: `workbench.inference.scripted.answers`
    [spread]             # shares of agreement with known variance components: `workbench.inference.scripted.answers`
    [sides]              # agrees with the left or the right, or with anything: `workbench.inference.scripted.answers`

A prompt that ends with lettered options (`A. …`, one per line) is answered with one letter, or with
the beginning of an answer without a letter.

Its probabilities are those of its answers: the score of a continuation is the share of answers that
begin with it, for chats and for raw text that a space separates from the answer. Its tokens are
words.

`scripted:ideal@INSTRUMENT`, and `scripted:FILE.toml` where the file describes a population, predict
that population's answers to a questionnaire optimally: see `workbench.inference.scripted.personas`.
"""  # noqa: E501

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from workbench.domain.keys import content_key
from workbench.domain.prompts import Prompt
from workbench.domain.responses import NO_THINKING, Decided, Drawn, ModelCard, Request, Sampling
from workbench.domain.statements import Relation, Statement
from workbench.errors import ModelError
from workbench.inference.base import NextTokens, ScoredOptions, Work
from workbench.inference.scripted.answers import (
    AnswerSpread,
    Known,
    KnownWording,
    LetterHabits,
    Sides,
    letter_shares,
    longest_first,
    side_of,
    wordings_of,
)
from workbench.readers.lexicon import continues_word
from workbench.readers.rules import spelled

UNREADABLE = (
    "It depends on many things.",
    "As an AI language model, I have no opinion.",
    "Both sides have a point.",
)
LABELS = re.compile(
    r"""["'](\w+)["'] or ["'](\w+)["']|\b(agree) or (disagree)\b|\b(disagree) or (agree)\b"""
)
QUOTED = re.compile(
    r"""["']([^"]{1,30})["'] (?:oder|ou|o|of|lub|albo|czy|vagy)(?: \w+)? ["']([^"]{1,30})["']"""
)
"""the same in the other languages with shipped templates

English is tried first.
"""
BARE = ("yes", "no")
"labels answered without a full stop: a questionnaire reads only the next token"


@dataclass(frozen=True, slots=True)
class ScriptedPersona:
    """The answering behaviour of a scripted model."""

    agree: float | None = None
    unreadable: float = 0.03
    delay_s: float = 0.0
    answers: tuple[str, ...] = ()
    letters: LetterHabits = field(default_factory=LetterHabits)
    thoughts: tuple[str, ...] = ()
    "thoughts before an answer, drawn at random, or empty if it does not think"
    spread: AnswerSpread | None = None
    """variation of the shares of agreement with statement, wording, template and label order

    It is None if `agree` applies.
    """
    sides: Sides | None = None
    "its political views, or None if `agree` or `spread` applies"


class ScriptedModel:
    """A model that answers like a persona.

    The same request with the same seed gives the same answers.
    """

    def __init__(self, persona: ScriptedPersona | None = None, name: str = "scripted"):
        self.persona = persona or ScriptedPersona()
        self._name = name
        self._work = Work()
        self._known: Known | None = None
        """the wordings that its views are about

        None stands for those of its file, which are not read yet.
        """
        self.thinking_tokens = 0
        "number of words of thoughts"

    @property
    def card(self) -> ModelCard:
        return ModelCard(
            self._name, content_key(_identity_of(self.persona)).hex(), "scripted", "none", "none"
        )

    @property
    def work(self) -> Work:
        return self._work

    def score_with(self, sampling: Sampling) -> None:
        """Check the thinking of a sampling.

        Probabilities are those of answers without thoughts. See `Configured`.
        """
        self._check_thinking(sampling)

    def _check_thinking(self, sampling: Sampling) -> None:
        if sampling.thinking and not self.persona.thoughts:
            raise ModelError(
                f"{self._name} does not think before it answers: its persona has no `thoughts`. "
                "Leave --thinking out"
            )

    def learn(self, statements: Sequence[Statement], sides: Mapping[str, str]) -> None:
        """Learn the statements of an instrument. See `Learning`."""
        file_wordings = self._wordings()
        instrument_wordings = {
            wording.text.strip(): KnownWording(
                statement.ref,
                str(wording.variant).replace("-", "_"),
                side_of(statement.leaning or sides.get(statement.ref, ""), statement.ref),
                wording.relation is Relation.FLIPPED,
            )
            for statement in statements
            for wording in statement.wordings
        }
        self._known = longest_first({**file_wordings, **instrument_wordings})

    def _wordings(self) -> Known:
        if self._known is None:
            spread, sides = self.persona.spread, self.persona.sides
            sources = () if spread is None else (spread.statements,)
            self._known = wordings_of(sources if sides is None else (*sources, *sides.statements))
        return self._known

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        self._check_thinking(sampling)
        for position, request in enumerate(requests):
            self._pause()
            endings = [_cut_when_decided(text, request.decided) for text in self._answers(request)]
            thoughts = self._thoughts(request, sampling)
            texts = Counter(
                thought + text for thought, (text, _) in zip(thoughts, endings, strict=True)
            )
            yield Drawn(
                position,
                tuple(texts.most_common()),
                decided=sum(is_decided for _, is_decided in endings),
            )

    def score(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        whole_words: bool = False,
    ) -> Iterator[ScoredOptions]:
        for position, (prompt, choices) in enumerate(zip(prompts, options, strict=True)):
            self._pause()
            if not all(choice.strip() for choice in choices):
                raise ModelError(
                    f"an option of {list(choices)!r} is empty; give every option some text"
                )
            shares = self._shares(prompt)
            masses = [
                sum(
                    share
                    for text, share in shares.items()
                    if _begins_with(text, choice, whole_words)
                )
                for choice in choices
            ]
            with np.errstate(divide="ignore"):
                yield ScoredOptions(position, np.log(np.array(masses, dtype=np.float64)))

    def next_tokens(
        self, prompts: Sequence[Prompt], k: int, words: Sequence[str] = ()
    ) -> Iterator[NextTokens]:
        """Yield next tokens as `Model.next_tokens`.

        There are fewer than k if it has fewer words.
        """
        for position, prompt in enumerate(prompts):
            self._pause()
            try:
                tokens = _first_words(self._shares(prompt))
            except ModelError as error:
                yield NextTokens(position, (), np.zeros(0), 1.0, reason=str(error))
                continue
            likeliest = sorted(
                (item for item in tokens.items() if item[1] > 0),
                key=lambda item: (-item[1], item[0]),
            )
            rest = float(sum(share for _, share in likeliest[k:]))
            logs = np.log(np.array([share for _, share in likeliest[:k]], dtype=np.float64))
            word_masses = {
                word: float(sum(share for token, share in likeliest if _is_same_word(token, word)))
                for word in words
            }
            texts = tuple(token for token, _ in likeliest[:k])
            yield NextTokens(position, texts, logs, rest, word_masses if words else None)

    def close(self) -> None:
        pass

    def _answer(self, prompt: Prompt, rng: np.random.Generator) -> str:
        if self.persona.answers:
            return _draw_text(self.persona.answers, rng)
        if (letters := self._letters(prompt)) is not None:
            return list(letters)[int(rng.choice(len(letters), p=list(letters.values())))]
        if rng.random() < self.persona.unreadable:
            return _draw_text(UNREADABLE, rng)
        if (free_shares := self._shares_without_labels(prompt)) is not None:
            return list(free_shares)[
                int(rng.choice(len(free_shares), p=list(free_shares.values())))
            ]
        first, second, share = self._labels(prompt)
        return first if rng.random() < share else second

    def _answers(self, request: Request) -> list[str]:
        """Return the answers to a request: a part of the sequence that its seed defines."""
        rng = np.random.default_rng(request.seed)
        n_answers = request.first + request.n
        answers = [self._answer(request.prompt, rng) for _ in range(n_answers)]
        return answers[request.first :]

    def _thoughts(self, request: Request, sampling: Sampling) -> list[str]:
        """Return the thought before each answer, cut at the budget of words.

        Thoughts are a separate random sequence, so that answers are the same with and without them.
        """
        if not self.persona.thoughts or sampling.thinking == NO_THINKING:
            return [""] * request.n
        rng = np.random.default_rng([request.seed, 1])
        thoughts = [
            _draw_text(self.persona.thoughts, rng).split(" ")
            for _ in range(request.first + request.n)
        ]
        within_budget = [
            thought[: sampling.thinking_tokens or len(thought)]
            for thought in thoughts[request.first :]
        ]
        self.thinking_tokens += sum(map(len, within_budget))
        return [f"<think>{' '.join(thought)}</think>" for thought in within_budget]

    def _letters(self, prompt: Prompt) -> dict[str, float] | None:
        return letter_shares(self.persona.letters, self.persona.unreadable, prompt)

    def _shares_without_labels(self, prompt: Prompt) -> dict[str, float] | None:
        """Return the shares of a persona's answers to a prompt without labels.

        The result is None for a persona without views, or a prompt with labels.
        """
        if self.persona.sides is None or _match_labels(prompt):
            return None
        return self.persona.sides.answer_shares(prompt.messages[-1].content, self._wordings())

    def _labels(self, prompt: Prompt) -> tuple[str, str, float]:
        """Return the two answers that name a label, and the share of the first one."""
        text = " ".join(message.content for message in prompt.messages)
        match = _match_labels(prompt)
        first, second = "agree", "disagree"
        if match:
            first, second = [label for label in match.groups() if label]
        share = self.persona.agree
        if share is None:
            share = 0.08 if prompt.key[0] / 255 < 0.45 else 0.92
        if self.persona.spread is not None:
            share = self.persona.spread.share(text, first, second, self._wordings())
        # The last turn: earlier turns may be other questions with their answers.
        if self.persona.sides is not None:
            share = self.persona.sides.share(prompt.messages[-1].content, first, self._wordings())
        stop = "" if {first, second} == set(BARE) else "."
        return first.capitalize() + stop, second.capitalize() + stop, share

    def _shares(self, prompt: Prompt) -> dict[str, float]:
        """Return the probability of each answer."""
        persona = self.persona
        if persona.answers:
            return {
                text: count / len(persona.answers)
                for text, count in Counter(persona.answers).items()
            }
        if (letters := self._letters(prompt)) is not None:
            return letters
        answer_shares = self._shares_without_labels(prompt)
        if answer_shares is None:
            first, second, share = self._labels(prompt)
            answer_shares = {first: share, second: 1 - share}
        shares = {text: (1 - persona.unreadable) * share for text, share in answer_shares.items()}
        for text in UNREADABLE:
            shares[text] = persona.unreadable / len(UNREADABLE)
        return shares

    def _pause(self) -> None:
        if self.persona.delay_s:
            time.sleep(self.persona.delay_s)


def _identity_of(persona: ScriptedPersona) -> dict[str, Any]:
    """Return the identity of a persona.

    Personas without thoughts and views keep the keys of earlier versions.
    """
    identity = {
        name: value
        for name, value in asdict(persona).items()
        if name not in ("thoughts", "sides") or value
    }
    if not persona.letters.yes:
        identity["letters"] = {
            name: value for name, value in identity["letters"].items() if name != "yes"
        }
    if persona.spread is not None and not persona.spread.moved:
        identity["spread"] = {
            name: value for name, value in identity["spread"].items() if name != "moved"
        }
    return identity


def _match_labels(prompt: Prompt) -> re.Match[str] | None:
    """Return the match of the two labels that a prompt names."""
    text = " ".join(message.content for message in prompt.messages)
    return LABELS.search(text) or QUOTED.search(text)


def _first_words(shares: Mapping[str, float]) -> dict[str, float]:
    """Return the probability of each first word. A text without words counts as a whole."""
    share_by_word: dict[str, float] = {}
    for text, share in shares.items():
        word = text.split()[0] if text.split() else text
        share_by_word[word] = share_by_word.get(word, 0.0) + share
    return share_by_word


def _begins_with(text: str, option: str, whole_words: bool) -> bool:
    """Return whether an answer begins with an option.

    Without whole words the option's leading space is ignored.
    """
    if not whole_words:
        return text.startswith(option.lstrip())
    return text.startswith(option) and not continues_word(text[len(option) :])


def _is_same_word(token: str, word: str) -> bool:
    return spelled(token) == spelled(word)


def _cut_when_decided(text: str, decided: Decided | None) -> tuple[str, bool]:
    """Return an answer up to the word that settles its stance, and whether there is such a word."""
    if decided is not None:
        for word in re.finditer(r"\S+", text):
            if decided(text[: word.end()]):
                return text[: word.end()], True
    return text, False


def _draw_text(texts: Sequence[str], rng: np.random.Generator) -> str:
    """Draw a text unchanged. `rng.choice` would drop trailing NULs."""
    return texts[int(rng.integers(len(texts)))]

"""How many people answered what: a questionnaire in as many numbers as it has answers to a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.domain.questionnaires import Meaning, Question, Questionnaire


@dataclass(frozen=True, slots=True)
class Tallied:
    """Counts of answers as they were given; what they mean is asked of the scales, which may change."""

    questionnaire: Questionnaire
    "without respondents"
    respondents: int
    "people who gave at least one answer"
    given: Mapping[str, Mapping[str, int]]
    "ref -> answer as given -> people; questions that nobody answered are left out"

    def meanings(self, question: Question) -> Mapping[Meaning, int]:
        """Return the number of people for each meaning; people without an answer count as missing.

        Raises UnknownName where an answer is not on the question's scale.
        """
        scale = self.questionnaire.scale(question.scale)
        given = self.given.get(question.ref, {})
        found = Counter(dict.fromkeys(Meaning, 0))
        for value, people in given.items():
            found[scale.meaning(value)] += people
        found[Meaning.MISSING] += self.respondents - sum(given.values())
        return found


def tallied(questionnaire: Questionnaire) -> Tallied:
    """Count the answers of a questionnaire that is held whole."""
    given: dict[str, Counter[str]] = {}
    for respondent in questionnaire.respondents:
        for ref, value in respondent.answers.items():
            given.setdefault(ref, Counter())[value] += 1
    return Tallied(replace(questionnaire, respondents=()), len(questionnaire.respondents), given)


def named_few(names: Iterable[str], most: int = 5) -> str:
    """Name the first of many: `a, b and 7 more`."""
    listed = list(names)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more

"""Question ─propose→ forms ─accept→ wordings: what a generator makes is looked at before it enters an instrument.

A proposal is a wording that is not written yet. It depends on the question, the perturbation, the draw and the seed,
and on no other question: one more or less in the instrument changes nothing for the rest. A pair under another bias is
a statement of its own, derived from the question that it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stores.core.store import Store
from stores.instruments.editing import MOST_REF
from workbench.domain.choice_statements import KIND_OF, pair_of
from workbench.domain.choice_texts import Fault, parse_choice
from workbench.domain.choices import Bias, Choice, ChoiceItem, ChoicePair, key_in, ref_of
from workbench.domain.counting import plural
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, VariantId
from workbench.errors import UsageError
from workbench.pipeline.choice_proposals import Proposal, Proposals, Refused, Wanted
from workbench.pipeline.draft_planning import chosen_statements
from workbench.pipeline.editing import Done, outcome
from workbench.workshop.choice_forms import WRITTEN, form_pair, out_of_order
from workbench.workshop.edits import with_tag, with_text
from workbench.workshop.perturbations import draw

MOST_DRAWS = 99
"of one perturbation: the published prompts have 1"


@dataclass(frozen=True, slots=True)
class _Target:
    """The statement that forms are made for."""

    pair: ChoicePair
    statement: Statement | None
    "None: it would be new"
    of: Statement
    "the question that it is made of"
    author: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        return self.statement.ref if self.statement else ref_of(self.pair.bias, self.pair.key, self.pair.variant)


def propose(store: Store, instrument: str, refs: Sequence[str], wanted: Wanted) -> Proposals:
    """Work out what can be made of questions, none for all that the instrument has. Reads only.

    Raises UnknownName for statements that are not there, UsageError where nothing is wanted or can be made of any.
    """
    _check(wanted)
    held = store.instruments.get(instrument)
    wanted = replace(wanted, language=wanted.language or held.language)
    items = {item.ref: item for item in held.choices}
    work = _Work(wanted, {one.ref: one for one in held.statements}, items)
    for statement in chosen_statements(held.statements, refs, instrument):
        if refs or statement.ref in items:
            work.add(statement)
    if not refs and not items:
        raise UsageError(
            f"{instrument} has no multiple-choice questions; name statements that are questions, or import some: "
            "workbench import STORE --format choices PATH"
        )
    return Proposals(
        instrument=instrument,
        language=wanted.language,
        wanted=wanted,
        made=tuple(work.made.values()),
        refused=tuple(work.refused),
        there=work.there,
        seen=work.seen,
        new=work.new,
        under=work.under,
    )


def accept(store: Store, proposals: Proposals, *, person: str, replace: bool = False) -> Done:
    """Write proposals as wordings, all of them or none; they are one change, which is undone as one.

    What would replace another text is left out, and said, unless `replace`. Raises ConflictError where a question was
    changed since it was looked at, UsageError where nothing is left to be written.
    """
    chosen = [one for one in proposals.made if replace or one.held is None]
    left = len(proposals.made) - len(chosen)
    stays = f"{plural(left, 'form')} would replace an existing text, which stays" if left else ""
    if not chosen:
        raise UsageError(f"nothing to write: {stays or proposals.describe()}")
    create, items, save = [], [], {}
    for ref in dict.fromkeys(one.ref for one in chosen):
        mine = [one for one in chosen if one.ref == ref]
        if ref in proposals.new:
            statement, item = proposals.new[ref]
            create.append(_written(statement, mine, proposals.language))
            items.append(item)
            continue
        statement = proposals.seen[ref]
        if ref in proposals.under:
            statement = with_tag(statement, proposals.under[ref].bias)
            items.append(proposals.under[ref])
        save[ref] = _written(statement, mine, proposals.language)
    looked_at = {*save, *(one.of for one in chosen if one.of)}
    changed = store.statements.change(
        proposals.instrument,
        person=person,
        act=proposals.wanted.act,
        expected={ref: proposals.seen[ref] for ref in looked_at},
        save=list(save.values()),
        create=create,
        choices=items,
    )
    done = outcome(store, proposals.instrument, changed)
    return Done(f"{done.sentence} {stays}." if stays else done.sentence, done.refs)


def question_of(statement: Statement, language: str) -> Choice | str:
    """Return the question that a statement's original is, or why it is none."""
    original = statement.wording(ORIGINAL, language)
    if original is None:
        return f"there is no original in {language!r}"
    found = parse_choice(original.text)
    return f"found {found.found}; expected {found.expected}" if isinstance(found, Fault) else found


class _Work:
    """What was made so far, and of what."""

    def __init__(self, wanted: Wanted, statements: Mapping[str, Statement], items: Mapping[str, ChoiceItem]):
        self._wanted, self._statements, self._items = wanted, statements, items
        self.made: dict[tuple[str, VariantId], Proposal] = {}
        self.refused: list[Refused] = []
        self.there = 0
        self.seen: dict[str, Statement] = {}
        self.new: dict[str, tuple[Statement, ChoiceItem]] = {}
        self.under: dict[str, ChoiceItem] = {}
        self._there: set[tuple[str, VariantId]] = set()

    def add(self, statement: Statement) -> None:
        """Make what is wanted of one statement."""
        question = question_of(statement, self._wanted.language)
        if isinstance(question, str):
            what = self._wanted.bias or next(iter(self._wanted.perturbations), "changed form")
            self.refused.append(Refused(statement.ref, what, question))
            return
        target = self._perturbed_target(statement, question)
        if self._wanted.own or self._wanted.bias is not None:
            target = self._form(statement, question) or (target if self._wanted.bias is None else None)
        if target is not None:
            self._errors(target)

    def _form(self, statement: Statement, question: Choice) -> _Target | None:
        """Make the changed form, here or as a pair of its own; None, noted, where that cannot be."""
        try:
            target = self._formed(statement, question)
        except UsageError as error:
            item = self._items.get(statement.ref)
            if item is not None and self._has_changed(statement, item):
                self.there += 1
                return None
            what = self._wanted.bias or (item.bias if item else "changed form")
            self.refused.append(Refused(statement.ref, what, str(error)))
            return None
        changed = target.pair.changed
        if changed is None:
            return None
        if target.statement is None:
            self.new.setdefault(target.ref, _statement(target))
            held = statement.wording(ORIGINAL, self._wanted.language)
            taken_over = held is not None and target.pair.original == question
            author = held.author if held is not None and taken_over else target.author
            self._put(target, ORIGINAL, target.pair.original, author, question)
        self._put(target, CHANGED, changed, target.author, target.pair.original, remarks=target.remarks)
        if target.statement is not None and target.ref not in self._items and (target.ref, CHANGED) in self.made:
            self.under.setdefault(target.ref, _statement(target)[1])
        return target

    def _has_changed(self, statement: Statement, item: ChoiceItem) -> bool:
        """Return whether the form that is wanted, and cannot be made, was written already."""
        pair = pair_of(statement, item, self._wanted.language)
        return self._wanted.bias in (None, item.bias) and isinstance(pair, ChoicePair) and pair.changed is not None

    def _formed(self, statement: Statement, question: Choice) -> _Target:
        """Return the place of a changed form. Raises UsageError with the reason if there can be none."""
        item = self._items.get(statement.ref)
        bias = self._wanted.bias or (item.bias if item else None)
        if bias is None:
            raise UsageError("it has no bias yet; name the bias of the pair (--bias)")
        if bias is Bias.RESPONSE_ORDER and (odd := out_of_order(question)):
            raise UsageError(f"{odd[0]}. Reword it first, or write the form yourself")
        key = item.key if item else key_in(statement.ref)
        shares = item.shares if item else ()
        middle = self._wanted.middle if bias is Bias.ODD_EVEN and len(question.options) % 2 == 0 else None
        label = self._wanted.dont_know
        pair, remarks = form_pair(key, bias, question, middle, statement.topic, shares, label)
        author = f"workbench {bias}"
        called_so = item is None and statement.ref == ref_of(bias, key)
        if called_so or (item is not None and item.bias is bias):
            if pair.original != question:
                raise UsageError("its original must have a middle option: add one with the editor first")
            variant = item.variant if item is not None else ""
            return _Target(replace(pair, variant=variant), statement, statement, author, remarks)
        return self._elsewhere(statement, pair, author, remarks)

    def _elsewhere(self, statement: Statement, pair: ChoicePair, author: str, remarks: tuple[str, ...]) -> _Target:
        """Return the statement under another bias, which may be there. Raises UsageError where it is another one."""
        target = _Target(pair, None, statement, author, remarks)
        ref = target.ref
        if len(ref) > MOST_REF or "," in ref or any(character.isspace() for character in ref):
            raise UsageError(f"{ref!r} cannot be a ref: it has more than {MOST_REF} characters, a space or a comma")
        there = self._statements.get(ref)
        if there is not None:
            if question_of(there, self._wanted.language) != pair.original:
                raise UsageError(f"another question {ref} already exists")
            return replace(target, statement=there)
        twin = self.made.get((ref, ORIGINAL))
        if twin is not None and twin.text != pair.original.lettered():
            raise UsageError(f"another question with the key {pair.key!r} becomes {ref}")
        return target

    def _perturbed_target(self, statement: Statement, question: Choice) -> _Target | None:
        """Return the question itself, as what typos are put into; None where it is to be another."""
        item = self._items.get(statement.ref)
        if not self._wanted.perturbations or self._wanted.bias is not None:
            return None
        if item is None:
            why = "it has no bias, so no audit asks it; make a pair from it first"
            self.refused.append(Refused(statement.ref, self._wanted.perturbations[0], why))
            return None
        return _Target(ChoicePair(item.key, item.bias, question, None, variant=item.variant), statement, statement)

    def _errors(self, target: _Target) -> None:
        """Draw the perturbations of a question."""
        wanted, pair = self._wanted, target.pair
        for perturbation in wanted.perturbations:
            drawn: dict[str, int] = {}
            for number in range(1, wanted.draws + 1):
                found = draw(pair.original, pair.key, perturbation, number, wanted.seed)
                if found.choice is None:
                    self.refused.append(Refused(target.ref, perturbation, found.cannot))
                    break
                twin = drawn.setdefault(found.choice.stem, number)
                remarks = (f"the same text as draw {twin}",) if twin != number else ()
                author = f"workbench {perturbation}, seed {wanted.seed}, draw {number}"
                variant = VariantId(KIND_OF[perturbation], number)
                self._put(target, variant, found.choice, author, pair.original, words=found.words, remarks=remarks)

    def _put(
        self,
        target: _Target,
        variant: VariantId,
        choice: Choice,
        author: str | None,
        before: Choice,
        *,
        words: tuple[tuple[str, str], ...] = (),
        remarks: tuple[str, ...] = (),
    ) -> None:
        """Note a form, unless it stands there in these words or was noted before."""
        place = (target.ref, variant)
        statement, text = target.statement, choice.lettered()
        held = statement.wording(variant, self._wanted.language) if statement else None
        self.seen |= {one.ref: one for one in (statement, target.of) if one is not None}
        if place in self.made or place in self._there:
            return
        if held is not None and held.text == text:
            self._there.add(place)
            self.there += 1
            return
        of = target.of.ref if target.of.ref != target.ref else ""
        now = held.text if held else None
        self.made[place] = Proposal(
            target.ref, variant, before.lettered(), text, author, words, remarks, held=now, of=of
        )


def _statement(target: _Target) -> tuple[Statement, ChoiceItem]:
    """Return a pair that is no statement yet, with what its question is known to be about."""
    pair, of = target.pair, target.of
    statement = Statement(
        target.ref,
        (),
        country=of.country,
        topic=of.topic,
        source=of.source,
        tags=(pair.bias.value,),
        derived_from=of.ref,
    )
    shares = tuple(pair.shares)
    item = ChoiceItem(target.ref, pair.key, pair.bias, pair.variant, pair.middle_removed, shares, pair.warnings)
    return statement, item


def _written(statement: Statement, proposals: Sequence[Proposal], language: str) -> Statement:
    """Return a statement with these proposals as its wordings."""
    for one in _original_first(proposals):
        statement = with_text(statement, one.variant, language, one.text, one.author)
    return statement


def _original_first(proposals: Sequence[Proposal]) -> Iterator[Proposal]:
    yield from sorted(proposals, key=lambda one: one.variant != ORIGINAL)


def _check(wanted: Wanted) -> None:
    """Raise UsageError for a request that cannot be carried out with any question."""
    if wanted.bias is None and not wanted.own and not wanted.perturbations:
        raise UsageError("nothing to make; name a bias, or perturbations")
    if wanted.bias in WRITTEN:
        raise UsageError(
            f"the changed form of {wanted.bias} has to be written by a person, or drafted by a model or a rule: "
            "workbench draft STORE --kind changed"
        )
    if not 1 <= wanted.draws <= MOST_DRAWS:
        raise UsageError(f"found {wanted.draws} draws; give 1 to {MOST_DRAWS}")
    if wanted.seed < 0:
        raise UsageError(f"found the seed {wanted.seed}; give 0 or more")
    if wanted.middle is not None and not wanted.own and wanted.bias is not Bias.ODD_EVEN:
        raise UsageError(f"a middle option belongs to {Bias.ODD_EVEN}; found it for {wanted.bias or 'perturbations'}")
    for name, option in (("middle option", wanted.middle), ("don't-know option", wanted.dont_know)):
        if option is not None and (not option.strip() or not option.isprintable()):
            raise UsageError(f"the {name} is {option!r}; give one line of text")

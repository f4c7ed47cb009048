"""Forms of multiple-choice questions: their selection, proposals and changes.

Questions are selected by their refs, or by the keys that they have in their survey.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stores.core.store import Store
from stores.instruments.statements import MOST_REF
from workbench.domain.choices import (
    Bias,
    Choice,
    ChoiceFault,
    ChoiceItem,
    ChoicePair,
    Perturbation,
    key_in,
    parse_choice,
    ref_of,
)
from workbench.domain.instruments import KIND_OF, pair_of, statement_of, unreadable_forms
from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.statements import CHANGED, ORIGINAL, Statement, VariantId, Wording
from workbench.errors import UnknownName, UsageError
from workbench.formats.choices import form_fault, original_fault
from workbench.pipeline.drafting import chosen_statements
from workbench.pipeline.editing import Done, outcome
from workbench.workshop.choice_forms import (
    DONT_KNOW,
    WRITTEN,
    form_pair,
    original_faults,
    out_of_order,
    pair_faults,
    pair_hints,
)
from workbench.workshop.edits import with_tag, with_text
from workbench.workshop.perturbations import draw


def named_questions(store: Store, instrument: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the selected refs.

    A key selects its questions under all biases.

    A name that is neither a ref nor a key stays as it is: the search for the statement then tells
    that there is none.
    """
    refs = {line.ref for line in store.instruments.lines(instrument)}
    items = store.choices.items(instrument).values()
    refs_found: dict[str, None] = {}
    for name in names:
        matching = [] if name in refs else [item.ref for item in items if item.key == name]
        refs_found |= dict.fromkeys(matching or [name])
    return tuple(refs_found)


def named_question(store: Store, instrument: str, name: str) -> str:
    """Return the only ref of a name. Raises UsageError if a key has several biases, naming them."""
    refs = named_questions(store, instrument, [name])
    if len(refs) > 1:
        raise UsageError(
            f"{name} stands under several biases; name one question: {', '.join(refs)}"
        )
    return refs[0]


@dataclass(frozen=True, slots=True)
class RequestedForms:
    """The forms that are to be made of questions."""

    bias: Bias | None = None
    "the bias of the changed form, with a pair of its own for a question under another bias"
    own: bool = False
    "whether to make the changed form under the bias of each question, whichever that is"
    perturbations: tuple[Perturbation, ...] = ()
    draws: int = 1
    "number of draws of each perturbation, numbered from 1"
    seed: int = SEED
    middle: str | None = None
    "odd/even: the middle option of a scale of four"
    dont_know: str = DONT_KNOW
    "opinion float: the option that is added"
    language: str = ""
    "language of the wordings, or empty for the instrument's"

    @property
    def act(self) -> str:
        """The action in the history: `made response_order, key_typo (3 draws, seed 7)`."""
        form = [self.bias.value] if self.bias is not None else ["changed form"] if self.own else []
        draws = f"{self.draws} draw{'' if self.draws == 1 else 's'}, seed {self.seed}"
        errors = [f"{', '.join(self.perturbations)} ({draws})"] if self.perturbations else []
        return f"made {', '.join([*form, *errors])}"


@dataclass(frozen=True, slots=True)
class ProposedWording:
    """A wording that is not written yet."""

    ref: str
    "ref of the statement that it is a wording of"
    variant: VariantId
    before: str
    "the text that it was made from"
    text: str
    author: str | None
    """the origin, such as `workbench key_typo, seed 7, draw 2`

    For an original that is taken over, it is the author.
    """
    words: tuple[tuple[str, str], ...] = ()
    "(before, after) of each word with a typo"
    remarks: tuple[str, ...] = ()
    "remarks for a check, in sentences"
    held: str | None = None
    "the different text that is stored now"
    of: str = ""
    "ref of the question that it was made of, if that is another statement"


@dataclass(frozen=True, slots=True)
class RefusedForm:
    """A form that cannot be made of a question."""

    ref: str
    what: str
    "`response_order`, `key_typo`"
    why: str


@dataclass(frozen=True, slots=True)
class Proposals:
    """The forms made of the questions of an instrument. None of them is written yet."""

    instrument: str
    language: str
    wanted: RequestedForms
    made: tuple[ProposedWording, ...]
    refused: tuple[RefusedForm, ...]
    there: int
    "number of forms that exist already: in these words, or written by somebody if none can be made"
    seen: Mapping[str, Statement]
    "the statements that were read"
    new: Mapping[str, tuple[Statement, ChoiceItem]] = field(default_factory=dict)
    "ref -> a pair that is no statement yet, without its wordings"
    under: Mapping[str, ChoiceItem] = field(default_factory=dict)
    "ref -> the item of an existing statement that has no bias yet"

    @property
    def replacing(self) -> tuple[ProposedWording, ...]:
        """The proposals that would replace another text."""
        return tuple(proposal for proposal in self.made if proposal.held is not None)

    def describe(self) -> str:
        """Return a summary of the new and the excluded forms."""
        refs = len({proposal.ref for proposal in self.made})
        forms = f"{plural(len(self.made), 'form')} of {plural(refs, 'question')}"
        parts = [forms if self.made else "no new form"]
        if self.new:
            parts.append(f"{plural(len(self.new), 'question')} would be new")
        parts += [f"{ref} would get the bias {item.bias}" for ref, item in self.under.items()]
        if self.replacing:
            parts.append(f"{len(self.replacing):,} would replace an existing text")
        if self.there:
            parts.append(f"{self.there:,} {'exists' if self.there == 1 else 'exist'} already")
        lines = ["; ".join(parts)]
        reasons = Counter((refusal.what, refusal.why) for refusal in self.refused)
        lines += [
            f"{subject}, {plural(n_questions, 'question')} left out: {reason}"
            for (subject, reason), n_questions in reasons.most_common()
        ]
        return "\n".join(lines)


MOST_DRAWS = 99
"most draws of one perturbation, while the published prompts have 1"


@dataclass(frozen=True, slots=True)
class _Target:
    """The statement that forms are made for."""

    pair: ChoicePair
    statement: Statement | None
    "the statement, or None if it would be new"
    of: Statement
    "the question that it is made of"
    author: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def ref(self) -> str:
        return (
            self.statement.ref
            if self.statement
            else ref_of(self.pair.bias, self.pair.key, self.pair.variant)
        )


def propose(
    store: Store, instrument: str, refs: Sequence[str], wanted: RequestedForms
) -> Proposals:
    """Return the forms that can be made of questions.

    No refs stand for all questions of the instrument. It reads only.

    Raises UnknownName for statements that are not there, UsageError if nothing is requested or can
    be made of any.
    """
    _check(wanted)
    stored = store.instruments.get(instrument)
    wanted = replace(wanted, language=wanted.language or stored.language)
    items = {item.ref: item for item in stored.choices}
    work = _Work(
        wanted, {one_statement.ref: one_statement for one_statement in stored.statements}, items
    )
    for statement in chosen_statements(stored.statements, refs, instrument):
        if refs or statement.ref in items:
            work.add(statement)
    if not refs and not items:
        raise UsageError(
            f"{instrument} has no multiple-choice questions; name statements that are questions, "
            "or import some: workbench import STORE --format choices PATH"
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
    """Write proposals as wordings, all of them or none.

    They are one change, which is undone as one.

    A proposal that would replace another text is left out, with a note, unless `replace`. Raises
    ConflictError if a question was changed since it was read, UsageError if nothing is left to be
    written.
    """
    accepted = [proposal for proposal in proposals.made if replace or proposal.held is None]
    n_left = len(proposals.made) - len(accepted)
    kept_note = (
        f"{plural(n_left, 'form')} would replace an existing text, which stays" if n_left else ""
    )
    if not accepted:
        raise UsageError(f"nothing to write: {kept_note or proposals.describe()}")
    create, items, save = [], [], {}
    for ref in dict.fromkeys(proposal.ref for proposal in accepted):
        own_proposals = [proposal for proposal in accepted if proposal.ref == ref]
        if ref in proposals.new:
            statement, item = proposals.new[ref]
            create.append(_written(statement, own_proposals, proposals.language))
            items.append(item)
            continue
        statement = proposals.seen[ref]
        if ref in proposals.under:
            statement = with_tag(statement, proposals.under[ref].bias)
            items.append(proposals.under[ref])
        save[ref] = _written(statement, own_proposals, proposals.language)
    read_refs = {*save, *(proposal.of for proposal in accepted if proposal.of)}
    change = store.statements.change(
        proposals.instrument,
        person=person,
        act=proposals.wanted.act,
        expected={ref: proposals.seen[ref] for ref in read_refs},
        save=list(save.values()),
        create=create,
        choices=items,
    )
    result = outcome(store, proposals.instrument, change)
    return Done(f"{result.sentence} {kept_note}." if kept_note else result.sentence, result.refs)


def question_of(statement: Statement, language: str) -> Choice | str:
    """Return the question of a statement's original, or the reason why it is none."""
    original = statement.wording(ORIGINAL, language)
    if original is None:
        return f"there is no original in {language!r}"
    parsed = parse_choice(original.text)
    return (
        f"found {parsed.found}; expected {parsed.expected}"
        if isinstance(parsed, ChoiceFault)
        else parsed
    )


class _Work:
    """The forms made so far, and the statements that were read."""

    def __init__(
        self,
        wanted: RequestedForms,
        statements: Mapping[str, Statement],
        items: Mapping[str, ChoiceItem],
    ):
        self._wanted, self._statements, self._items = wanted, statements, items
        self.made: dict[tuple[str, VariantId], ProposedWording] = {}
        self.refused: list[RefusedForm] = []
        self.there = 0
        self.seen: dict[str, Statement] = {}
        self.new: dict[str, tuple[Statement, ChoiceItem]] = {}
        self.under: dict[str, ChoiceItem] = {}
        self._there: set[tuple[str, VariantId]] = set()

    def add(self, statement: Statement) -> None:
        """Make the requested forms of one statement."""
        question = question_of(statement, self._wanted.language)
        if isinstance(question, str):
            form = self._wanted.bias or next(iter(self._wanted.perturbations), "changed form")
            self.refused.append(RefusedForm(statement.ref, form, question))
            return
        target = self._perturbed_target(statement, question)
        if self._wanted.own or self._wanted.bias is not None:
            target = self._form(statement, question) or (
                target if self._wanted.bias is None else None
            )
        if target is not None:
            self._errors(target)

    def _form(self, statement: Statement, question: Choice) -> _Target | None:
        """Make the changed form, here or as a pair of its own.

        Return None, with a note, if that cannot be.
        """
        try:
            target = self._formed(statement, question)
        except UsageError as error:
            item = self._items.get(statement.ref)
            if item is not None and self._has_changed(statement, item):
                self.there += 1
                return None
            form = self._wanted.bias or (item.bias if item else "changed form")
            self.refused.append(RefusedForm(statement.ref, form, str(error)))
            return None
        changed = target.pair.changed
        if changed is None:
            return None
        if target.statement is None:
            self.new.setdefault(target.ref, _statement(target))
            stored = statement.wording(ORIGINAL, self._wanted.language)
            is_taken_over = stored is not None and target.pair.original == question
            author = stored.author if stored is not None and is_taken_over else target.author
            self._put(target, ORIGINAL, target.pair.original, author, question)
        self._put(
            target, CHANGED, changed, target.author, target.pair.original, remarks=target.remarks
        )
        if (
            target.statement is not None
            and target.ref not in self._items
            and (target.ref, CHANGED) in self.made
        ):
            self.under.setdefault(target.ref, _statement(target)[1])
        return target

    def _has_changed(self, statement: Statement, item: ChoiceItem) -> bool:
        """Return whether the requested form, which cannot be made, was written already."""
        pair = pair_of(statement, item, self._wanted.language)
        return (
            self._wanted.bias in (None, item.bias)
            and isinstance(pair, ChoicePair)
            and pair.changed is not None
        )

    def _formed(self, statement: Statement, question: Choice) -> _Target:
        """Return the target of a changed form.

        Raises UsageError with the reason if there can be none.
        """
        item = self._items.get(statement.ref)
        bias = self._wanted.bias or (item.bias if item else None)
        if bias is None:
            raise UsageError("it has no bias yet; name the bias of the pair (--bias)")
        if bias is Bias.RESPONSE_ORDER and (misplaced := out_of_order(question)):
            raise UsageError(f"{misplaced[0]}. Reword it first, or write the form yourself")
        key = item.key if item else key_in(statement.ref)
        shares = item.shares if item else ()
        middle = (
            self._wanted.middle
            if bias is Bias.ODD_EVEN and len(question.options) % 2 == 0
            else None
        )
        label = self._wanted.dont_know
        pair, remarks = form_pair(key, bias, question, middle, statement.topic, shares, label)
        author = f"workbench {bias}"
        has_its_ref = item is None and statement.ref == ref_of(bias, key)
        if has_its_ref or (item is not None and item.bias is bias):
            if pair.original != question:
                raise UsageError(
                    "its original must have a middle option: add one with the editor first"
                )
            variant = item.variant if item is not None else ""
            return _Target(replace(pair, variant=variant), statement, statement, author, remarks)
        return self._elsewhere(statement, pair, author, remarks)

    def _elsewhere(
        self, statement: Statement, pair: ChoicePair, author: str, remarks: tuple[str, ...]
    ) -> _Target:
        """Return the statement under another bias, which may exist.

        Raises UsageError if it is a different one.
        """
        target = _Target(pair, None, statement, author, remarks)
        ref = target.ref
        if len(ref) > MOST_REF or "," in ref or any(character.isspace() for character in ref):
            raise UsageError(
                f"{ref!r} cannot be a ref: it has more than {MOST_REF} characters, a space or a "
                "comma"
            )
        existing = self._statements.get(ref)
        if existing is not None:
            if question_of(existing, self._wanted.language) != pair.original:
                raise UsageError(f"another question {ref} already exists")
            return replace(target, statement=existing)
        twin = self.made.get((ref, ORIGINAL))
        if twin is not None and twin.text != pair.original.lettered():
            raise UsageError(f"another question with the key {pair.key!r} becomes {ref}")
        return target

    def _perturbed_target(self, statement: Statement, question: Choice) -> _Target | None:
        """Return the question itself for typos, or None if they go into another form."""
        item = self._items.get(statement.ref)
        if not self._wanted.perturbations or self._wanted.bias is not None:
            return None
        if item is None:
            reason = "it has no bias, so no audit asks it; make a pair from it first"
            self.refused.append(RefusedForm(statement.ref, self._wanted.perturbations[0], reason))
            return None
        return _Target(
            ChoicePair(item.key, item.bias, question, None, variant=item.variant),
            statement,
            statement,
        )

    def _errors(self, target: _Target) -> None:
        """Draw the perturbations of a question."""
        request, pair = self._wanted, target.pair
        for perturbation in request.perturbations:
            draw_by_stem: dict[str, int] = {}
            for number in range(1, request.draws + 1):
                drawn_form = draw(pair.original, pair.key, perturbation, number, request.seed)
                if drawn_form.choice is None:
                    self.refused.append(RefusedForm(target.ref, perturbation, drawn_form.cannot))
                    break
                twin = draw_by_stem.setdefault(drawn_form.choice.stem, number)
                remarks = (f"the same text as draw {twin}",) if twin != number else ()
                author = f"workbench {perturbation}, seed {request.seed}, draw {number}"
                variant = VariantId(KIND_OF[perturbation], number)
                self._put(
                    target,
                    variant,
                    drawn_form.choice,
                    author,
                    pair.original,
                    words=drawn_form.words,
                    remarks=remarks,
                )

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
        """Record a form, unless it exists in these words or was recorded before."""
        key = (target.ref, variant)
        statement, text = target.statement, choice.lettered()
        stored = statement.wording(variant, self._wanted.language) if statement else None
        self.seen |= {source.ref: source for source in (statement, target.of) if source is not None}
        if key in self.made or key in self._there:
            return
        if stored is not None and stored.text == text:
            self._there.add(key)
            self.there += 1
            return
        source_ref = target.of.ref if target.of.ref != target.ref else ""
        stored_text = stored.text if stored else None
        self.made[key] = ProposedWording(
            target.ref,
            variant,
            before.lettered(),
            text,
            author,
            words,
            remarks,
            held=stored_text,
            of=source_ref,
        )


def _statement(target: _Target) -> tuple[Statement, ChoiceItem]:
    """Return a pair that is not a statement yet, with the known context of its question."""
    pair, source = target.pair, target.of
    statement = Statement(
        target.ref,
        (),
        country=source.country,
        topic=source.topic,
        source=source.source,
        tags=(pair.bias.value,),
        derived_from=source.ref,
    )
    shares = tuple(pair.shares)
    item = ChoiceItem(
        target.ref, pair.key, pair.bias, pair.variant, pair.middle_removed, shares, pair.warnings
    )
    return statement, item


def _written(
    statement: Statement, proposals: Sequence[ProposedWording], language: str
) -> Statement:
    """Return a statement with these proposals as its wordings."""
    for proposal in _original_first(proposals):
        statement = with_text(statement, proposal.variant, language, proposal.text, proposal.author)
    return statement


def _original_first(proposals: Sequence[ProposedWording]) -> Iterator[ProposedWording]:
    yield from sorted(proposals, key=lambda proposal: proposal.variant != ORIGINAL)


def _check(wanted: RequestedForms) -> None:
    """Raise UsageError for a request that no question can meet."""
    if wanted.bias is None and not wanted.own and not wanted.perturbations:
        raise UsageError("nothing to make; name a bias, or perturbations")
    if wanted.bias in WRITTEN:
        raise UsageError(
            f"the changed form of {wanted.bias} has to be written by a person, or drafted by a "
            "model or a rule: workbench draft STORE --kind changed"
        )
    if not 1 <= wanted.draws <= MOST_DRAWS:
        raise UsageError(f"found {wanted.draws} draws; give 1 to {MOST_DRAWS}")
    if wanted.seed < 0:
        raise UsageError(f"found the seed {wanted.seed}; give 0 or more")
    if wanted.middle is not None and not wanted.own and wanted.bias is not Bias.ODD_EVEN:
        raise UsageError(
            f"a middle option belongs to {Bias.ODD_EVEN}; found it for "
            f"{wanted.bias or 'perturbations'}"
        )
    for name, option in (("middle option", wanted.middle), ("don't-know option", wanted.dont_know)):
        if option is not None and (not option.strip() or not option.isprintable()):
            raise UsageError(f"the {name} is {option!r}; give one line of text")


def add_question(
    store: Store,
    instrument: str,
    bias: Bias,
    statement: Statement,
    changed: str = "",
    *,
    person: str,
) -> Done:
    """Put a question under a bias.

    Its ref becomes that of the bias and the key, `odd_even.q10`.

    `statement` has the key, or such a ref, as its ref, and the question as its only original.
    `changed` is the text of its changed form, if there is one. An existing statement in these words
    without a bias is put under it as it is. Raises UsageError if a text is no such question, and if
    another one has the ref.
    """
    original = next(
        (wording for wording in statement.wordings if wording.variant == ORIGINAL), None
    )
    if original is None:
        raise UsageError("the question has no text; write it with one option per line")
    pair = _checked(bias, key_in(statement.ref.strip()), original.text, changed)
    ref, language = ref_of(bias, pair.key), original.language
    _, item = statement_of(pair, language)
    existing = _stored_statement(store, instrument, ref)
    if existing is None:
        other_wordings = [wording for wording in statement.wordings if wording != original]
        wordings = (
            Wording(ORIGINAL, language, pair.original.lettered(), original.author),
            *other_wordings,
        )
        updated = with_tag(replace(statement, ref=ref, wordings=wordings), bias)
        updated = _with_changed(updated, pair, language, person)
        store.statements.change(
            instrument, person=person, act=f"added under {bias}", create=[updated], choices=[item]
        )
    else:
        _check_same(store, instrument, existing, pair.original, language)
        updated = replace(with_tag(existing, bias), topic=statement.topic or existing.topic)
        updated = _with_changed(updated, pair, language, person)
        expected = {ref: existing}
        act = f"put under {bias}"
        store.statements.change(
            instrument, person=person, act=act, expected=expected, save=[updated], choices=[item]
        )
    return Done(_question_message(updated, item, language), (ref,))


def _checked(bias: Bias, key: str, original: str, changed: str) -> ChoicePair:
    """Return the question. Raises UsageError if it is none, or not one of the bias."""
    if not key:
        raise UsageError("the question has no key; give a short one, such as q10")
    pair = ChoicePair(
        key,
        bias,
        _choice("question", original),
        _choice("changed form", changed) if changed else None,
    )
    for name, fault in (("question", original_fault(pair)), ("changed form", form_fault(pair))):
        if fault is not None:
            raise UsageError(f"the {name} has {fault.found}; {bias} needs {fault.expected}")
    if bias is Bias.OPINION_FLOAT and len(pair.original.options) % 2 == 0:
        n_options = len(pair.original.options)
        raise UsageError(
            f"the question has {n_options} options; {bias} needs an odd number: delta is about the "
            "middle option"
        )
    return pair


def _choice(name: str, text: str) -> Choice:
    parsed = parse_choice(text)
    if isinstance(parsed, ChoiceFault):
        raise UsageError(
            f"the {name} cannot be read: found {parsed.found}; expected {parsed.expected}"
        )
    return parsed


def _stored_statement(store: Store, instrument: str, ref: str) -> Statement | None:
    """Return the current statement with a ref, or None if the instrument has none."""
    try:
        return store.statements.get(instrument, ref)
    except UnknownName:
        return None


def _check_same(
    store: Store, instrument: str, seen: Statement, question: Choice, language: str
) -> None:
    """Raise UsageError unless the existing statement is this question, without a bias."""
    if seen.ref in store.choices.items(instrument):
        raise UsageError(f"a question {seen.ref} already exists; choose another key")
    stored = seen.wording(ORIGINAL, language)
    if stored is None or parse_choice(stored.text) != question:
        raise UsageError(f"a statement {seen.ref} with another text exists; choose another key")
    for wording, fault in unreadable_forms(seen):
        raise UsageError(
            f"{wording.variant} of {seen.ref}: found {fault.found}; expected {fault.expected}"
        )


def _with_changed(statement: Statement, pair: ChoicePair, language: str, person: str) -> Statement:
    """Return the statement with the changed form.

    Raises UsageError if it already has a different one.
    """
    if pair.changed is None:
        return statement
    text, stored = pair.changed.lettered(), statement.wording(CHANGED, language)
    if stored is not None and stored.text != text:
        raise UsageError(
            f"{statement.ref} has a changed form already; statements --edit changes it"
        )
    return with_text(statement, CHANGED, language, text, person)


def _question_message(statement: Statement, item: ChoiceItem, language: str) -> str:
    """Return a message on the stored question: its faults, and the form still to be made."""
    pair = pair_of(statement, item, language)
    if isinstance(pair, ChoiceFault):
        return f"{statement.ref} now has the bias {item.bias}."
    if pair.changed is not None:
        faults, next_step = (*pair_faults(pair), *pair_hints(pair)), ""
    else:
        faults = original_faults(item.bias, pair.original) if item.bias in WRITTEN else ()
        next_step = f" Its changed form still has to be {_to_do(item.bias)}."
    message = (
        f"{statement.ref}, a question with {len(pair.original.options)} options, now has the "
        f"bias {item.bias}."
    )
    return message + "".join(f" Look again: {fault}." for fault in faults) + next_step


def _to_do(bias: Bias) -> str:
    if bias in WRITTEN:
        return "written (statements --add-variant; a on the question) or drafted"
    return "made (choices STORE forms; F on the question)"

"""Prompts that are asked only until their verdict is settled: the rule, and the number of answers needed.

A plan of N answers to a prompt stays a plan of N. It also records the rule of settlement, and the number of answers
after which the prompt was settled: the other answers are neither missing nor failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from stores.core.base import Aggregate
from stores.core.sqlite import table
from stores.instruments.templates import PROBES
from stores.runs.models import newest_model
from stores.runs.run_rows import Run, run_values
from workbench.domain.readings import ReaderCard
from workbench.domain.responses import ModelCard, Sampling
from workbench.stats.proportions import VerdictRule


@dataclass(frozen=True, slots=True)
class SettledBy:
    """The rule by which prompts are settled."""

    rule: VerdictRule
    reader: str
    reader_version: str

    @classmethod
    def of(cls, rule: VerdictRule, card: ReaderCard) -> SettledBy:
        return cls(rule, card.name, card.version)

    def describe(self) -> str:
        """Return a description of the rule."""
        of = self.rule
        return (
            f"N {of.samples}, {of.minimum} readable needed, rule {of.rule} ({of.low:g}, {of.high:g}), reader "
            f"{self.reader} {self.reader_version[:8]}"
        )


@dataclass(frozen=True, slots=True)
class Spared:
    """The answers of a run that settlement saved."""

    prompts: int
    "prompts asked until settled"
    settled: int
    "prompts settled before all N answers were drawn"
    drawn: int
    "answers received for these prompts, up to the plan"
    planned: int
    "answers planned for them"
    left: int
    "answers saved at settled prompts"
    rules: tuple[SettledBy, ...] = ()


class Settlements(Aggregate):
    """The methods on prompts that are asked until settled."""

    def note(self, model_id: int, sampling_id: int, by: Mapping[bytes, SettledBy]) -> None:
        """Record that planned prompts are asked until settled, and the rule."""
        with self.store.write() as connection:
            rules = table(connection, "verdict_rule")
            ids = {
                one: rules.lookup({**asdict(one.rule), "reader": one.reader, "reader_version": one.reader_version})
                for one in dict.fromkeys(by.values())
            }
            connection.executemany(
                _NOTE, ((ids[rule], ids[rule], model_id, sampling_id, key) for key, rule in by.items())
            )

    def settle(self, model_id: int, sampling_id: int, answers: Mapping[bytes, int]) -> None:
        """Record the number of answers after which each of these prompts was settled."""
        if answers:
            with self.store.write() as connection:
                connection.executemany(_SETTLE, ((n, model_id, sampling_id, key) for key, n in sorted(answers.items())))

    def following(
        self,
        seeds: Mapping[bytes, int],
        model: str,
        sampling: Sampling,
        card: ModelCard | None,
        *,
        dtype: str = "",
        chat_format: str = "",
    ) -> dict[bytes, int]:
        """Return for each prompt the number of the first answer of its seed that was not requested.

        Requested numbers stay used even if the answer failed: a server that respects seeds would give the same answer
        again.
        """
        rowid = newest_model(self.connection, model, card, dtype, chat_format)
        if rowid is None:
            return {}
        rows = self.connection.execute(_ASKED, {"model": rowid, "sampling": sampling.key})
        return {key: after for key, seed, after in rows if seeds.get(key) == seed}

    def answered_by(
        self, model: str, sampling: Sampling, *, dtype: str = "", chat_format: str = ""
    ) -> tuple[int, int] | None:
        """Return the rowids of the model whose stored answers a plan counts before a model is loaded, and of the
        sampling; None where nobody was asked so.
        """
        rowid = newest_model(self.connection, model, None, dtype, chat_format)
        row = self.connection.execute("select id from sampling where key = ?", (sampling.key,)).fetchone()
        return None if rowid is None or row is None else (rowid, int(row[0]))

    def probes(self, run: Run) -> frozenset[int]:
        """Return the probes (rowids) of a run whose prompts are asked until settled."""
        if self.connection.execute("select 1 from verdict_rule limit 1").fetchone() is None:
            return frozenset()
        return frozenset(row[0] for row in self.connection.execute(_PROBES, run_values(self.connection, run)))

    def spared(self, run: Run) -> Spared | None:
        """Return the answers of a run that settlement saved; None if all prompts were to be asked N times."""
        if self.connection.execute("select 1 from verdict_rule limit 1").fetchone() is None:
            return None
        rows: Sequence[tuple[int, int, int | None, int]] = self.connection.execute(
            _SPARED, run_values(self.connection, run)
        ).fetchall()
        if not rows:
            return None
        settled = [(n, came) for n, came, at, _ in rows if at is not None and at <= came < n]
        return Spared(
            len(rows),
            len(settled),
            sum(min(n, came) for n, came, _, _ in rows),
            sum(n for n, _, _, _ in rows),
            sum(n - came for n, came in settled),
            tuple(self._rules(dict.fromkeys(rule for *_, rule in rows))),
        )

    def _rules(self, rowids: Iterable[int]) -> Iterable[SettledBy]:
        for rowid in rowids:
            *rule, reader, version = self.connection.execute(_BY_ID, (rowid,)).fetchone()
            yield SettledBy(VerdictRule(*rule), reader, version)


_BY_ID = "select samples, minimum, rule, low, high, reader, reader_version from verdict_rule where id = ?"
_OF_PROMPT = "where model_id = ? and sampling_id = ? and prompt_id = (select id from prompt where key = ?)"
_NOTE = f"update planned set settled_at = iif(rule_id is ?, settled_at, null), rule_id = ? {_OF_PROMPT}"
_SETTLE = f"update planned set settled_at = ? {_OF_PROMPT}"
_ASKED = """
    select p.key, d.seed, max(d.first + coalesce(d.asked, d.n))
    from draw d join prompt p on p.id = d.prompt_id
    where d.model_id = :model and d.sampling_id = (select id from sampling where key = :sampling)
    group by p.id, d.seed
"""
_SCOPE = f"""
    from instrument i
    join statement s on s.id in (select value from json_each(:scope))
    join wording w on w.statement_id = s.id and w.language = :language
    join probe p on p.wording_id = w.id and {PROBES}
    join planned n on n.prompt_id = p.prompt_id and n.model_id = :model and n.sampling_id = :sampling
        and n.rule_id is not null
"""
_PROBES = f"select p.id {_SCOPE} where i.name = :instrument"
_SPARED = f"""
    with used as materialized (
        select distinct n.prompt_id, n.n, n.rule_id, iif(r.samples >= n.n, n.settled_at, null) as settled_at
        {_SCOPE} join verdict_rule r on r.id = n.rule_id where i.name = :instrument
    )
    select u.n, coalesce(sum(d.n - d.failed), 0), u.settled_at, u.rule_id
    from used u left join draw d on d.prompt_id = u.prompt_id and d.model_id = :model and d.sampling_id = :sampling
        and (:fingerprint is null or d.fingerprint = :fingerprint)
    group by u.prompt_id
"""

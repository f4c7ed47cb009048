"""Statements as JSON, for the record of edits before and after a change."""

from __future__ import annotations

import json

from workbench.domain.statements import Dimension, Relation, Side, Statement, VariantId, Wording, variant_order


def snapshot(statement: Statement) -> str:
    """Return a statement as JSON, with everything that an edit can change; without people's labels."""
    wordings = sorted(statement.wordings, key=lambda w: (w.language, variant_order(w.variant)))
    return json.dumps(
        {
            "ref": statement.ref,
            "version": statement.version,
            "country": statement.country,
            "topic": statement.topic,
            "dimension": statement.dimension,
            "leaning": statement.leaning,
            "source": statement.source,
            "tags": statement.tags,
            "derived_from": statement.derived_from,
            "wordings": [[str(w.variant), w.language, w.text, w.author, w.stated] for w in wordings],
        },
        sort_keys=True,  # and ASCII: otherwise the database could not store half characters from older imports
    )


def restored_statement(body: str) -> Statement:
    """Return the statement of a snapshot."""
    said = json.loads(body)
    wordings = tuple(
        Wording(VariantId.parse(variant), language, text, author, Relation(stated) if stated else None)
        for variant, language, text, author, stated in said["wordings"]
    )
    return Statement(
        ref=said["ref"],
        wordings=wordings,
        country=said["country"],
        topic=said["topic"],
        languages=tuple(sorted({w.language for w in wordings})),
        dimension=Dimension(said["dimension"]) if said["dimension"] else None,
        leaning=Side(said["leaning"]) if said["leaning"] else None,
        source=said["source"],
        tags=tuple(said["tags"]),
        derived_from=said["derived_from"],
        version=said["version"],
    )

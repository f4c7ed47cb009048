"""Acts of `statements` on many statements at once: done, or shown with --dry-run before they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.cli.asking import changed_by
from workbench.cli.output import print_json, say
from workbench.cli.verbs import Namespace
from workbench.domain.names import listed_words
from workbench.domain.statements import Statement
from workbench.errors import UsageError

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

BULK = ("tag", "untag", "set", "replace", "strip")
"acts on --refs"


def bulk(store: Store, options: Namespace, name: str) -> Done:
    """Change the statements of --refs."""
    from workbench.pipeline.editing import change_all

    change, act = _change(options)
    return change_all(store, name, _chosen(store, options, name), change, person=changed_by(options), act=act)


def preview(store: Store, options: Namespace, name: str) -> int:
    """Print what a change of many statements would come to."""
    if all(getattr(options, option) in (None, False) for option in BULK):
        raise UsageError(f"--dry-run needs one of {', '.join('--' + option for option in BULK)}")
    change, act = _change(options)
    seen = _chosen(store, options, name)
    after = {ref: changed for ref, statement in seen.items() if (changed := change(statement)) != statement}
    if options.json:
        print_json({"act": act, "before": [seen[ref] for ref in after], "after": list(after.values())})
        return 0
    for ref, changed in after.items():
        say(ref)
        for old, new in zip(seen[ref].wordings, changed.wordings, strict=True):
            if old.text != new.text:
                say(f"  − {old.variant} {old.language}  {old.text}")
                say(f"  + {new.variant} {new.language}  {new.text}")
    say(f"{act}: {len(after):,} of {len(seen):,} statements would change; nothing was written")
    return 0


def _change(options: Namespace) -> tuple[Callable[[Statement], Statement], str]:
    from workbench.workshop.edits import replaced, stripped, with_field, with_tag, without_tag

    if options.tag is not None:
        return partial(with_tag, tag=options.tag), f"tagged {options.tag}"
    if options.untag is not None:
        return partial(without_tag, tag=options.untag), f"untagged {options.untag}"
    if options.replace is not None:
        old, new = options.replace
        return partial(replaced, old=old, new=new), f"replaced “{old}” by “{new}”"
    if options.strip:
        return stripped, "stripped spaces"
    field, equals, value = options.set.partition("=")
    if not equals:
        raise UsageError(f"found --set {options.set!r}; give FIELD=VALUE, such as topic=housing")
    return partial(with_field, field=field.strip(), text=value), f"set {field.strip()} to {value or 'nothing'}"


def _chosen(store: Store, options: Namespace, name: str) -> dict[str, Statement]:
    refs = listed_words(options.refs, [line.ref for line in store.instruments.lines(name)])
    if not refs:
        raise UsageError("no statements given; name them with --refs A,B")
    return {ref: store.statements.get(name, ref) for ref in refs}

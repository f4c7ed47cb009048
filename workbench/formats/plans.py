"""Reads and writes frozen plans as TOML files."""

from __future__ import annotations

from pathlib import Path

from workbench.domain.designs import FORMAT, FrozenPlan
from workbench.errors import InputError, UsageError
from workbench.regular_files import check_file
from workbench.toml_files import parse_toml

ABOUT = """# A frozen plan: what will be asked and how it will be judged, written before the first answer.
# Do not change it: the hash would no longer fit. An empty text is the default that the help of the option names.
#   workbench run STORE --plan FILE      asks what it says, and notes that it does
#   workbench plan STORE --check FILE    says what was followed, and what was decided afterwards

"""  # noqa: E501


def plan_text(plan: FrozenPlan) -> str:
    """Return the text of a plan's file, which `read_text` reads back."""
    import tomli_w

    tables = {
        "plan": {"format": FORMAT, "hash": plan.hash, **plan.made},
        "asked": {"models": list(plan.models), **plan.asked},
        "content": dict(plan.content),
        "judged": {"audit": plan.audit, **plan.judged},
        "compared": {"runs": list(plan.compared), "correction": plan.correction},
        "template": [dict(template) for template in plan.templates],
    }
    if plan.claims:
        tables["confirmatory"] = {"claims": list(plan.claims)}
    return ABOUT + tomli_w.dumps(tables, multiline_strings=True)


def read_plan(path: Path) -> tuple[FrozenPlan, str]:
    """Return the plan in a file, and the text of the file.

    Raises UsageError if the file cannot be read, is not a plan, or was changed after the plan was
    frozen.
    """
    try:
        text = check_file(path.expanduser()).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror or error}); give the file of a frozen plan"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: is no frozen plan (not UTF-8); workbench plan writes one"
        ) from error
    plan = read_text(text, str(path))
    return plan, text


def read_text(text: str, where: str) -> FrozenPlan:
    """Return the plan in a text. Raises UsageError as `read_plan` does."""
    try:
        tables = parse_toml(text, Path(where))
        head, asked, judged, compared = (
            dict(tables[name]) for name in ("plan", "asked", "judged", "compared")
        )
        version, stated_hash = head.pop("format"), head.pop("hash")
        if version != FORMAT:
            raise UsageError(
                f"{where}: found the format {version!r} of a plan; this workbench knows {FORMAT}"
            )
        plan = FrozenPlan(
            models=tuple(asked.pop("models")),
            asked=asked,
            content=tables["content"],
            templates=tuple(tables.get("template", ())),
            audit=judged.pop("audit"),
            judged=judged,
            compared=tuple(compared["runs"]),
            correction=compared["correction"],
            made=head,
            claims=tuple(dict(tables.get("confirmatory", {})).get("claims", ())),
        )
    except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
        fault = (
            str(error.findings[0])
            if isinstance(error, InputError)
            else f"{type(error).__name__}: {error}"
        )
        raise UsageError(
            f"{where}: is no frozen plan ({fault}); workbench plan writes one"
        ) from error
    if plan.hash != stated_hash:
        raise UsageError(
            f"{where}: was changed since it was frozen: its hash is {plan.hash[:12]}, and it says "
            f"{str(stated_hash)[:12]}. Take the file as it was, or freeze a new plan"
        )
    return plan


__all__ = ["plan_text", "read_plan", "read_text"]

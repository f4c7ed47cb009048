"""Access to the read-only data that ships with workbench, parsed into values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from workbench import entry_points
from workbench.answer_scales import read_scale
from workbench.codebooks import read_codebook
from workbench.domain.annotations import Codebook
from workbench.domain.drafting import DRAFTED, DraftPrompt, parse_prompt
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import Scale
from workbench.entry_points import DEFAULT_AUDIT
from workbench.errors import UnknownName, UsageError, WorkbenchError
from workbench.issue_schemes import IssueScheme, read_issue_scheme
from workbench.readers.lexicon import Languages, Lexicon
from workbench.toml_files import parse_toml, read_toml

SHIPPED_INSTRUMENT = "veldania"
SHIPPED_QUESTIONNAIRE = "veldania_panel"
"an instrument with respondents, all of them synthetic"
SHIPPED_CHOICES = "veldania_choices"
"an instrument of multiple-choice questions"
SHIPPED_SCHEME = "smartvote"
"policy issues that statements are labelled for by default"
INSTRUMENT_AUDITS = ("reliability", "bias_score")
"audits that ask about an instrument's statements; it has their templates by default"

QUESTIONNAIRE_AUDITS = ("questionnaire",)
"those of an instrument whose statements have roles"
CHOICE_AUDITS = ("response_bias",)
"those of an instrument whose statements are multiple-choice questions"
PUBLISHED_LANGUAGE = "en"
"the language in which the audits were published"
LANGUAGE_FOLDER = "WORKBENCH_LANGUAGES"
"environment variable of a folder with lexicons and templates of further languages"
INSTRUMENT_FILES = ("statements.csv", "choices.csv")
"files of which the folder of an instrument has one"

__all__ = [
    "CHOICE_AUDITS",
    "INSTRUMENT_AUDITS",
    "LANGUAGE_FOLDER",
    "PUBLISHED_LANGUAGE",
    "QUESTIONNAIRE_AUDITS",
    "SHIPPED_CHOICES",
    "SHIPPED_INSTRUMENT",
    "SHIPPED_QUESTIONNAIRE",
    "SHIPPED_SCHEME",
    "attention_items",
    "data_folder",
    "default_family",
    "is_reviewed",
    "language_folders",
    "languages",
    "lexicon",
    "lexicons",
    "read_codebook",
    "read_issue_scheme",
    "read_prompt",
    "shipped_audits",
    "shipped_codebook",
    "shipped_codebooks",
    "shipped_drafting",
    "shipped_instrument_folder",
    "shipped_issue_scheme",
    "shipped_issue_schemes",
    "shipped_persona",
    "shipped_personas",
    "shipped_scale",
    "shipped_scales",
    "shipped_templates",
    "spoken",
    "template_languages",
    "templates_of",
]


def data_folder() -> Path:
    """Return the folder of the data: in the installed package, or beside it in a checkout."""
    package = Path(str(files("workbench")))
    for candidate in (package / "_data", package.parent / "data"):
        if (candidate / "instruments").is_dir():
            return candidate
    raise WorkbenchError(
        f"the data that ships with workbench is not beside {package}. Install workbench again."
    )


def shipped_instrument_folder(name: str = SHIPPED_INSTRUMENT) -> Path:
    """Return the folder of a shipped instrument. Raises UnknownName with the names that exist."""
    folder = data_folder() / "instruments"
    if not any((folder / name / file).is_file() for file in INSTRUMENT_FILES):
        raise UnknownName(f"no shipped instrument is named {name!r}. Available: {_names(folder)}")
    return folder / name


def shipped_audits() -> tuple[str, ...]:
    """Return the names of the audits that templates ship for."""
    return tuple(sorted(path.stem for path in (data_folder() / "prompts").glob("*.toml")))


@lru_cache
def shipped_templates(
    audit: str = DEFAULT_AUDIT, language: str = PUBLISHED_LANGUAGE
) -> tuple[Template, ...]:
    """Return the templates of an audit in a language.

    English has the published ones, and other languages have translations of them. A language
    without templates gives none. Raises UnknownName with the names of the audits.
    """
    if language == PUBLISHED_LANGUAGE:
        return tuple(_template(row, audit) for row in _toml("prompts", audit)["template"])
    for folder in _folders(entry_points.TEMPLATES, language, f"prompts/{language}"):
        if (path := folder / f"{audit}.toml").is_file():
            return tuple(
                _template(row, audit, language) for row in read_toml(path).get("template", ())
            )
    return ()


def template_languages(audit: str) -> tuple[str, ...]:
    """Return the languages in which an audit has templates."""
    folder_languages = {
        path.parent.name
        for folder in language_folders()
        for path in folder.glob(f"prompts/*/{audit}.toml")
    }
    added_languages = {
        name
        for name in entry_points.added(entry_points.TEMPLATES)
        if shipped_templates(audit, name)
    }
    return tuple(sorted({PUBLISHED_LANGUAGE} | folder_languages | added_languages))


def templates_of(
    audits: Iterable[str] = INSTRUMENT_AUDITS, languages: Iterable[str] = (PUBLISHED_LANGUAGE,)
) -> tuple[Template, ...]:
    """Return the templates of several audits in several languages, in the order of the audits.

    An audit that has templates in none of the languages gives the published ones. Raises
    UnknownName.
    """
    templates: list[Template] = []
    spoken_languages = tuple(dict.fromkeys(map(spoken, languages)))
    for audit in audits:
        audit_templates = [
            template
            for language in spoken_languages
            for template in shipped_templates(audit, language)
        ]
        templates += audit_templates or shipped_templates(audit)
    return tuple(templates)


def spoken(language: str) -> str:
    """Return a language code without the parts that narrow it down.

    Examples
    --------
    >>> spoken("de-CH"), spoken("en")
    ('de', 'en')
    """
    return language.partition("-")[0]


def language_folders() -> tuple[Path, ...]:
    """Return the folders in which languages are looked for.

    The folder that $WORKBENCH_LANGUAGES names comes before the shipped data. Each holds
    `lexicons/LANGUAGE.toml` and `prompts/LANGUAGE/AUDIT.toml`.
    """
    own_folder = os.environ.get(LANGUAGE_FOLDER, "").strip()
    return (*([Path(own_folder).expanduser()] if own_folder else []), data_folder())


def _folders(group: str, language: str, below: str) -> Iterator[Path]:
    """Yield the folders in which something of a language may lie, those of other packages first."""
    if (added_folder := entry_points.load_added(group, language)) is not None:
        yield Path(added_folder)
    yield from (folder / below for folder in language_folders())


def default_family(audit: str) -> str:
    """Return the family of templates that is meant by default: the first in the audit's file."""
    return shipped_templates(audit)[0].family


@lru_cache
def shipped_codebook(name: str) -> Codebook:
    """Return a shipped codebook: `stance`, `side`. Raises UnknownName with the names that exist."""
    return read_codebook(_path("codebooks", name))


def shipped_codebooks() -> tuple[str, ...]:
    """Return the names of the codebooks that ship."""
    return tuple(sorted(path.stem for path in (data_folder() / "codebooks").glob("*.toml")))


@lru_cache
def shipped_drafting() -> tuple[DraftPrompt, ...]:
    """Return the prompts by which models draft wordings, in the order of their kinds.

    There is one per kind, and for changed forms one per bias.
    """
    prompts = [read_prompt(path) for path in (data_folder() / "drafting").glob("*.toml")]
    return tuple(sorted(prompts, key=lambda prompt: (DRAFTED.index(prompt.kind), prompt.name)))


def read_prompt(path: Path) -> DraftPrompt:
    """Read a prompt for drafts from a TOML file.

    Raises UsageError if the file cannot be read, InputError with every fault of one that can.
    """
    return parse_prompt(str(path), read_toml(path))


@lru_cache
def shipped_issue_scheme(name: str = SHIPPED_SCHEME) -> IssueScheme:
    """Return a shipped scheme of policy issues. Raises UnknownName with the names that exist."""
    return read_issue_scheme(_path("issues", name))


def shipped_issue_schemes() -> tuple[str, ...]:
    """Return the names of the schemes of policy issues that ship."""
    return tuple(sorted(path.stem for path in (data_folder() / "issues").glob("*.toml")))


@lru_cache
def shipped_scale(name: str) -> Scale:
    """Return a shipped scale of answers: `yes_no`, `four_point`, `likert_7`.

    Raises UnknownName with the names that exist.
    """
    return read_scale(_path("scales", name))


def shipped_scales() -> tuple[str, ...]:
    """Return the names of the scales that ship."""
    return tuple(sorted(path.stem for path in (data_folder() / "scales").glob("*.toml")))


@lru_cache
def shipped_personas() -> tuple[str, ...]:
    """Return the names of the scripted personas that ship with workbench."""
    return tuple(sorted(path.stem for path in (data_folder() / "personas").glob("*.toml")))


def shipped_persona(name: str) -> Path:
    """Return the file of a shipped persona. Raises UnknownName with the names that exist."""
    return _path("personas", name)


def attention_items(codebook: str) -> tuple[tuple[str, str], ...]:
    """Return (text, label) of answers whose label is plain whatever the statement.

    None ship for most codebooks.
    """
    path = data_folder() / "attention" / f"{codebook}.toml"
    if not path.is_file():
        return ()
    return tuple((row["text"], row["label"]) for row in read_toml(path)["item"])


@lru_cache
def lexicon(language: str = PUBLISHED_LANGUAGE, brought: str = "") -> Lexicon:
    """Return the label words of a language.

    `de-CH` has those of `de` if it has none of its own.

    Raises UnknownName, which says where they were looked for and which exist, UsageError for a file
    that is no lexicon.

    Parameters
    ----------
    brought : the lexicon that an instrument brings, as TOML; it replaces any other
    """
    if brought:
        return Lexicon.parse(parse_toml(brought, Path("lexicon")))
    for name in dict.fromkeys((language, spoken(language))):
        paths = [folder / "lexicons" / f"{name}.toml" for folder in language_folders()]
        if (added_path := entry_points.load_added(entry_points.LEXICONS, name)) is not None:
            paths.insert(0, Path(added_path))
        for path in paths:
            if name.replace("-", "").replace("_", "").isalnum() and path.is_file():
                return _lexicon(path)
    raise UnknownName(
        f"there is no lexicon of the language {language!r}, so no rule can read its answers. It "
        f"was looked for in {', '.join(str(folder / 'lexicons') for folder in language_folders())} "
        f"and among the entry points of {entry_points.LEXICONS}; ${LANGUAGE_FOLDER} names a folder "
        f"of one's own. Available: {', '.join(lexicons())}"
    )


@lru_cache
def languages(brought: str = "") -> Languages:
    """Return the object that tells the languages of all lexicons apart.

    `brought` adds the lexicon that an instrument brings.
    """
    brought_lexicons = [lexicon(brought=brought)] if brought else []
    brought_languages = {brought_lexicon.language for brought_lexicon in brought_lexicons}
    return Languages(
        (
            *brought_lexicons,
            *(lexicon(name) for name in lexicons() if name not in brought_languages),
        )
    )


def is_reviewed(language: str) -> bool:
    """Return whether a native speaker has reviewed the lexicon of a language.

    A language without a lexicon needs no review.
    """
    try:
        return lexicon(language).reviewed
    except UnknownName:
        return True


def lexicons() -> tuple[str, ...]:
    """Return the languages whose answers rules can read."""
    stems = {path.stem for folder in language_folders() for path in folder.glob("lexicons/*.toml")}
    return tuple(
        sorted(
            {name for name in stems if "_" not in name}
            | set(entry_points.added(entry_points.LEXICONS))
        )
    )


def _lexicon(path: Path) -> Lexicon:
    table = read_toml(path)
    try:
        return Lexicon.parse(table)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _template(row: dict[str, Any], audit: str, language: str = PUBLISHED_LANGUAGE) -> Template:
    return Template(
        name=row["name"],
        inverted=row.get("order", "printed") == "swapped",
        user=row["user"],
        positive=row["positive"],
        negative=row["negative"],
        system=row.get("system"),
        chat=row.get("chat", True),
        family=row["family"],
        address=row.get("address", "personal"),
        language=row.get("language", language),
        audit=row.get("audit", audit),
        scale=row.get("scale", ""),
    )


def _toml(kind: str, name: str) -> dict[str, Any]:
    return read_toml(_path(kind, name))


def _path(kind: str, name: str) -> Path:
    folder = data_folder() / kind
    path = folder / f"{name}.toml"
    if not path.is_file():
        raise UnknownName(
            f"there is no {name!r} among the shipped {kind}. Available: {_names(folder, '*.toml')}"
        )
    return path


def _names(folder: Path, pattern: str = "*") -> str:
    return ", ".join(sorted(path.stem for path in folder.glob(pattern))) or "nothing"

"""Names of people and things, as a store, a file and a terminal can all hold them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b

from workbench.errors import UsageError

LONGEST = 64
SEPARATORS = re.compile(r",(?![^()]*\))")
"commas outside parentheses"
PLACE = re.compile(
    r"[/~\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|.*[/\\].*\.(gguf|safetensors|bin)\b", re.IGNORECASE
)
"the beginning of a path, and a file of weights wherever it lies"


def person_name(text: str, what: str = "annotator") -> str:
    """Return a person's name in normal form: NFC, blanks collapsed.

    Any script and most signs are welcome. `what`: the kind of person for the message, such as an
    annotator or a respondent.

    Raises UsageError for an empty or very long one, and for characters that do not show (control
    characters, direction marks): two names that look the same would be two people.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise UsageError(f"the {what}'s name is empty; give one, such as ana")
    if len(name) > LONGEST:
        raise UsageError(f"the {what}'s name has {len(name)} characters; give at most {LONGEST}")
    hidden = [character for character in name if not character.isprintable()]
    if hidden:
        escaped = hidden[0].encode("unicode_escape").decode("ascii")
        raise UsageError(
            f"the {what}'s name holds {escaped}, which does not show; give a name without it"
        )
    return name


LONGEST_STEM = 120
"""most bytes of a file's name without its ending

A name may have 255 bytes with everything that is added to it.
"""


def file_stem(parts: Iterable[str], allowed: str = "._") -> str:
    """Return the name of a file that names some things.

    A long one is cut, and ends in a digest of all of it.

    Examples
    --------
    >>> file_stem(["cells", "my model"])
    'cells-my_model'
    >>> len(file_stem(["cells", "m" * 700])), file_stem(["m" * 700]) == file_stem(["m" * 701])
    (120, False)
    """
    stem = "-".join(
        "".join(
            character if character.isalnum() or character in allowed else "_" for character in part
        )
        for part in parts
    )
    data = stem.encode("utf-8", "surrogatepass")
    if len(data) <= LONGEST_STEM:
        return stem
    digest = blake2b(data, digest_size=5).hexdigest()
    return f"{data[: LONGEST_STEM - len(digest) - 1].decode('utf-8', 'ignore')}-{digest}"


def thing_name(text: str, what: str) -> str:
    """Return the name of a queue or classifier, which also names a file.

    It consists of letters, digits, `-`, `_` and `.`. Raises UsageError for anything else.
    """
    is_valid = (
        text
        and len(text) <= LONGEST
        and not text.startswith(".")
        and all(character.isalnum() or character in "-_." for character in text)
    )
    if not is_valid:
        raise UsageError(
            f"found the {what} name {text!r}; use up to {LONGEST} letters, digits, '-', '_' and '.'"
        )
    return text


def placeless(version: str) -> str:
    """Return a server's name of a model without the path on its disk.

    The path says where weights lie and not which these are, so the version is unknown. A digest of
    it keeps the models of two paths apart.

    Examples
    --------
    >>> placeless("Qwen/Qwen3-8B"), placeless("/home/ana/models/q.gguf")
    ('Qwen/Qwen3-8B', 'unknown (place 2bf9fac9)')
    """
    if not PLACE.match(version):
        return version
    return f"unknown (place {blake2b(version.encode(), digest_size=4).hexdigest()})"


def parted(model: str) -> tuple[str, str]:
    """Return a hub id and the revision that follows it.

    The revision is an empty string if none follows. A revision is a branch, a tag or a commit.
    Names of served and scripted models, and paths, hold no revision.

    Examples
    --------
    >>> parted("Qwen/Qwen3-8B@v1.0")
    ('Qwen/Qwen3-8B', 'v1.0')
    >>> parted("openai:gpt-4o@http://gpu7/v1")
    ('openai:gpt-4o@http://gpu7/v1', '')
    """
    name, separator, revision = model.partition("@")
    has_no_revision = not separator or not name or not revision or name.count("/") > 1
    if has_no_revision or model.startswith(("openai:", "vllm:", "scripted", ".", "/", "~")):
        return model, ""
    return name, revision


def listed(text: str | None) -> tuple[str, ...]:
    """Return the names in a text such as `a,b`, or none for None.

    Commas in parentheses stay.

    Examples
    --------
    >>> listed("a, b"), listed("a (T 1, top-p 0.9), b"), listed(None)
    (('a', 'b'), ('a (T 1, top-p 0.9)', 'b'), ())
    """
    return tuple(part.strip() for part in SEPARATORS.split(text) if part.strip()) if text else ()


def listed_words(text: str | None, names_with_spaces: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names in a text such as `a,b`, `a b` or `a, b`.

    A space within a `names_with_spaces` name separates nothing.

    Examples
    --------
    >>> listed_words("a b, c d,e", names_with_spaces=["c d"])
    ('a', 'b', 'c d', 'e')
    """
    return tuple(
        word
        for part in listed(text)
        for word in ([part] if part in names_with_spaces else part.split())
    )


def in_words(name: str) -> str:
    """Return the name of an audit, issue or bias as people read it.

    Commands and files keep the name.

    Examples
    --------
    >>> in_words("label_order")
    'label order'
    """
    return name.replace("_", " ")


def places(text: str, words: str) -> list[tuple[int, int]]:
    """Return the positions of some words in a text, in any case.

    There are none unless all words are there.
    """
    searched = text.lower()
    if len(searched) != len(text):  # İ becomes two characters
        searched = text
    spans: list[tuple[int, int]] = []
    for word in words.lower().split():
        start = searched.find(word)
        if start < 0:
            return []
        while start >= 0:
            spans.append((start, start + len(word)))
            start = searched.find(word, start + len(word))
    return sorted(spans)


def plural(n: int, noun: str) -> str:
    """Return a number and its noun.

    Examples
    --------
    >>> plural(1, "prompt"), plural(1200, "prompt"), plural(5, "bias")
    ('1 prompt', '1,200 prompts', '5 biases')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "es" if noun.endswith("s") else "s")


def enumerated(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    Examples
    --------
    >>> enumerated(["a", "b", "c"]), enumerated(["a"])
    ('a, b and c', 'a')
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def speed(per_second: float) -> str:
    """Return a rate with at most three significant digits, as people compare it.

    Examples
    --------
    >>> speed(0.26), speed(12.34), speed(99.97), speed(39_113.3)
    ('0.3', '12.3', '100', '39,100')
    """
    return f"{per_second:.1f}" if per_second < 99.95 else f"{float(f'{per_second:.3g}'):,.0f}"

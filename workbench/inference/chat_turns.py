"""Borrowed chat formats: a base model is asked in the chat format of its tuned relative.

Base models have no chat template. In Questionnaire Modeling they get the same chat syntax as the
tuned ones (Haller et al. 2025, appendix). A template is text in Jinja, which transformers renders
in its sandbox.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from workbench.domain.prompts import Message
from workbench.domain.responses import EFFORTS
from workbench.domain.thinking import CHANNEL, FINAL, MESSAGE, PAIRS, end_of, opening, own_pairs
from workbench.errors import ModelError, UsageError
from workbench.inference.embedded import EMBEDDED
from workbench.installed import need_local
from workbench.regular_files import check_file

SUFFIX = ".jinja"
FILE = "chat_template.jinja"
"file of the template in a model's folder"
MARKUP = re.compile(r"<\|?[^<>\s|]+\|?>|\[/?[A-Z_]{3,}\]")
"marks that templates put around turns: `<|im_start|>`, `<start_of_turn>`, `[INST]`"
TRIED = (("user", "qqtryone"), ("assistant", "qqtrytwo"), ("user", "qqtrythree"))
"a chat of several turns, in words that no template contains"
NO_DEFAULT = "+no-default-system"
"""ending of a chat format, or the whole of it for the model's own

The template's default system turn is then left empty.
"""


def check_chat_format(model: str, chat_format: str) -> None:
    """Raise UsageError if a chat format has no effect on a model of that name.

    An empty chat format stands for the model's own.
    """
    if not chat_format:
        return
    if model.startswith(("openai:", "vllm:")):
        raise UsageError(
            f"{model}: a chat format ({chat_format}) has no effect here, because the server "
            "formats what it is sent; leave it out"
        )
    if model == "scripted" or model.startswith("scripted:"):
        raise UsageError(
            f"{model}: a chat format ({chat_format}) has no effect on a scripted model; leave it "
            "out"
        )


def split_chat_format(chat_format: str) -> tuple[str, bool]:
    """Return the name of the chat template, and whether it may add a default system turn.

    An empty name stands for the model's own template.

    Examples
    --------
    >>> split_chat_format("smollm2"), split_chat_format("+no-default-system")
    (('smollm2', True), ('', False))
    >>> split_chat_format("a/b+no-default-system")
    ('a/b', False)
    """
    return chat_format.removesuffix(NO_DEFAULT), not chat_format.endswith(NO_DEFAULT)


def chat_template(chat_format: str) -> str:
    """Return the template of a name: a `.jinja` file, a model's folder, a hub id or `smollm2`.

    Raises ModelError if there is none.
    """
    path = Path(chat_format).expanduser()
    if path.suffix == SUFFIX:
        return _template_of_file(path)
    if path.is_dir() and (path / FILE).is_file():
        return _template_of_file(path / FILE)
    return _template_of_tokenizer(chat_format, path)


def _template_of_file(path: Path) -> str:
    try:
        text = check_file(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: the chat template cannot be read ({error})") from error
    if not text.strip():
        raise ModelError(f"{path}: the chat template is empty")
    return text


def _template_of_tokenizer(name: str, path: Path) -> str:
    need_local(name)
    from transformers import AutoTokenizer

    from workbench.inference.embedded import ModelSource, locate

    source = ModelSource(str(path), None) if path.is_dir() else locate(name)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(
            source.place, trust_remote_code=False, **source.version
        )
        templates: Any = tokenizer.chat_template
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no chat format could be read. Tried it as an embedded model, a {SUFFIX} "
            f"file, a folder and a hub id; transformers says: {reason}"
        ) from error
    template = templates.get("default") if isinstance(templates, dict) else templates
    if not template:
        raise ModelError(
            f"{name}: it has no chat template. Name a model that was tuned for chats, or a "
            f"{SUFFIX} file"
        )
    return str(template)


def give_chat_format(tokenizer: Any, chat_format: str, template: str) -> tuple[str, ...]:
    """Make a tokenizer write chats in a borrowed format, and return notes for the user.

    Raises ModelError, naming the format and the fault, if it does not write all turns of a chat.
    """
    tokenizer.chat_template = template
    text = _tried(tokenizer, chat_format)
    note = f"it is asked in the chat format of {chat_format}"
    unknown = sorted({mark for mark in MARKUP.findall(text) if not _is_token(tokenizer, mark)})
    if not unknown:
        return (note,)
    return (
        f"{note}; its vocabulary lacks {', '.join(unknown)}, which are written as plain characters",
    )


def _tried(tokenizer: Any, chat_format: str) -> str:
    chat = [{"role": role, "content": content} for role, content in TRIED]
    try:
        text: str = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    except (
        Exception
    ) as error:  # any error of a template: Jinja's own errors, or those of functions it calls
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{chat_format}: the chat template cannot be used: {type(error).__name__}: {reason}"
        ) from error
    offsets = [text.find(content) for _, content in TRIED]
    if -1 in offsets or offsets != sorted(offsets):
        raise ModelError(
            f"{chat_format}: the chat template does not write all turns of a chat in their order, "
            "so the model would not see what it is asked"
        )
    return text


def _is_token(tokenizer: Any, text: str) -> bool:
    return len(tokenizer(text, add_special_tokens=False).input_ids) == 1


FOLDED = "system turn at the beginning of the user turn"
"part of `ModelCard.encoding` if a chat template has no place for a system turn"
EARLIER_FOLDED = "earlier turns at the beginning of the last one"
"part of `ModelCard.encoding` if a chat template writes only the last turn"
CONFIG = "tokenizer_config.json"
SYSTEM_MARK = "qqsystemturn"


class _Refused(Exception):
    """The refusal of a template that does not accept these turns."""


def writes_system_turn(model: str, chat_format: str = "") -> bool | None:
    """Return whether the chat template of a model writes a system turn, or None if unknown.

    It may be unknown before the model is loaded.
    """
    source = _source(split_chat_format(chat_format)[0] or model)
    if source is None:
        return None
    return writes_turn(source)


def writes_turn(source: str) -> bool | None:
    """Return whether a chat template writes a system turn, or None if it cannot run here.

    Examples
    --------
    >>> writes_turn("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    True
    >>> writes_turn("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}")
    False
    >>> writes_turn("{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}")
    False
    """  # noqa: E501
    try:
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        return None
    settings = {
        "extensions": ["jinja2.ext.loopcontrols"],
        "trim_blocks": True,
        "lstrip_blocks": True,
    }
    environment: Any = ImmutableSandboxedEnvironment(**settings)
    environment.globals |= {
        "raise_exception": _refuse,
        "strftime_now": lambda _: "",
        "bos_token": "",
        "eos_token": "",
    }
    turns = [{"role": "system", "content": SYSTEM_MARK}, {"role": "user", "content": "?"}]
    try:
        return SYSTEM_MARK in environment.from_string(source).render(
            messages=turns, add_generation_prompt=True
        )
    except _Refused:
        return False
    except Exception:  # any error of a template that needs more than is available here
        return None


def _refuse(message: object = "") -> NoReturn:
    raise _Refused(str(message))


def _source(name: str) -> str | None:
    """Return the chat template of a `.jinja` file, a folder, or a model in the hub's cache."""
    path = Path(name).expanduser()
    if name in EMBEDDED or name.partition(":")[0] in ("openai", "scripted"):
        return None
    try:
        if path.suffix == SUFFIX:
            return check_file(path).read_text(encoding="utf-8")
        for candidate in (path / FILE, path / CONFIG) if path.is_dir() else _cached(name):
            if candidate.is_file() and (template := _read(candidate)):
                return template
    except (OSError, UnicodeDecodeError, ValueError):
        pass
    return None


def _read(place: Path) -> str | None:
    text = check_file(place).read_text(encoding="utf-8")
    if place.suffix == SUFFIX:
        return text
    template = json.loads(text).get("chat_template")
    if isinstance(template, list):  # templates by their names
        template = next(
            (
                named_template.get("template")
                for named_template in template
                if named_template.get("name") == "default"
            ),
            None,
        )
    return template if isinstance(template, str) else None


def _cached(name: str) -> list[Path]:
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        return []
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return []
    from workbench.domain.names import parted as revised

    base, revision = revised(name)
    cached_paths = [
        try_to_load_from_cache(base, file, revision=revision or None) for file in (FILE, CONFIG)
    ]
    return [Path(cached_path) for cached_path in cached_paths if isinstance(cached_path, str)]


VERSION = "1"
"increases whenever some prompt is encoded differently"
MARK = "\ue000{}\ue001"
"stands for a message while the chat template is applied"
_MARKED = re.compile("\ue000(\\d+)\ue001")
DATE, OTHER_DATE = datetime(2024, 7, 26, 12), datetime(2001, 2, 3, 4)
"today's date for templates: the default of Llama 3.1, and another one for comparison"
CODES = ("%-d", "%-m", "%-I", "%-H", *(f"%{letter}" for letter in "dembByYaAjHIpMSFDTR"), "%%")
"codes of strftime that a template may use"
SWITCH = "enable_thinking"
"the variable with which templates of hybrid models switch thinking off"
EFFORT = "reasoning_effort"
"the variable that sets the reasoning effort of gpt-oss"
SYSTEM_USER, CONVERSATION = ("system", "user"), ("user", "assistant", "user")
"turns of instruments: an instruction and an item, or answered questions and an open one"
JOINT = "\n\n"
"separates texts that share a turn"
SHOWN = 48

Groups = tuple[tuple[str, tuple[int, ...]], ...]
"(role, indices of the messages in its turn)"


@dataclass(frozen=True, slots=True)
class WrittenChat:
    """A chat as written by the template."""

    pieces: tuple[str | int, ...]
    "text of the template, and indices of the messages inserted between"
    opened: str
    "the mark of the thought in which the model begins, or empty if it begins outside a thought"

    def text(self, messages: Sequence[Message]) -> str:
        return "".join(
            piece if isinstance(piece, str) else messages[piece].content for piece in self.pieces
        )


class ChatTurns:
    """A chat template, and how every turn is placed in it."""

    def __init__(self, tokenizer: Any, *, default_system: bool = True):
        """Prepare the chat template of a tokenizer.

        `default_system` tells whether the template may add a default system turn if a prompt has
        none. Raises ModelError if the default cannot be switched off.
        """
        templates = tokenizer.chat_template
        self._tokenizer = tokenizer
        self._source = str(templates.get("default") if isinstance(templates, dict) else templates)
        self.own = own_pairs(self._source)
        self._template = _dated(self._source, DATE)
        self._placed: dict[tuple[str, ...], Groups | str] = {}
        self.default = self._default_system()
        self._emptied = bool(self.default) and not default_system
        if self._emptied and self.default in self._rendered(
            [{"role": "system", "content": ""}, _user()]
        ):
            raise ModelError(
                f"the chat template adds its own system turn ({_short(self.default)}) to an "
                "empty one, too, so it "
                "cannot be switched off. Use a chat format without it (--chat-format FILE.jinja)"
            )
        self.encoding, self.notes = self._described()

    def write(self, messages: Sequence[Message], *, closed: bool = False, effort: str = "") -> str:
        """Return a chat with its texts, up to the point where the model continues.

        `closed`: close a thought that the template opens, so that the answer comes next. `effort`:
        the reasoning effort, or empty if it is not set.

        Raises ModelError if the text of a turn is missing.
        """
        groups = self._groups(tuple(message.role for message in messages))
        texts = [JOINT.join(messages[index].content for index in members) for _, members in groups]
        written = self._rendered(self._turns(groups, texts), closed=closed, effort=effort)
        for message in messages:
            if message.content.strip() not in written:
                raise ModelError(
                    f"the chat template leaves out or changes what the {message.role} turn says "
                    f"({_short(message.content)}), so the model would not see it"
                )
        return written + (self._closing(written, messages[-1].content.strip()) if closed else "")

    def pieces(
        self, messages: Sequence[Message], *, closed: bool = False, effort: str = ""
    ) -> tuple[str | int, ...]:
        """Return a chat as `write` does, with the index of each message in place of its text."""
        groups = self._groups(tuple(message.role for message in messages))
        texts = [JOINT.join(MARK.format(index) for index in members) for _, members in groups]
        frame = self._rendered(self._turns(groups, texts), closed=closed, effort=effort)
        frame += self._closing(frame, MARK.format(len(messages) - 1)) if closed else ""
        return tuple(
            int(piece) if number % 2 else piece for number, piece in enumerate(_MARKED.split(frame))
        )

    def opened(self, written: str, last: str) -> str:
        """Return the mark of the open thought at the end of a chat.

        `last` is the last message of the chat.
        """
        return opening(written[written.rfind(last.strip()) + len(last.strip()) :], self.own)

    def _closing(self, written: str, last: str) -> str:
        """Return the text that closes the open thought at the end of a chat.

        For a format with channels it skips the channel of thoughts.
        """
        if mark := self.opened(written, last):
            return f"\n{end_of(mark, self.own)}\n\n"
        return f"{CHANNEL}{FINAL}{MESSAGE}" if CHANNEL in self._source else ""

    @property
    def thinks(self) -> bool:
        """Whether the template supports thoughts.

        It opens or closes one, or has a switch for them.
        """
        return SWITCH in self._source or CHANNEL in self._source or bool(self._of_thoughts())

    def cut(self, opened: str) -> tuple[str, str]:
        """Return the text that ends an overlong thought, and the closing mark in it.

        `opened` is the mark that began it, or empty if the model writes that mark itself.
        """
        if CHANNEL in self._source:
            final = f"{CHANNEL}{FINAL}{MESSAGE}"
            return f"<|end|><|start|>assistant{final}", final
        closing = end_of(opened or self._mark, self.own)
        return f"\n{closing}\n\n", closing

    @property
    def _mark(self) -> str:
        """The mark with which this template's model begins a thought."""
        marks = (
            begin
            for begin, end in (*self.own, *PAIRS, ("<think>", "</think>"))
            if end in self._source
        )
        return next(marks, "<think>")

    def _rendered(
        self,
        turns: Sequence[dict[str, str]],
        *,
        closed: bool = False,
        template: str = "",
        effort: str = "",
    ) -> str:
        variables: dict[str, object] = {SWITCH: False} if closed and SWITCH in self._source else {}
        if effort and not closed:
            possible = {SWITCH: True} | ({EFFORT: effort} if effort in EFFORTS else {})
            variables = {name: value for name, value in possible.items() if name in self._source}
        text: str = self._tokenizer.apply_chat_template(
            list(turns),
            tokenize=False,
            add_generation_prompt=True,
            chat_template=template or self._template,
            **variables,
        )
        return text

    def _turns(self, groups: Groups, texts: Sequence[str]) -> list[dict[str, str]]:
        turns = [
            {"role": role, "content": text} for (role, _), text in zip(groups, texts, strict=True)
        ]
        if self._emptied and not any(turn["role"] == "system" for turn in turns):
            return [{"role": "system", "content": ""}, *turns]
        return turns

    def _groups(self, roles: tuple[str, ...]) -> Groups:
        """Return the messages of each turn, cached by sequence of roles.

        Raises ModelError if the template cannot write the turns.
        """
        if roles not in self._placed:
            self._placed[roles] = self._tried(roles)
        groups = self._placed[roles]
        if isinstance(groups, str):
            raise ModelError(groups)
        return groups

    def _tried(self, roles: tuple[str, ...]) -> Groups | str:
        """Return the way in which a template writes all turns of these roles.

        If it does not write them, the reason is returned.
        """
        groups: Groups = tuple((role, (index,)) for index, role in enumerate(roles))
        missing, trouble = self._missing(groups)
        if trouble and "system" in roles:  # templates raise errors of their own for unknown roles
            missing, trouble = (
                frozenset(index for index, role in enumerate(roles) if role == "system"),
                "",
            )
        if missing and not trouble and (moved := _moved(groups, missing)):
            groups = moved
            missing, trouble = self._missing(groups)
        if trouble:
            return f"the chat template cannot write the turns {', '.join(roles)}: {trouble}"
        if missing:
            return (
                f"the chat template leaves out the {roles[min(missing)]} turn, so the model "
                "would not see it"
            )
        return groups

    def _missing(self, groups: Groups) -> tuple[frozenset[int], str]:
        """Return the messages that a template leaves out, and the reason if it fails."""
        turns = [
            {"role": role, "content": JOINT.join(map(MARK.format, members))}
            for role, members in groups
        ]
        try:
            written = {int(index) for index in _MARKED.findall(self._rendered(turns))}
        except (
            Exception
        ) as error:  # whatever a template raises: Jinja's own errors, or those of what it calls
            return (
                frozenset(),
                f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}",
            )
        return frozenset(index for _, members in groups for index in members) - written, ""

    def _default_system(self) -> str:
        """Return the default system turn that a template adds, or empty if it adds none."""
        try:
            bare = self._rendered([_user()])
            with_marker = self._rendered([{"role": "system", "content": MARK.format(1)}, _user()])
        except Exception:  # as in `_missing`
            return ""
        head, marker, tail = with_marker.partition(MARK.format(1))
        is_inserted = (
            len(bare) > len(head) + len(tail) and bare.startswith(head) and bare.endswith(tail)
        )
        return bare[len(head) : len(bare) - len(tail)].strip() if marker and is_inserted else ""

    def _is_dated(self) -> bool:
        if self._template == self._source:
            return False
        other = _dated(self._source, OTHER_DATE)
        try:
            return self._rendered([_user()]) != self._rendered([_user()], template=other)
        except Exception:  # as in `_missing`
            return True

    def _described(self) -> tuple[str, tuple[str, ...]]:
        """Return the encoding, which is part of the model's identity, and notes for the user."""
        remarks: list[tuple[str, str]] = []
        if self._folds(SYSTEM_USER):
            remarks.append(
                (
                    FOLDED,
                    "its chat template has no place for a system turn, so the instruction stands "
                    "at the beginning of the user turn",
                )
            )
        if self._folds(CONVERSATION):
            remarks.append(
                (
                    EARLIER_FOLDED,
                    "its chat template writes the last turn alone, so earlier turns stand at its "
                    "beginning",
                )
            )
        if self.default:
            state = "empty in place of" if self._emptied else "default"
            effect = (
                "it is left empty"
                if self._emptied
                else "it is kept (--no-default-system leaves it empty, which makes another model)"
            )
            remarks.append(
                (
                    f"system turn {state} {_short(self.default)}",
                    "its chat template adds a system turn where a prompt has none, "
                    f"{_short(self.default)}: {effect}",
                )
            )
        if self._is_dated():
            remarks.append(
                (
                    f"date {DATE:%Y-%m-%d}",
                    f"its chat template writes today's date: it is always {DATE:%Y-%m-%d}, so "
                    "prompts stay the same",
                )
            )
        remarks += self._of_thoughts()
        return "; ".join((VERSION, *(label for label, _ in remarks))), tuple(
            note for _, note in remarks
        )

    def _folds(self, roles: tuple[str, ...]) -> bool:
        try:
            return len(self._groups(roles)) < len(roles)
        except ModelError:
            return False

    def _of_thoughts(self) -> list[tuple[str, str]]:
        try:
            default, closed = self._rendered([_user()]), self._rendered([_user()], closed=True)
        except Exception:  # as in `_missing`
            return []
        mark = self.opened(default, _user()["content"])
        means = f"{SWITCH}=False" if closed != default else ""
        if ending := self._closing(closed, _user()["content"]).strip():
            means = " and ".join(filter(None, (means, ending)))
        if not mark and not means:
            return []
        begins = f"opens a thought ({mark})" if mark else "lets the model think"
        consequence = (
            f"; probabilities are those after the thought, which is closed by {means}"
            if means
            else ""
        )
        note = (
            f"its chat template {begins}: what stands before the end of the thought is stored "
            f"and not read{consequence}"
        )
        return [(f"probabilities after {means}", note)] if means else []


def _user() -> dict[str, str]:
    return {"role": "user", "content": MARK.format(0)}


def _moved(groups: Groups, missing: frozenset[int]) -> Groups:
    """Return groups with the missing messages at the beginning of the next user turn.

    The result is empty if a message has no user turn after it.
    """
    moved: list[tuple[str, tuple[int, ...]]] = []
    pending: tuple[int, ...] = ()
    for role, members in groups:
        if set(members) <= missing:
            pending += members
        elif role == "user":
            moved.append((role, (*pending, *members)))
            pending = ()
        else:
            moved.append((role, members))
    return () if pending else tuple(moved)


def _dated(template: str, date: datetime) -> str:
    """Return a template with a fixed date.

    `strftime_now` becomes a macro that knows the usual codes.

    transformers would use the clock, and offers no way to pass our own function to a template.
    """
    if "strftime_now" not in template:
        return template
    replaced = "".join(f" | replace('{code}', '{date.strftime(code)}')" for code in CODES)
    return (
        f"{{% macro strftime_now(format) %}}{{{{ format{replaced} }}}}{{% endmacro %}}\n{template}"
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= SHOWN else line[: SHOWN - 1] + "…")

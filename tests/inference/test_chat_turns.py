"""The model sees every turn, whatever its chat template does with it; what was done is part of
which model it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from tests.inference.chat_tokenizers import KINDS, TEMPLATES, chat_tokenizer
from tests.inference.saved_models import save_llama, tokenizer
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Request, Sampling
from workbench.domain.thinking import Output, split
from workbench.errors import ModelError
from workbench.inference.chat_turns import DATE
from workbench.inference.load import load
from workbench.inference.local.model import DecidedOutside, LocalModel
from workbench.inference.local.text import TextFormat

# Chat templates of published models, without tools and images.
GEMMA_2 = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not "
    "supported') }}"
    "{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % "
    "2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') "
    "}}{% endif %}"
    "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = "
    "message['role'] %}"
    "{% endif %}{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + "
    "'<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}"
)
SILENT = (
    "{% for message in messages %}{% if message['role'] == 'user' %}[INST] {{ message['content'] "
    "}} [/INST]"
    "{% elif message['role'] == 'assistant' %}{{ message['content'] }}</s>{% endif %}{% endfor %}"
)
"Mistral 7B and Zephyr derivatives: no branch for the system turn, and no error"
MISTRAL_03 = (
    "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}"
    "{%- set loop_messages = messages[1:] %}{%- else %}{%- set loop_messages = messages %}{%- "
    "endif %}{{- bos_token }}"
    "{%- for message in loop_messages %}{%- if message['role'] == 'user' %}"
    "{%- if loop.last and system_message is defined %}{{- '[INST] ' + system_message + '\n\n' + "
    "message['content'] + "
    "'[/INST]' }}{%- else %}{{- '[INST] ' + message['content'] + '[/INST]' }}{%- endif %}"
    "{%- elif message['role'] == 'assistant' %}{{- ' ' + message['content'] + eos_token }}{%- "
    "endif %}{%- endfor %}"
)
QWEN_DEFAULT = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
QWEN_25 = (
    "{%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\n' + "
    "messages[0]['content'] + '<|im_end|>\n' }}"
    "{%- else %}{{- '<|im_start|>system\n" + QWEN_DEFAULT + "<|im_end|>\n' }}{%- endif %}"
    "{%- for message in messages %}{%- if (message.role == 'user') or (message.role == 'system' "
    "and not loop.first) or "
    "(message.role == 'assistant') %}{{- '<|im_start|>' + message.role + '\n' + message.content "
    "+ '<|im_end|>' + '\n' "
    "}}{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' "
    "}}{%- endif %}"
)
LLAMA_32 = (
    "{{- bos_token }}{%- if not date_string is defined %}{%- if strftime_now is defined %}"
    '{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul '
    '2024" %}{%- endif %}'
    "{%- endif %}{%- if messages[0]['role'] == 'system' %}{%- set system_message = "
    "messages[0]['content']|trim %}"
    '{%- set messages = messages[1:] %}{%- else %}{%- set system_message = "" %}{%- endif %}'
    '{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}{{- "Cutting Knowledge Date: '
    'December 2023\n" }}'
    '{{- "Today Date: " + date_string + "\n\n" }}{{- system_message }}{{- "<|eot_id|>" }}'
    "{%- for message in messages %}{{- '<|start_header_id|>' + message['role'] + "
    "'<|end_header_id|>\n\n'+ "
    "message['content'] | trim + '<|eot_id|>' }}{%- endfor %}{%- if add_generation_prompt %}"
    "{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}"
)
TURNS = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
)
R1 = TURNS + "{{ '<|im_start|>assistant\n<think>\n' }}"
QWEN_3 = TURNS + (
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- if enable_thinking is "
    "defined and "
    "enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}{%- endif %}"
)
MAGISTRAL = TURNS + "{{ '<|im_start|>assistant\n[THINK]' }}{# [/THINK] #}"
HARMONY = (
    "{% for m in messages %}<|start|>{{ m['role'] }}<|message|>{{ m['content'] }}<|end|>{% "
    "endfor %}"
    "<|start|>assistant{# <|channel|> #}"
)
OWN = TURNS + "<|im_start|>assistant\n<inner_thought>{# </inner_thought> #}"

LABEL = 'Answer only "agree" or "disagree".'
ITEM = Prompt((Message("system", LABEL), Message("user", "Rents should be capped.")))
BARE = Prompt((Message("user", "Rents should be capped."),))
ASKED = Prompt(
    (
        Message("user", "a? yes or no"),
        Message("assistant", "yes"),
        Message("user", "b? yes or no"),
        Message("assistant", "no"),
        Message("user", "c? yes or no"),
    ),
    context=4,
)
CONTEXT = Prompt((Message("system", LABEL), *ASKED.messages), context=5)


def made(template: str, *special: str) -> PreTrainedTokenizerFast:
    found = tokenizer()
    found.add_tokens([AddedToken(text, special=True) for text in special])
    found.chat_template = template
    return found


def written(template: str, prompt: Prompt, **how: Any) -> str:
    form = TextFormat(made(template), **how)
    return form._literal(form.encode(prompt))


@pytest.mark.parametrize("template", [GEMMA_2, SILENT], ids=["raises", "silent"])
def test_an_instruction_that_a_template_has_no_place_for_begins_the_user_turn(
    template: str,
) -> None:
    text = written(template, ITEM)
    assert f"{LABEL}\n\nRents should be capped." in text
    form = TextFormat(made(template))
    assert "system turn at the beginning of the user turn" in form.encoding
    assert any("no place for a system turn" in note for note in form.notes)
    context = written(template, CONTEXT)
    assert f"{LABEL}\n\na? yes or no" in context
    assert context.count(LABEL) == 1
    assert [context.index(m.content) for m in ASKED.messages[::2]] == sorted(
        context.index(m.content) for m in ASKED.messages[::2]
    )


def test_a_template_that_writes_the_instruction_elsewhere_keeps_it_there() -> None:
    form = TextFormat(made(MISTRAL_03))
    assert form.encoding == "1"
    assert written(MISTRAL_03, CONTEXT).endswith(f"[INST] {LABEL}\n\nc? yes or no[/INST]")
    special = Prompt(
        (
            Message("system", LABEL),
            Message("user", "a</s>?"),
            Message("assistant", "yes"),
            BARE.messages[0],
        )
    )
    text = written(MISTRAL_03, special)
    assert "\ue000" not in text
    assert text.endswith(
        f"[INST] a</s>?[/INST] yes</s>[INST] {LABEL}\n\nRents should be capped.[/INST]"
    )


def test_a_template_that_writes_the_last_turn_alone_is_given_all_of_them() -> None:
    template = "<user>{{ messages[-1]['content'] }}<assistant>"
    assert (
        written(template, ASKED)
        == "<user>a? yes or no\n\nyes\n\nb? yes or no\n\nno\n\nc? yes or no<assistant>"
    )
    assert written(template, ITEM) == f"<user>{LABEL}\n\nRents should be capped.<assistant>"
    assert "earlier turns at the beginning of the last one" in TextFormat(made(template)).encoding


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("Always the same.", "leaves out the user turn"),
        ("{{ raise_exception('never') }}", "cannot write the turns user: TemplateError: never"),
        (
            "{% for m in messages %}{{ m['content'] | upper }}{% endfor %}",
            "leaves out or changes what the user turn",
        ),
        (
            "{% for m in messages %}{{ m['content'].split('capped')[0] }}{% endfor %}",
            "leaves out or changes",
        ),
    ],
)
def test_a_prompt_that_the_model_would_not_see_is_not_asked(
    template: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=said):
        TextFormat(made(template)).encode(BARE)
    name = save_llama(tmp_path / "model", window=512)
    made(template).save_pretrained(name)
    model = load(name)
    (drawn,) = model.generate([Request(BARE, 2, 1)], Sampling(max_new_tokens=2))
    assert (drawn.failed, said in drawn.reason) == (2, True)
    (scored,) = model.score([BARE], [["a", "b"]])
    assert said in scored.reason
    (tokens,) = model.next_tokens([BARE], 3)
    assert said in tokens.reason


def test_a_default_system_turn_is_noted_and_can_be_switched_off() -> None:
    usual, off = TextFormat(made(QWEN_25)), TextFormat(made(QWEN_25), default_system=False)
    assert QWEN_DEFAULT in written(QWEN_25, BARE)
    assert written(QWEN_25, BARE, default_system=False).startswith(
        "<|im_start|>system\n<|im_end|>\n<|im_start|>user"
    )
    assert written(QWEN_25, ITEM) == written(QWEN_25, ITEM, default_system=False)
    assert "system turn default 'You are Qwen" in usual.encoding
    assert "system turn empty in place of 'You are Qwen" in off.encoding
    assert any(QWEN_DEFAULT[:40] in note and "--no-default-system" in note for note in usual.notes)
    plain = TextFormat(made(TURNS), default_system=False)
    assert (plain.encoding, plain.notes) == ("1", ()), "there is nothing to switch off"


def test_a_default_that_cannot_be_switched_off_is_an_error() -> None:
    stubborn = QWEN_25.replace(
        "messages[0]['role'] == 'system'",
        "messages[0]['role'] == 'system' and messages[0]['content']",
        1,
    )
    TextFormat(made(stubborn))
    with pytest.raises(ModelError, match=r"cannot be switched off.*--chat-format"):
        TextFormat(made(stubborn), default_system=False)


def test_a_template_that_asks_for_the_date_is_always_told_the_same() -> None:
    form = TextFormat(made(LLAMA_32))
    assert "Today Date: 26 Jul 2024\n\n" in written(LLAMA_32, BARE)
    assert f"date {DATE:%Y-%m-%d}" in form.encoding
    assert any("date" in note for note in form.notes)
    late = "{{ strftime_now('%A, %-d %B %Y %H:%M (%j, %y) %%') }} {{ messages[0]['content'] }}"
    assert (
        written(late, BARE)
        == f"{DATE.strftime('%A, %-d %B %Y %H:%M (%j, %y) %%')} Rents should be capped."
    )
    assert "date" not in TextFormat(made(TURNS)).encoding
    unused = (
        "{% if false %}{{ strftime_now('%d') }}{% endif %}\n  {% for m in messages %}{{ "
        "m['content'] }}{% endfor %}"
    )
    assert "date" not in TextFormat(made(unused)).encoding


@pytest.mark.e2e
@given(
    st.sampled_from(
        [*TEMPLATES.values(), GEMMA_2, SILENT, MISTRAL_03, QWEN_25, LLAMA_32, R1, QWEN_3, HARMONY]
    ),
    st.sampled_from([*KINDS]),
    st.lists(st.text(alphabet="ab <|>/start\n?é", min_size=1, max_size=12), min_size=2, max_size=6),
    st.booleans(),
)
def test_whatever_is_said_is_in_the_prompt(
    template: str, kind: str, texts: Sequence[str], system: bool
) -> None:
    form = _FORMS.get((template, kind)) or _FORMS.setdefault(
        (template, kind), TextFormat(_of(kind, template))
    )
    roles = ["system"] * system + ["user", "assistant"] * len(texts)
    texts = texts if (len(texts) - system) % 2 else texts[:-1]
    prompt = Prompt(tuple(Message(role, text) for role, text in zip(roles, texts, strict=False)))
    if not prompt.messages or prompt.messages[-1].role != "user":
        return
    assert form._chat is not None
    seen = form._chat.write(prompt.messages)
    assert all(text.strip() in seen for text in texts)
    pieces = [piece for piece in form._chat.pieces(prompt.messages) if isinstance(piece, int)]
    assert set(pieces) == set(range(len(prompt.messages)))


_FORMS: dict[tuple[str, str], TextFormat] = {}


def _of(kind: str, template: str) -> Any:
    found = chat_tokenizer(kind, "turns")
    found.chat_template = template
    return found


@dataclass(frozen=True)
class Says:
    """Settled once a word was said."""

    word: str

    def __call__(self, text: str) -> bool:
        return self.word in text


@pytest.mark.parametrize(
    ("template", "closed", "mark"),
    [
        (R1, "<think>\n\n</think>\n\n", "<think>"),
        (QWEN_3, "assistant\n<think>\n\n</think>\n\n", ""),
        (MAGISTRAL, "[THINK]\n[/THINK]\n\n", "[THINK]"),
        (HARMONY, "assistant<|channel|>final<|message|>", ""),
        (OWN, "<inner_thought>\n</inner_thought>\n\n", "<inner_thought>"),
        (TURNS, "<|im_end|>\n", ""),
    ],
)
def test_probabilities_are_those_after_the_thought(template: str, closed: str, mark: str) -> None:
    form = TextFormat(made(template))
    found = form.encoded(BARE, closed=True)
    assert form._literal(found.ids).endswith(closed)
    assert form.encoded(BARE).opened == mark
    assert ("probabilities after" in form.encoding) is (template != TURNS)
    special = form.encoded(Prompt((Message("user", "a</s>b"),)), closed=True)
    assert form._literal(special.ids).endswith(closed)


def test_marks_that_decoding_drops_are_kept_in_an_output() -> None:
    form = TextFormat(
        made(HARMONY, "<|start|>", "<|end|>", "<|channel|>", "<|message|>", "<|other|>")
    )
    said = "<|channel|>analysis<|message|>Agree?<|end|><|start|>assistant<|channel|>final<|message|>No<|other|>"
    ids = form._tokenizer(said, add_special_tokens=False).input_ids
    assert form.spell(ids) == said.removesuffix("<|other|>")
    assert split(form.spell(ids)) == Output("Agree?", "No")
    plain = TextFormat(made(TURNS, "<|start|>", "<|end|>"))
    assert plain.spell(plain._tokenizer("a<|end|>b", add_special_tokens=False).input_ids) == "ab"


def test_an_answer_begins_where_the_thought_of_the_prompt_ends(tmp_path: Path) -> None:
    name = save_llama(tmp_path / "thinks", window=512)
    made(R1).save_pretrained(name)
    model = load(name)
    assert isinstance(model, LocalModel)
    (drawn,) = model.generate([Request(BARE, 5, 1)], Sampling(max_new_tokens=4))
    assert {split(text).answer for text, _ in drawn.answers} == {None}, "nothing ended the thought"
    assert sum(count for _, count in drawn.answers) == 5
    settled = DecidedOutside(Says("no"), "<think>", ())
    assert [settled(text) for text in ("no", "no</think>", "no</think> no")] == [False, False, True]


def test_how_turns_are_encoded_is_part_of_which_model_it_is(tmp_path: Path) -> None:
    name = save_llama(tmp_path / "model")
    made(QWEN_25).save_pretrained(name)
    usual, off = load(name), load(name, chat_format="+no-default-system")
    assert usual.card.chat_format == off.card.chat_format
    assert usual.card.key != off.card.key

"""A base model asked in a borrowed chat format: it is another model, and what it has to do without
is said.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import AddedToken

from tests.inference.chat_tokenizers import TEMPLATES
from tests.inference.saved_models import CHAT, save_llama, save_t5, tokenizer
from workbench.domain.prompts import Message, Prompt
from workbench.errors import ModelError, UsageError
from workbench.inference.chat_turns import check_chat_format
from workbench.inference.load import load
from workbench.inference.local.model import LocalModel

ASKED = Prompt(
    (Message("user", "a?"), Message("assistant", "yes"), Message("user", "b?")), context=2
)


@pytest.fixture
def base(tmp_path: Path) -> str:
    return save_llama(tmp_path / "base")


def loaded(name: str, chat_format: str = "") -> LocalModel:
    model = load(name, chat_format=chat_format)
    assert isinstance(model, LocalModel)
    return model


def written(model: LocalModel, prompt: Prompt = ASKED) -> str:
    return model._format._literal(model.encode(prompt))


def test_a_base_model_is_asked_in_the_chat_format_of_another_folder(
    base: str, tmp_path: Path
) -> None:
    tuned = save_llama(tmp_path / "tuned", chat=True)
    model = loaded(base, tuned)
    assert (
        written(model)
        == "<user>a?\n<assistant>yes\n<user>b?\n<assistant>"
        == written(loaded(tuned))
    )
    assert model.card.chat_format == loaded(tuned).card.chat_format != "none"
    assert model.card.key != loaded(base).card.key, "it is another model"
    assert any(f"chat format of {tuned}" in note for note in model.notes)
    assert not any("no chat template" in note for note in model.notes)


def test_without_one_the_turns_of_a_base_model_are_joined_by_blank_lines_and_it_is_said(
    base: str,
) -> None:
    model = loaded(base)
    assert written(model) == "a?\n\nyes\n\nb?"
    assert any("blank lines" in note and "--chat-format" in note for note in model.notes)


def test_a_tokenizers_folder_without_weights_will_do(base: str, tmp_path: Path) -> None:
    tokenizer(chat=True).save_pretrained(tmp_path / "only")
    (tmp_path / "only" / "chat_template.jinja").unlink(missing_ok=True)
    with pytest.raises(ModelError, match=r"only: it has no chat template"):
        load(base, chat_format=str(tmp_path / "only"))
    tokenizer(chat=True).save_pretrained(tmp_path / "only")
    assert written(loaded(base, str(tmp_path / "only"))).startswith("<user>a?")


def test_a_file_of_jinja_is_a_chat_format_wherever_it_stands(base: str, tmp_path: Path) -> None:
    file = tmp_path / "qm.jinja"
    file.write_text(CHAT, encoding="utf-8")
    assert written(loaded(base, str(file))).endswith("<user>b?\n<assistant>")


@pytest.mark.e2e
def test_the_chat_format_of_the_embedded_model_is_written_as_characters_where_its_tokens_are_missing(
    base: str, tmp_path: Path
) -> None:
    model = loaded(base, "smollm2")
    assert written(model).endswith("<|im_start|>user\nb?<|im_end|>\n<|im_start|>assistant\n")
    assert len(model.encode(ASKED)) == len(written(model)), "one token a byte"
    said = next(note for note in model.notes if "chat format of smollm2" in note)
    assert (
        "its vocabulary lacks <|im_end|>, <|im_start|>, which are written as plain characters"
        in said
    )
    with_tokens = tokenizer()
    with_tokens.add_tokens(
        [AddedToken(text, special=True) for text in ("<|im_start|>", "<|im_end|>")]
    )
    with_tokens.save_pretrained(base)
    having = loaded(base, "smollm2")
    assert not any("lacks" in note for note in having.notes)
    assert len(having.encode(ASKED)) < len(model.encode(ASKED)) - 80


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for m in messages %}{{ m['content'] }", r"TemplateSyntaxError"),
        ("{{ raise_exception('only one turn, please') }}", r"only one turn, please"),
        ("{{ messages[9]['content'] }}", r"UndefinedError"),
        (
            "{% for m in messages %}{{ ''.__class__.__mro__[1].__subclasses__() }}{% endfor %}",
            r"SecurityError",
        ),
        ("Always the same text.", r"does not write all turns"),
        ("{{ messages[-1]['content'] }}", r"does not write all turns"),
        ("", r"is empty"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_by_name(
    template: str, said: str, base: str, tmp_path: Path
) -> None:
    file = tmp_path / "broken.jinja"
    file.write_text(template, encoding="utf-8")
    with pytest.raises(
        ModelError, match=rf"(?s)broken\.jinja: the chat template.*{said}|(?s:.)*{said}"
    ) as error:
        load(base, chat_format=str(file))
    assert "broken.jinja" in str(error.value)


def test_a_template_may_not_read_files(base: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    file = tmp_path / "reads.jinja"
    file.write_text("{% include 'secret.txt' %}" + CHAT, encoding="utf-8")
    with pytest.raises(ModelError, match=r"reads\.jinja: the chat template cannot be used"):
        load(base, chat_format=str(file))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.jinja", "cannot be read"),
        ("./nowhere", "no such folder"),
        ("BASE", "no chat template"),
    ],
)
def test_a_chat_format_that_is_not_there_is_said(name: str, said: str, base: str) -> None:
    with pytest.raises(ModelError, match=said):
        load(base, chat_format=base if name == "BASE" else name)


def test_a_template_that_knows_no_system_turn_has_it_in_the_users(
    base: str, tmp_path: Path
) -> None:
    file = tmp_path / "strict.jinja"
    file.write_text(TEMPLATES["system merged"], encoding="utf-8")
    model = loaded(base, str(file))
    assert "system turn at the beginning of the user turn" in model.card.encoding
    prompt = Prompt((Message("system", "Be brief."), Message("user", "a?")))
    assert "user\nBe brief.\n\na?<|end|>" in written(model, prompt)


@pytest.mark.e2e
def test_an_encoder_decoder_takes_one_too(tmp_path: Path) -> None:
    model = loaded(save_t5(tmp_path / "t5"), "smollm2")
    assert written(model).endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("openai:gpt-4o", "the server formats"),
        ("scripted", "scripted model"),
        ("scripted:x.toml", "scripted"),
    ],
)
def test_a_chat_format_is_refused_where_it_has_no_effect(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=rf"smollm2\) has no effect.*{why}"):
        load(name, chat_format="smollm2")
    check_chat_format(name, "")


def test_checking_a_chat_format_loads_no_network_library() -> None:
    code = (
        "import sys, workbench.inference.chat_turns; sys.exit(bool({'torch', 'transformers'} "
        "& sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

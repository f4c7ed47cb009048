"""What a persona makes of a prompt, and files of personas: read exactly or refused with every
fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.domain.prompts import Message, Persona, PersonaKind, Prompt
from workbench.errors import InputError
from workbench.formats.personas import read_personas

NURSE = Persona("nurse", PersonaKind.PERSONA, (Message("system", "You are a nurse."),))
TALK = Persona(
    "talk",
    PersonaKind.CONVERSATION,
    (Message("user", "Hello."), Message("assistant", "Hello!")),
    language="en",
)
ASKED = Message("user", "Taxes should fall.")


def turns(prompt: Prompt) -> list[tuple[str, str]]:
    return [(one.role, one.content) for one in prompt.messages]


def test_a_chat_has_one_system_turn() -> None:
    with_own = NURSE.before(Prompt((Message("system", "Agree or disagree?"), ASKED)))
    assert turns(with_own) == [
        ("system", "You are a nurse.\n\nAgree or disagree?"),
        ("user", "Taxes should fall."),
    ]
    assert with_own.context == 1
    assert turns(NURSE.before(Prompt((ASKED,))))[0] == ("system", "You are a nurse.")


def test_a_prompt_without_a_system_turn_has_it_in_the_user_turn() -> None:
    found = NURSE.before(Prompt((ASKED,)), system_turn=False)
    assert turns(found) == [("user", "You are a nurse.\n\nTaxes should fall.")]
    assert found.context == 0


def test_a_conversation_is_turns_after_the_system_turn() -> None:
    found = TALK.before(Prompt((Message("system", "Agree?"), ASKED)))
    assert [role for role, _ in turns(found)] == ["system", "user", "assistant", "user"]
    assert found.context == 3


def test_a_shared_context_stays_one() -> None:
    context = (Message("user", "Q?"), Message("assistant", "yes"))
    found = NURSE.before(Prompt((*context, ASKED), context=2))
    assert (found.context, found.messages[-1]) == (3, ASKED)


def test_a_raw_text_has_it_in_paragraphs() -> None:
    found = TALK.before(Prompt((ASKED,), chat=False))
    assert turns(found) == [("user", "User: Hello.\n\nAssistant: Hello!\n\nTaxes should fall.")]


def test_the_turns_make_a_persona_and_not_its_name() -> None:
    again = Persona("midwife", PersonaKind.SYSTEM, NURSE.turns)
    assert again.key == NURSE.key != TALK.key
    assert NURSE.before(Prompt((ASKED,))).key != Prompt((ASKED,)).key


def test_the_example_that_ships_is_read() -> None:
    found = read_personas(Path(__file__).parents[2] / "data" / "beginnings" / "personas.toml")
    assert [one.kind.value for one in found] == ["persona", "persona", "system", "conversation"]


def test_toml_and_csv_say_the_same(tmp_path: Path) -> None:
    toml, csv = tmp_path / "p.toml", tmp_path / "p.csv"
    toml.write_text(
        '[[persona]]\nid = "nurse"\ntext = "You are a nurse."\n'
        '[[persona]]\nid = "talk"\nlanguage = "en"\n'
        'turns = [{role = "user", text = "Hello."}, {role = "assistant", text = "Hello!"}]\n',
        encoding="utf-8",
    )
    csv.write_text(
        "id,kind,language,role,text\nnurse,persona,,,You are a nurse.\n"
        "talk,conversation,en,user,Hello.\ntalk,conversation,en,assistant,Hello!\n",
        encoding="utf-8",
    )
    assert read_personas(toml) == read_personas(csv) == (NURSE, TALK)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[persona]]\nid = "none"\ntext = "x"\n', "a name other than 'none' and 'all'"),
        ('[[persona]]\nid = "a"\ntext = " "\n', "no text"),
        (
            '[[persona]]\nid = "a"\nkind = "role"\ntext = "x"\n',
            "one of persona, system, conversation",
        ),
        (
            '[[persona]]\nid = "a"\ntext = "x"\n[[persona]]\nid = "b"\ntext = "x"\n',
            "the same text as 'a'",
        ),
        (
            '[[persona]]\nid = "a"\ntext = "x"\n[[persona]]\nid = "a"\ntext = "y"\n',
            "'a' a second time",
        ),
        ('[[persona]]\nid = "a"\nturns = [{role = "user", text = "x"}]\n', "the assistant last"),
        ('[[persona]]\nid = "a"\nturn = 3\n', "an unknown key"),
        ("", "no [[persona]]"),
    ],
)
def test_a_file_at_fault_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_personas(path)
    assert said in str(caught.value)
    assert "Nothing was asked." in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            "- You are a nurse.\nYou are a teacher.\nYou are a farmer.\n",
            1,
            "a dash before it, as not every line has",
        ),
        ("You are a nurse.\n2) You are a teacher.\n", 2, "a number, a letter"),
        ("# Personas\n\nYou are a nurse.\nYou are a teacher.\n", 1, "a title or a heading"),
    ],
)
def test_a_list_that_may_be_meant_in_two_ways_is_refused(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    path = tmp_path / "people.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"people.txt, line {line}: found .*{said}") as caught:
        read_personas(path)
    assert "or a TOML file" in str(caught.value)


@pytest.mark.parametrize("name", ["people.txt", "people.csv", "people"])
def test_a_plain_list_has_one_persona_a_line(tmp_path: Path, name: str) -> None:
    texts = ["You are a nurse, 54, in a small town.", "30 years ago you moved to the coast."]
    lines = {"people.csv": "text\n" + "".join(f'"{text}"\n' for text in texts)}.get(
        name, "\n\n".join(texts) + "\n"
    )
    (tmp_path / name).write_text(lines)
    found = read_personas(tmp_path / name)
    assert [(one.name, one.turns[0].content) for one in found] == [
        ("persona-1", texts[0]),
        ("persona-2", texts[1]),
    ]
    (tmp_path / name).write_text(
        "".join(f"{place}. {text}\n" for place, text in enumerate(texts, start=1))
    )
    assert [one.turns[0].content for one in read_personas(tmp_path / name)] == texts

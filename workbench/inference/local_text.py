"""Between texts and a model's tokens: its chat format, or the published plain one where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from workbench.domain.prompts import Prompt
from workbench.errors import ModelError
from workbench.inference.local_context import ContextTokens

MARK = "\ue000{}\ue001"
"stands for a message while the chat template is put around it"
BEFORE = 4
"tokens in front of a next token that settle how it is spelled: with its space or without"
REMEMBERED = 50_000
"spelled next tokens that are kept"


class TextFormat:
    """How a model is given prompts, and how its tokens are read."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._special = tuple(tokenizer.all_special_tokens)
        self._contexts = ContextTokens(tokenizer)
        self._next: dict[tuple[int, ...], str] = {}
        "what was spelled of late: chats end alike, and their likeliest next tokens are few"
        self._merge_system = False
        self.name = self._named()
        "a hash of the chat template, noting whether the system turn has to be part of the user's; or `none`"

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the tokens of a prompt in the model's chat format; special tokens only where the format has them.

        Without a chat format the messages are joined by blank lines. Text of a message that spells a special token
        (`<|im_end|>`) is tokenised as the characters that it is. An empty prompt is the token that begins a text; the
        list is empty where the model has none.
        """
        if prompt.chat and self._tokenizer.chat_template:
            return self._encode_chat(prompt)
        text = "\n\n".join(message.content for message in prompt.messages)
        ids = list(self._tokenizer(text, split_special_tokens=self._special_in(text)).input_ids)
        begin = self._tokenizer.bos_token_id
        return ids or ([] if begin is None else [int(begin)])

    def _encode_chat(self, prompt: Prompt) -> list[int]:
        tokenizer, messages = self._tokenizer, self._turns(prompt)
        context = prompt.messages[: prompt.context]
        unseen = prompt.messages[prompt.context if context and self._contexts.holds(context) else 0 :]
        if not any(self._special_in(message.content) for message in unseen):
            text: str = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            return self._encode_text(text, prompt)
        marked = [{"role": m["role"], "content": MARK.format(i)} for i, m in enumerate(messages)]
        frame = tokenizer.apply_chat_template(marked, tokenize=False, add_generation_prompt=True)
        ids: list[int] = []
        for i, message in enumerate(messages):
            before, _, frame = frame.partition(MARK.format(i))
            ids += tokenizer(before, add_special_tokens=False).input_ids
            ids += tokenizer(message["content"], add_special_tokens=False, split_special_tokens=True).input_ids
        return ids + list(tokenizer(frame, add_special_tokens=False).input_ids)

    def _encode_text(self, text: str, prompt: Prompt) -> list[int]:
        """Return the tokens of a whole chat as text; what it has in common with others is tokenised once."""
        context, others = prompt.messages[: prompt.context], prompt.messages[prompt.context :]
        if not context or not others:
            return self._plain_ids(text)
        return self._contexts.encode(context, text, text.rfind(others[0].content.strip()))

    def encode_option(self, option: str) -> list[int]:
        """Return the tokens of a continuation by itself, as the model would write it after a prompt that is whole.

        The option is not merged with the prompt's last token. So a raw prompt that is to be continued by a word ends
        without a space (`Answer:`) and the option begins with it (` Yes`): that is how such a word is one token.
        Tokenizers that write a space in front of every text (Llama 2, Mistral) would give it two, so there it is read
        as it stands after a colon.

        Raises ModelError where it has no token.
        """
        ids = self._plain_ids(option)
        if option[:1] == " ":
            before, whole = self._plain_ids(":"), self._plain_ids(":" + option)
            if whole[: len(before)] == before:
                ids = whole[len(before) :]
        if not ids:
            raise ModelError(f"the option {option!r} has no token, so it has no probability; give it some text")
        return ids

    def _plain_ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False).input_ids)

    def spell(self, tokens: Sequence[int]) -> str:
        """Return the text of an answer, without special tokens."""
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def spell_next(self, prompt: Sequence[int], token: int) -> str:
        """Return the text that a token adds to a prompt: with its space, and special tokens by their name.

        Tokenizers that write spaces in front of words drop them from a word that is decoded alone.
        """
        last = list(prompt[-BEFORE:])
        known = self._next.get((*last, token))
        if known is None:
            before, whole = self._literal(last), self._literal([*last, token])
            known = whole[len(before) :] if whole.startswith(before) else self._literal([token])
            if len(self._next) >= REMEMBERED:
                self._next.clear()
            self._next[(*last, token)] = known
        return known

    def _literal(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    def _turns(self, prompt: Prompt) -> list[dict[str, str]]:
        turns = [{"role": m.role, "content": m.content} for m in prompt.messages]
        if self._merge_system and len(turns) > 1 and turns[0]["role"] == "system":
            first, second, *rest = turns
            return [{"role": second["role"], "content": f"{first['content']}\n\n{second['content']}"}, *rest]
        return turns

    def _special_in(self, text: str) -> bool:
        return any(token in text for token in self._special)

    def _named(self) -> str:
        template = self._tokenizer.chat_template
        if not template:
            return "none"
        probe = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
        try:
            self._tokenizer.apply_chat_template(probe, tokenize=False, add_generation_prompt=True)
        except Exception:  # templates raise Jinja errors of their own where they know no system role
            self._merge_system = True
        digest = blake2b(str(template).encode(), digest_size=8).hexdigest()
        return digest + ("+system-merged" if self._merge_system else "")

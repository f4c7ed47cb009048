"""Loading real folders: what a model is told to be, what it cannot be, and what people are told of
it.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedTokenizerFast

from tests.inference.saved_models import END, WINDOW, save_llama, save_t5
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Drawn, Request, Sampling
from workbench.errors import MissingPackage, ModelError, UsageError
from workbench.inference import memory
from workbench.inference.base import Windowed, check_dtype
from workbench.inference.load import load
from workbench.inference.local import network as local_network
from workbench.inference.local.model import LocalModel, load_local
from workbench.inference.local.network import DEVICE, _Placed, chosen_device
from workbench.inference.local.text import TextFormat
from workbench.inference.plain import PlainEngine

SHORT = Sampling(max_new_tokens=4)


@pytest.fixture(autouse=True)
def _no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEVICE, "cpu")


@pytest.fixture
def llama(tmp_path: Path) -> str:
    return save_llama(tmp_path / "llama")


@pytest.fixture
def t5(tmp_path: Path) -> str:
    return save_t5(tmp_path / "t5")


def raw(text: str) -> Prompt:
    return Prompt((Message("user", text),), chat=False)


def chat(*texts: str) -> Prompt:
    return Prompt(
        tuple(Message(role, text) for role, text in zip(("system", "user"), texts, strict=False))
    )


def answers(
    model: LocalModel, *prompts: Prompt, n: int = 3, sampling: Sampling = SHORT
) -> list[Drawn]:
    requests = [Request(prompt, n, seed) for seed, prompt in enumerate(prompts)]
    return sorted(model.generate(requests, sampling), key=lambda drawn: drawn.request)


def total(drawn: Drawn) -> int:
    return sum(count for _, count in drawn.answers)


def test_a_folder_loads_and_says_where_it_computes(llama: str) -> None:
    model = load(llama)
    assert isinstance(model, LocalModel)
    assert (model.card.backend, model.card.dtype, model.card.chat_format) == (
        "transformers",
        "float32",
        "none",
    )
    assert len(model.card.revision) == 32
    assert model.notes[0].startswith("float32 on cpu, 0 MB")
    assert [total(drawn) for drawn in answers(model, raw("Question:"), raw("Q"))] == [3, 3]
    model.close()
    model.close()


def test_without_a_chat_template_the_plain_format_is_used_and_said(llama: str) -> None:
    model = load_local(llama)
    assert (
        bytes(token_bytes(model, chat("Only the label.", "Rents?"))) == b"Only the label.\n\nRents?"
    )
    assert any("no chat template" in note and "blank lines" in note for note in model.notes)


def test_with_a_chat_template_nothing_is_said_of_one(tmp_path: Path) -> None:
    model = load_local(save_llama(tmp_path, chat=True))
    assert bytes(token_bytes(model, chat("S", "U"))) == b"<system>S\n<user>U\n<assistant>"
    assert model.card.chat_format != "none"
    assert not any("chat template" in note for note in model.notes)


def token_bytes(model: LocalModel, prompt: Prompt) -> bytes:
    return model._format._literal(model.encode(prompt)).encode()


def test_a_dtype_is_what_the_weights_are_loaded_as(llama: str) -> None:
    model = load(llama, dtype="bfloat16")
    assert isinstance(model, LocalModel)
    assert model.card.dtype == "bfloat16"
    assert model.notes[0].startswith("bfloat16 on cpu")
    assert model.card.key != load_local(llama).card.key
    assert total(answers(model, raw("Q"))[0]) == 3


def test_an_unknown_dtype_is_named_with_those_there_are(llama: str) -> None:
    with pytest.raises(UsageError, match=r"'fp8' is unknown. Choose float32, bfloat16, float16"):
        load(llama, dtype="fp8")


def test_float16_is_refused_on_a_cpu_with_the_reason(llama: str) -> None:
    with pytest.raises(ModelError, match=r"float16 on a CPU is refused.*65,504.*bfloat16"):
        load(llama, dtype="float16")


@pytest.mark.parametrize("name", ["scripted", "scripted:x.toml", "openai:gpt-4o"])
def test_a_dtype_is_refused_where_it_has_no_effect(name: str) -> None:
    with pytest.raises(UsageError, match=r"bfloat16\) has no effect"):
        load(name, dtype="bfloat16")
    check_dtype(name, "")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cpu:1", "mps"])
def test_an_unknown_device_is_named_with_what_to_set(
    name: str, llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEVICE, name)
    with pytest.raises(ModelError, match=rf"device '{name}' is unknown.*WORKBENCH_DEVICE"):
        load(llama)


def test_a_device_that_is_not_here_is_named_with_those_that_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert chosen_device("cuda:1") == torch.device("cuda:1")
    assert chosen_device("") == torch.device("cuda")
    with pytest.raises(ModelError, match="'cuda:2' is not here: PyTorch sees cuda:0 to cuda:1"):
        chosen_device("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert chosen_device("") == torch.device("cpu")
    with pytest.raises(ModelError, match="no CUDA device"):
        chosen_device("cuda")


def test_weights_that_cannot_fit_are_refused_before_they_are_loaded(
    llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(*_: Any, **__: Any) -> None:
        raise AssertionError("it was loaded")

    monkeypatch.setattr(local_network, "free_bytes", lambda device: 100_000)
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", loaded)
    weights = sum(
        tensor.numel() * 4 for tensor in load_file(Path(llama) / "model.safetensors").values()
    )
    assert weights > 100_000
    with pytest.raises(
        ModelError, match=r"weights take 0 MB as float32, and 0 MB .*free on cpu.*--dtype bfloat16"
    ):
        load(llama)
    monkeypatch.setattr(local_network, "free_bytes", lambda device: weights)
    with pytest.raises(AssertionError, match="it was loaded"):
        load(llama)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"
        ),
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_memory_that_runs_out_while_loading_is_said_with_what_to_do(
    error: BaseException, llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", fails)
    with pytest.raises(
        ModelError, match=r"memory ran out while it was loaded as bfloat16 on cpu.*smaller model"
    ):
        load(llama, dtype="bfloat16")


def test_a_bug_while_loading_keeps_its_traceback(
    llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", fails)
    with pytest.raises(RuntimeError, match="shapes"):
        load(llama)


def test_files_without_some_weights_are_refused(llama: str) -> None:
    file = Path(llama) / "model.safetensors"
    weights = load_file(file)
    save_file(
        {name: w for name, w in weights.items() if "lm_head" not in name},
        file,
        metadata={"format": "pt"},
    )
    with pytest.raises(
        ModelError, match=r"no weights for 1 parts of LlamaForCausalLM \(lm_head.weight\).*random"
    ):
        load(llama)


def test_damaged_weights_are_said(llama: str) -> None:
    (Path(llama) / "model.safetensors").write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00{")
    with pytest.raises(ModelError, match="no model could be loaded"):
        load(llama)


def test_code_of_a_models_folder_is_never_run(llama: str, tmp_path: Path) -> None:
    place, mark = Path(llama), tmp_path / "it-ran"
    config = json.loads((place / "config.json").read_text())
    own = {
        "AutoConfig": "evil.Config",
        "AutoModelForCausalLM": "evil.Model",
        "AutoTokenizer": ["evil.T", None],
    }
    (place / "config.json").write_text(
        json.dumps({**config, "model_type": "evil", "auto_map": own})
    )
    (place / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass Config: pass\n")
    with pytest.raises(ModelError, match="no model could be loaded"):
        load(llama)
    assert not mark.exists()


def test_a_prompt_longer_than_the_window_fails_alone(llama: str) -> None:
    model = load_local(llama)
    long, fits = raw("Is this too long? " + "x" * 60), raw("y" * (WINDOW - 4))
    before = model.work.prompt_tokens
    failed, answered = answers(model, long, fits)
    assert (failed.failed, failed.answers, total(answered), answered.failed) == (3, (), 3, 0)
    assert "'Is this too long? xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' has 78 tokens" in failed.reason
    assert f"window is {WINDOW}, so at most {WINDOW - 1} fit" in failed.reason
    assert model.work.prompt_tokens - before == WINDOW - 4


def test_answers_that_do_not_fit_behind_a_prompt_are_refused_with_how_many_would(
    llama: str,
) -> None:
    model = load_local(llama)
    (failed,) = answers(model, raw("z" * (WINDOW - 3)))
    assert failed.failed == 3
    assert (
        "4 more to generate (--max-new-tokens) do not fit into the model's window of 48"
        in failed.reason
    )
    assert "At most 3 do" in failed.reason
    (answered,) = answers(model, raw("z" * (WINDOW - 3)), sampling=Sampling(max_new_tokens=3))
    assert total(answered) == 3


def test_refusals_come_together_and_do_not_hold_up_answers(llama: str) -> None:
    model = load_local(llama)
    long = raw("x" * 99)
    came = list(model.generate([Request(p, 2, 1) for p in (long, raw("a"), long)], SHORT))
    assert [(drawn.request, drawn.failed, drawn.more) for drawn in came] == [
        (0, 2, True),
        (2, 2, False),
        (1, 0, False),
    ]


def test_options_and_next_tokens_beyond_the_window_are_refused(llama: str) -> None:
    model = load_local(llama)
    fits, full = raw("x" * (WINDOW - 2)), raw("x" * WINDOW)
    scored = {s.prompt: s for s in model.score([fits, fits, full], [["ab"], ["abc", "a"], ["a"]])}
    assert np.isfinite(scored[0].log_probabilities).all()
    assert not scored[0].reason
    assert np.isnan(scored[1].log_probabilities).tolist() == [True, True]
    assert "3 more of an option do not fit" in scored[1].reason
    assert "at most 47 fit" in scored[2].reason
    tables = {found.prompt: found for found in model.next_tokens([full, fits], 3, ("yes",))}
    assert "at most 47 fit" in tables[0].reason
    assert (tables[0].texts, len(tables[0].log_probabilities), tables[0].words) == ((), 0, None)
    assert np.isnan(tables[0].rest)
    assert (tables[1].reason, len(tables[1].texts)) == ("", 3)


def test_a_model_says_how_long_prompts_are_and_what_it_can_attend_to(llama: str, t5: str) -> None:
    model = load_local(llama)
    assert isinstance(model, Windowed)
    assert model.window == WINDOW
    assert model.lengths([raw("abc"), raw("x" * 60), raw("")]) == [3, 60, 1]
    assert load_local(t5).window is None


def test_an_empty_prompt_is_the_token_that_begins_a_text(llama: str, tmp_path: Path) -> None:
    model = load_local(llama)
    assert model.encode(raw("")) == [1]
    assert total(answers(model, raw(""))[0]) == 3
    without = load_local(save_llama(tmp_path / "without", begin=False))
    empty, other = answers(without, raw(""), raw("a"))
    assert (empty.failed, total(other)) == (3, 3)
    assert "the prompt is empty" in empty.reason


def test_an_option_without_a_token_is_refused(llama: str) -> None:
    with pytest.raises(ModelError, match="option '' has no token"):
        next(load_local(llama).score([raw("a")], [["Yes", ""]]))


def test_an_option_is_tokenised_by_itself(llama: str) -> None:
    """`Answer:` with the option ` Yes`, and `Answer: ` with `Yes`, are the same bytes and the same
    probability.
    """
    model = load_local(llama)
    first, second = sorted(
        model.score([raw("Answer:"), raw("Answer: ")], [[" Yes"], ["Yes"]]),
        key=lambda scored: scored.prompt,
    )
    (space,) = model.score([raw("Answer:")], [[" "]])
    assert first.log_probabilities[0] == pytest.approx(
        space.log_probabilities[0] + second.log_probabilities[0], abs=1e-4
    )


def test_next_tokens_add_up_with_the_rest(llama: str) -> None:
    model = load_local(llama)
    (all_of_them,) = model.next_tokens([raw("a")], 259)
    assert np.exp(all_of_them.log_probabilities).sum() == pytest.approx(1, abs=1e-5)
    assert all_of_them.rest < 1e-5
    assert END in all_of_them.texts
    (three,) = model.next_tokens([raw("a")], 3)
    assert three.texts == all_of_them.texts[:3]
    assert three.rest == pytest.approx(1 - np.exp(three.log_probabilities).sum(), abs=1e-6)
    with pytest.raises(ModelError, match="260 next tokens"):
        list(model.next_tokens([raw("a")], 260))


def test_an_answer_ends_as_soon_as_it_is_decided(llama: str) -> None:
    model = load_local(llama)
    (free,) = model.generate([Request(raw("Q"), 20, 3)], Sampling(max_new_tokens=6))
    (short,) = model.generate(
        [Request(raw("Q"), 20, 3, decided=Begun())], Sampling(max_new_tokens=6)
    )
    assert free.decided == 0
    assert (short.decided, total(short)) == (20 - dict(short.answers).get("", 0), 20)
    assert max(len(text) for text, _ in short.answers) < max(len(text) for text, _ in free.answers)


class Begun:
    def __call__(self, text: str) -> bool:
        return bool(text)


def test_an_encoder_decoder_is_asked_plainly_and_the_reason_said(t5: str) -> None:
    model = load(t5)
    assert isinstance(model, LocalModel)
    assert isinstance(model._engine, PlainEngine)
    assert any(
        "t5 is asked prompt by prompt through transformers' generate" in note
        for note in model.notes
    )
    assert any("encoder-decoder" in note for note in model.notes)
    long = raw("x" * 600)  # T5's positions are relative: no window
    assert [total(drawn) for drawn in answers(model, raw("Q"), long)] == [3, 3]


def test_options_of_an_encoder_decoder_are_scored_as_its_decoder_would_write_them(t5: str) -> None:
    model = load_local(t5)
    (scored,) = model.score([raw("Question: rents?")], [["Yes", "No"]])
    network = AutoModelForSeq2SeqLM.from_pretrained(t5).eval()
    ids = torch.tensor([model.encode(raw("Question: rents?"))])
    assert ids[0, -1] == 2
    for option, found in zip(("Yes", "No"), scored.log_probabilities, strict=True):
        end = model._format.encode_option(option)
        with torch.inference_mode():
            loss = network(
                input_ids=ids, labels=torch.tensor([end])
            ).loss  # the mean of the tokens' -log p
        assert found == pytest.approx(-float(loss) * len(end), abs=1e-4)


@pytest.mark.parametrize("prepends", [True, False])
def test_an_option_that_begins_with_a_space_has_one_where_texts_are_given_another(
    prepends: bool,
) -> None:
    words = ["<unk>", "▁", ":", "▁Yes", "Yes", "▁Answer"]
    inner = Tokenizer(
        models.Unigram([(word, -1.0 - 9 * (len(word) == 1)) for word in words], unk_id=0)
    )
    replaced = normalizers.Replace(" ", "▁")
    inner.normalizer = (
        normalizers.Sequence([normalizers.Prepend("▁"), replaced]) if prepends else replaced
    )
    form = TextFormat(PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>"))
    prompt, yes = form.encode(raw("Answer:")), form.encode_option(" Yes")
    assert [*prompt, *yes] == form.encode(raw("Answer: Yes"))
    assert yes == [words.index("▁Yes")]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GB of free memory, whose control groups are still to be written."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUP", tmp_path / "cgroup")
    return tmp_path


def group(machine: Path, folder: str, files: dict[str, str], line: str) -> None:
    place = machine / "cgroup" / folder
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (place / name).write_text(text)
    (machine / "proc" / "self" / "cgroup").write_text(line)


def test_free_memory_is_what_the_kernel_can_give(machine: Path) -> None:
    assert memory.free_bytes(torch.device("cpu")) == 8_000_000 * 1024


def test_a_containers_limit_holds_and_its_file_cache_can_go(machine: Path) -> None:
    files = {
        "memory.max": "3000",
        "memory.current": "2500",
        "memory.stat": "anon 2000\ninactive_file 400\n",
    }
    group(machine, "job", files, "0::/job/step\n")  # the limit is the parent's
    assert memory.free_bytes(torch.device("cpu")) == 900
    group(machine, "job", {"memory.max": "max"}, "0::/job/step\n")
    assert memory.free_bytes(torch.device("cpu")) == 8_000_000 * 1024


def test_limits_of_older_control_groups_hold_too(machine: Path) -> None:
    files = {"memory.limit_in_bytes": "5000", "memory.usage_in_bytes": "4500"}
    group(machine, "memory/slurm", files, "5:cpu:/\n4:memory:/slurm\n0::/\n")
    assert memory.free_bytes(torch.device("cpu")) == 500


def test_only_errors_about_memory_are_taken_for_such() -> None:
    with pytest.raises(RuntimeError) as cpu:
        torch.empty(10**15)
    assert memory.is_out_of_memory(cpu.value)
    assert memory.is_out_of_memory(torch.OutOfMemoryError("any words"))
    assert not memory.is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not memory.is_out_of_memory(OSError(2, "No such file or directory"))


def test_quantised_weights_without_the_library_are_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.inference.base.find_spec", lambda name: None)
    for dtype in ("int8", "nf4"):
        with pytest.raises(MissingPackage, match=r"pip install .*\[local,quantised\]'"):
            check_dtype("smollm2", dtype)


@pytest.mark.e2e
@pytest.mark.parametrize("dtype", ["int8", "nf4"])
def test_quantised_weights_are_smaller_and_another_model(dtype: str, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes", reason="the extra `quantised` is not installed")
    # 4-bit weights come in blocks of 64.
    name = save_llama(tmp_path / "tiny", chat=True, window=256, width=128)
    with closing(load_local(name, "float32")) as whole, closing(load_local(name, dtype)) as small:
        assert (whole.card.dtype, small.card.dtype) == ("float32", f"{dtype}+float32")
        assert whole.card.key != small.card.key
        assert "of weights" in small.notes[0]
        prompt = Prompt((Message("user", "Hello"),))
        (drawn,) = small.generate([Request(prompt, 3, 1)], Sampling(max_new_tokens=4))
        assert sum(count for _, count in drawn.answers) == 3
        (table,) = small.next_tokens([prompt], 5)
        assert len(table.texts) == 5


def test_one_model_over_all_gpus_needs_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    with pytest.raises(ModelError, match="PyTorch sees 1 GPU"):
        chosen_device("all")
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert chosen_device("all") == torch.device("cuda")
    placed = _Placed(torch.bfloat16, torch.device("cuda"), spread=True)
    assert placed.arguments() == {"device_map": "auto"}
    network = torch.nn.Linear(1, 1)
    assert placed.put(network) is network

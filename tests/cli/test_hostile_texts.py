"""Every free text of a store is hostile: the bytes of every verb that reads, of every file and of
Python's tables.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import click
import pytest

import workbench
from stores.core.store import Store
from tests.cli.test_commands import run
from tests.cli.test_demonstration import demo
from tests.core.test_representation import DESIGN, told
from tests.jobs.test_response_bias_runs import ask
from tests.report.test_report import Read
from workbench import registry
from workbench.cli.completing import complete
from workbench.cli.main import GROUPS, main
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Message, Persona, PersonaKind
from workbench.domain.questionnaires import (
    AnswerOption,
    Form,
    Meaning,
    PublishedShares,
    Question,
    Questionnaire,
    QuestionRole,
    Respondent,
    Scale,
)
from workbench.domain.statements import ORIGINAL, Statement, Wording
from workbench.options import shared
from workbench.report import page as report_page

pytestmark = pytest.mark.e2e

EVIL = "=1+1\x1b[31m\x1b]0;t\x07\x9b2J\u202e\u2066<script>alert(1)</script>[bold][/x]\\input{x}%/../../../x "
NAMES = {
    "model": ["name"],
    "party": ["name"],
    "statement": ["topic"],
    "queue": ["name"],
    "respondent": ["name"],
    "respondent_group": ["field", "value"],
    "issue": ["name"],
    "ruling": ["auditor"],
    "edit": ["person"],
    "control_sample": ["drawn_by"],
}
"columns of names, which stand elsewhere too"
TEXTS = {
    "text": ["body"],
    "instrument": ["title", "source", "citation", "licence"],
    "issue": ["title", "definition"],
    "wording": ["author"],
    "ruling": ["reason"],
    "remark": ["note"],
    "reading": ["note"],
    "job": ["message"],
    "attempt": ["host"],
    "party_answer": ["answer"],
}
LISTS = {"instrument": ["notes"], "statement": ["tags"]}
READING = {
    "help": [["--list"]],
    "keys": [[]],
    "doctor": [["{store}"]],
    "statements": [["{store}", "--instrument", name] for name in ("veldania", "survey")],
    "draft": [["{store}", "--instrument", "veldania", "--list"]],
    "lint": [["{store}"]],
    "issues": [
        ["{store}", "--instrument", "veldania"],
        ["{store}", "--instrument", "veldania", "--gold"],
    ],
    "choices": [["{store}", "list"]],
    "jobs": [["{store}"]],
    "snapshots": [["{store}"]],
    "classifiers": [["{store}"]],
    "plan": [["{store}", "--model", "scripted", "--instrument", "veldania"]],
    "thoughts": [["{store}"]],
    "codebook": [["{store}"]],
    "show": [["{store}"]],
    "agreement": [["{store}", "--items"]],
    "adjudicate": [["{store}"]],
    "labels": [["{store}"]],
    "people": [["{store}"], ["{store}", "--names"]],
    "review": [["{store}", "--instrument", "veldania"]],
    "questionnaire": [["{store}", "--instrument", "veldania_panel"]],
    "pilot": [["{store}"]],
    "design": [["{store}"]],
    "rulings": [["{store}"], ["{store}", "--history"]],
    "run": [["{store}", "--model", "scripted", "--instrument", "veldania", "--dry-run"]],
}
"verb -> command lines that only read"
OTHERS = {
    "demo",
    "init",
    "open",
    "import",
    "completion",
    "check",
    "survey",
    "train",
    "classify",
    "sample",
    "annotate",
    "rule",
    "report",
    "export",
    "prompts",
}
"they write, paint a screen or take files, which are looked at below"


ELEMENTS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "script",
    "body",
    "header",
    "footer",
    "nav",
    "main",
    "section",
    "div",
    "p",
    "a",
    "h1",
    "h2",
    "h3",
    "ol",
    "ul",
    "li",
    "b",
    "strong",
    "small",
    "span",
    "code",
    "time",
    "noscript",
    "figure",
    "figcaption",
    "table",
    "caption",
    "colgroup",
    "col",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "th",
    "td",
    "br",
    "q",
    "sub",
    "sup",
    "em",
    "dl",
    "dt",
    "dd",
    "svg",
    "g",
    "defs",
    "clippath",
    "path",
    "rect",
    "line",
    "circle",
    "polygon",
    "polyline",
    "text",
    "tspan",
    "use",
    "desc",
    "metadata",
    "symbol",
}
LOADS = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping", "srcdoc"}


def evil(text: str) -> str:
    return text if text.startswith(EVIL) else EVIL + text


def survey() -> Instrument:
    words = [evil(word) for word in ("much", "some", "none")]
    scale = Scale("amount", tuple(AnswerOption((word,), Meaning.STEP) for word in words))
    refs = [f"q{i}" for i in range(6)]
    people = [
        Respondent(
            evil(f"p{n}"),
            {ref: words[(n + i) % 3] for i, ref in enumerate(refs)},
            1.0,
            {evil("town"): evil("AB"[n % 2])},
        )
        for n in range(80)
    ]
    published = [
        PublishedShares(ref, evil("land"), evil("L"), {words[0]: 0.5, words[2]: 0.5}, 900)
        for ref in refs
    ]
    questions = tuple(Question(ref, QuestionRole.SURVEY, Form.QUESTION, scale.name) for ref in refs)
    statements = tuple(
        Statement(ref, (Wording(ORIGINAL, "en", evil(f"How is {ref}?")),)) for ref in refs
    )
    whole = Questionnaire(questions, (scale,), tuple(people), tuple(published))
    return Instrument("survey", evil("Survey"), statements, questionnaire=whole)


def replaced(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: replaced(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [replaced(one, names) for one in value]
    return evil(value) if isinstance(value, str) and value in names else value


def poison(path: Path) -> None:
    """Make names hostile wherever they stand, in JSON too, and free texts where they are kept."""
    connection = sqlite3.connect(path)
    tables = [
        name
        for (name,) in connection.execute("select name from sqlite_master where type = 'table'")
    ]
    names = {
        value
        for table, columns in NAMES.items()
        for column in columns
        for (value,) in connection.execute(
            f"select distinct {column} from {table} where {column} is not null"
        )
        if value
    }
    names |= {
        name
        for (name,) in connection.execute(
            "select name from reader where kind in ('person', 'import')"
        )
    }

    def change(table: str, column: str, how: Callable[[Any], Any]) -> None:
        for (value,) in connection.execute(f"select distinct {column} from {table}").fetchall():
            if isinstance(value, str) and value and (new := how(value)) != value:
                connection.execute(
                    f"update or ignore {table} set {column} = ? where {column} = ?", (new, value)
                )

    def named(value: str) -> str:
        if value.startswith(("[", '{"')):
            return json.dumps(replaced(json.loads(value), names), ensure_ascii=False)
        return evil(value) if value in names else value

    def said(value: str) -> str:
        if value.startswith('[["'):  # the turns before a prompt
            return json.dumps(
                [[role, evil(text)] for role, text in json.loads(value)], ensure_ascii=False
            )
        return evil(value) if len(value) > 1 else value  # letters stay readable

    for table in tables:
        for _, column, kind, *_ in connection.execute(f"pragma table_info({table})").fetchall():
            if kind.lower() == "text" and column not in TEXTS.get(table, ()) and table != "prompt":
                change(table, column, named)
    for table, columns in TEXTS.items():
        for column in columns:
            change(table, column, said)
    for table, columns in LISTS.items():
        for column in columns:
            change(
                table,
                column,
                lambda value: json.dumps([*map(evil, json.loads(value)), EVIL.strip()]),
            )
    connection.commit()
    connection.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "store.db"
    assert main(demo(path)) == 0
    like_b = Persona(
        evil("town=B"), PersonaKind.SYSTEM, (Message("system", evil("Answer like B.")),)
    )
    with Store.open(path) as store:
        store.instruments.add(survey())
        ask(store, told(evil("some")), replace(DESIGN, personas=(like_b,)))
    poison(path)
    return path


def check_painted(text: str) -> None:
    odd = {sign for sign in text if not sign.isprintable() and sign not in "\n\xa0"}
    assert not odd, (odd, next(line for line in text.splitlines() if odd & set(line)))
    unquoted = re.search(r"workbench [a-z]+ [^\n'.;:]*=1\+1", text)
    assert not unquoted, unquoted


def check_file(name: str, content: bytes, *, exact: bool) -> None:
    """Look at the bytes of a file, by its kind; `exact`: a layout of others, whose cells are not to
    be changed.
    """
    kind = Path(name).suffix
    if kind in (".pdf", ".parquet", ".ttf", ".woff2"):
        return
    if kind == ".zip":
        with ZipFile(io.BytesIO(content)) as archive:
            for inside in archive.namelist():
                assert not Path(inside).is_absolute()
                assert ".." not in Path(inside).parts
                check_file(inside, archive.read(inside), exact=exact)
        return
    text = content.decode("utf-8")
    if kind == ".csv":
        for row in [] if exact else csv.reader(io.StringIO(text, newline="")):
            for cell in row:
                assert cell[:1] not in tuple("=+-@\t\r") or re.fullmatch(
                    r"[-+][\d.e+-]+|-", cell
                ), cell
    elif kind == ".toml":
        tomllib.loads(text)
    elif kind in (".json", ".jsonl"):
        for line in text.splitlines() if kind == ".jsonl" else [text]:
            json.loads(line)
    else:
        check_painted(text)
        if kind in (".html", ".svg", ".md"):
            assert "<script>alert" not in text
        if kind in (".html", ".svg"):
            check_markup(text)
        if kind in (".tex", ".bib"):
            assert not any(
                "\\input{" in line for line in text.splitlines() if not line.startswith("%")
            )


def check_markup(text: str) -> None:
    """Look at the elements and attributes of a page or a picture, as a browser reads them: none is
    of a stored text.
    """
    page = Read(text)
    for tag, given in page.tags:
        assert tag in ELEMENTS, tag
        for name, value in given.items():
            assert re.fullmatch(r"(?!on)[a-zA-Z:-]+[12]?", name), (tag, name)
            assert name not in LOADS, (tag, name)
            if name.endswith("href"):
                assert re.fullmatch(r"#[\w-]+|[\w./-]+\.\w+", value or ""), value
    ours = [re.sub(r"\s+", "", report_page.read(name)) for name in ("script.js", "style.css")]
    for part, own in zip(("script", "style"), ours, strict=True):
        held = re.sub(r"\s+", "", "".join(page.inside[part]))
        assert EVIL.strip()[:4] not in held
        assert part == "style" or held in ("", own)
    assert len([tag for tag, _ in page.tags if tag == "script"]) in (0, 2)


def check_folder(folder: Path, *, exact: bool = False) -> None:
    assert {one.name for one in folder.parent.iterdir()} == {folder.name}, (
        "something was written beside it"
    )
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert path.name.isprintable()
        check_file(path.name, path.read_bytes(), exact=exact)


def test_every_verb_is_looked_at() -> None:
    verbs = {verb for group in GROUPS.values() for verb in group}
    assert verbs == READING.keys() | OTHERS


NOT_ASKED = ("contamination", "statement_labels")
AUDITS = [audit.name for audit in registry.every_audit()]
LINES = [[verb, *line] for verb, lines in READING.items() for line in lines]
LINES += [["show", "{store}", name, *more] for name in AUDITS for more in ([], ["--all"])]


@pytest.mark.parametrize("line", LINES, ids=lambda line: "-".join(line).replace("{store}", "STORE"))
def test_what_a_verb_prints_has_no_control_character(
    hostile: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.format(store=hostile) for word in line]
    for more in ([], ["--json"]):
        code, out, err = run(capsys, *words, *more)
        check_painted(out)
        check_painted(err)
        assert code in (0, 1, 2), err
        if more and code == 0 and line[0] not in ("help", "keys"):
            json.loads(out)


FILES = [
    ["report"],
    ["report", "--answers", "all"],
    *(
        [
            "export",
            "--what",
            "answers,readings,labels,rulings,verdicts,figures",
            "--format",
            form,
            "--names",
        ]
        for form in ("csv", "jsonl")
    ),
    *(
        ["export", "--instrument", name, "--people", "pseudonyms"]
        for name in ("veldania", "survey", "veldania_panel")
    ),
    ["export", "--instrument", "veldania", "--format", "probvaa"],
    ["export", "--instrument", "veldania", "--format", "jsonl"],
    ["export", "--instrument", "veldania_choices", "--format", "choices"],
    *(
        ["prompts", "--instrument", "veldania", "--layout", form]
        for form in ("csv", "openai-batch")
    ),
]


@pytest.mark.parametrize("line", FILES, ids="-".join)
def test_what_is_taken_along_stays_in_its_folder_and_runs_nothing(
    hostile: Path, tmp_path: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *options = line
    code, out, err = run(capsys, verb, hostile, tmp_path / "alone" / "out", *options)
    check_painted(out + err)
    assert code == 0, err
    check_folder(tmp_path / "alone" / "out", exact="probvaa" in line)
    if "probvaa" in line:
        assert "formula" in out


def test_a_browser_makes_no_element_of_a_text_in_the_supplement(
    hostile: Path, tmp_path: Path
) -> None:
    """The page's own script runs in Node, with a document that notes what is made in it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed here")
    assert main(["report", str(hostile), str(tmp_path / "out")]) == 0
    command = [
        node,
        str(Path(__file__).parents[1] / "report" / "page_dom.js"),
        str(tmp_path / "out" / "report.html"),
    ]
    told = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=110).stdout
    )
    assert told["texts"] > 100
    assert told["obeyed"] == []
    assert set(told["tags"]) <= ELEMENTS | {"button", "details", "input", "label", "summary"}


@pytest.mark.parametrize("name", [name for name in AUDITS if name not in NOT_ASKED])
def test_figures_in_every_medium_and_in_python_are_text(
    hostile: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "alone" / "out"
    with workbench.open(hostile) as store:
        check_painted(repr(store))
        for model in store.models:
            given = ("--model", model)
            code, out, err = run(capsys, "show", hostile, name, *given)
            check_painted(out + err)
            if code == 0:
                break
        assert code == 0, err
        check_painted(run(capsys, "show", hostile, name, *given, "--json")[1])
        files = ("--csv", folder, "--latex", folder, "--html", folder / "a.html")
        assert run(capsys, "show", hostile, name, *given, *files)[0] == 0
        check_folder(folder)
        result = store.results(name, model=model)
        for shown in (result, *result.tables.values()):
            check_painted(repr(shown))
            check_painted(shown._repr_html_())
            assert "<script>alert" not in shown._repr_html_()


@pytest.mark.parametrize("kind", ["models", "instruments", "queues", "stores"])
def test_what_a_shell_completes_is_one_word_that_runs_nothing(
    hostile: Path, tmp_path: Path, kind: str
) -> None:
    for name in ("$(id).db", "a b.db", "--force.db", "\x1b[31m.db", "good-1.db"):
        shutil.copy(hostile, tmp_path / name)
    context = click.Context(click.Command("show"))
    context.params["store"] = hostile
    option = shared.STORE.but(completes=kind)
    found = [
        one.value for one in complete(context, option, f"{tmp_path}/" if kind == "stores" else "")
    ]
    assert all(
        shlex.split(word) == [word] and word.isprintable() and word[:1] != "-" for word in found
    )
    if kind == "stores":
        assert found == [f"{tmp_path}/good-1.db"]
    assert not any("=1+1" in word for word in found)


@pytest.mark.parametrize(
    "table", ["ref,original\na,b\n", "ref,original,{evil}\na,b,c\n", "Nr,These,{evil}\n1,b,c\n"]
)
@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--json"], ["--name", EVIL.strip()]])
def test_what_an_import_says_of_a_file_is_text_and_its_commands_are_quoted(
    tmp_path: Path, table: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "-=1+1\x1b[31m\u202e;$(touch x)[bold][x].csv"
    path.write_text(table.format(evil=EVIL.strip()), encoding="utf-8")
    code, out, err = run(capsys, "import", tmp_path / "a;b.db", path, *more)
    check_painted(out + err)
    assert (code == 0) is ("=1+1" not in path.read_text(encoding="utf-8"))
    for line in (
        line
        for line in (out + err).splitlines()
        if line.startswith(("Next: ", "  workbench import"))
    ):
        words = shlex.split(line.removeprefix("Next: "))
        assert words[0] == "workbench"
        assert any(str(word).endswith("a;b.db") for word in words)

"""A report of every audit: whole, the same for the same store, harmless whatever a model says, and
never half there.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import errno
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stores.core.contents import content_hash, last_event
from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import instrument, new_store
from tests.report.stores import MAKERS, PEOPLE, QUEUE
from workbench import registry
from workbench.audits.claims import sentences_of
from workbench.audits.reported import ReportRequest
from workbench.domain.designs import Design
from workbench.domain.rulings import RulingVerdict
from workbench.errors import MissingPackage, UnknownName, UsageError
from workbench.evidence import ruling_subjects
from workbench.formats.folder import put
from workbench.inference.scripted.model import ScriptedModel, ScriptedPersona
from workbench.jobs import launch
from workbench.pipeline import asking, planning
from workbench.report.collected import ReportPart, collect, groups
from workbench.report.options import ReportChoice, silent
from workbench.report.page import read
from workbench.report.reached import published_tables
from workbench.report.written import write_report
from workbench.whole_folders import MACHINE

FILES = ("report.html", "index.csv", "supplement.zip", "methods.md", "references.bib")
MOST_WORDS = 3000


@pytest.fixture(scope="module", params=list(MAKERS))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A store of each audit, and its report."""
    folder = tmp_path_factory.mktemp(request.param)
    path = MAKERS[request.param](folder / "audit.db")
    with Store.open(path) as store:
        write_report(store, folder / "out", ReportChoice())
    return path, folder / "out"


@pytest.fixture(scope="module")
def reliability(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MAKERS["reliability"](tmp_path_factory.mktemp("one") / "audit.db")


class Read(HTMLParser):
    """What a page holds, as a browser reads it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: list[str] = []
        self.inside: dict[str, list[str]] = {"style": [], "script": [], "packed": [], "title": []}
        self._at: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.inside:
            # data, which no browser runs.
            self._at.append("packed" if dict(attrs).get("type") == "text/plain" else tag)

    def handle_endtag(self, tag: str) -> None:
        if self._at and self._at[-1] in (tag, "packed"):
            self._at.pop()

    def handle_data(self, data: str) -> None:
        if self._at:
            self.inside[self._at[-1]].append(data)
        else:
            self.data.append(data)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def supplement(folder: Path) -> dict[str, Any]:
    """Return the supplement of a page, as its script unpacks it."""
    (packed,) = Read((folder / "report.html").read_text(encoding="utf-8")).inside["packed"]
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed, validate=True)))
    return found


def tables(folder: Path) -> dict[str, Any]:
    return {
        table["file"]: table for part in supplement(folder)["parts"] for table in part["tables"]
    }


def rows(folder: Path, name: str) -> list[list[str]]:
    """Return the rows of all tables of a name in a supplement."""
    return [
        row for table in tables(folder).values() if table["name"] == name for row in table["rows"]
    ]


def words(folder: Path) -> str:
    """Return what a reader of the page sees without the supplement."""
    text = re.sub(
        r"<svg.*?</svg>", "", (folder / "report.html").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    return " ".join(" ".join(Read(text).data).split())


def test_a_report_has_all_of_its_files_and_links_to_them(made: tuple[Path, Path]) -> None:
    _, out = made
    files = contents(out)
    assert set(FILES) <= files.keys()
    assert {
        Path(name).stem for name in files if name.startswith("tables/") and name.endswith(".csv")
    } == {Path(name).stem for name in files if name.endswith(".tex")}
    page = Read(files["report.html"].decode())
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a" and attrs.get("href")}
    there = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    assert {link for link in links if link and not link.startswith("#")} <= files.keys()
    assert {link[1:] for link in links if link and link.startswith("#")} <= there


def test_a_page_is_short_and_every_other_table_is_one_step_behind_it(
    made: tuple[Path, Path],
) -> None:
    _, out = made
    assert len(words(out).split()) <= MOST_WORDS
    assert (out / "report.html").stat().st_size < 3_000_000
    page = Read((out / "report.html").read_text(encoding="utf-8"))
    audits = [
        attrs for tag, attrs in page.tags if tag == "section" and attrs.get("class") == "audit"
    ]
    shown = {path.stem for path in (out / "tables").glob("*.csv")}
    assert [tag for tag, _ in page.tags].count("table") == len(shown) <= 1 + len(audits)
    drawn = [tag for tag, _ in page.tags].count("svg")
    assert (
        1
        <= drawn
        == len(list((out / "figures").glob("*.svg")))
        == len(list((out / "figures").glob("*.pdf")))
    )
    assert drawn <= len(audits)
    with zipfile.ZipFile(out / "supplement.zip") as archive:
        packed = {Path(name).stem for name in archive.namelist()}
    assert packed == tables(out).keys()
    with (out / "index.csv").open(newline="", encoding="utf-8") as file:
        index = list(csv.DictReader(file))
    numbered = [row for row in index if row["table"]]
    assert [row["file"][:4] for row in numbered] == [
        f"{number:03}-" for number in range(1, len(numbered) + 1)
    ]
    assert {Path(row["file"]).stem for row in numbered if row["archive"]} == packed
    assert {Path(row["file"]).stem for row in numbered if not row["archive"]} == shown
    others = {
        str(path.relative_to(out))
        for path in out.rglob("*")
        if path.is_file() and path.parent != out / "tables"
    }
    ruled = {"tables/rulings.txt"} if (out / "tables/rulings.txt").exists() else set()
    assert {row["file"] for row in index[len(numbered) :]} == others - {
        "index.csv",
        "supplement.zip",
    } | ruled
    assert all(row["title"] for row in index)


def test_the_supplement_has_the_tables_that_findings_publications_and_rows_lead_to(
    made: tuple[Path, Path],
) -> None:
    path, out = made
    names = {table["name"] for table in tables(out).values()}
    on_request = " ".join(
        reason for _, reason in rows(out, "missing") if reason.startswith("On request")
    )
    with Store.open(path) as store:
        for part in collect(store, ReportChoice(), silent).parts:
            leading = {*part.found.shown, *published_tables(part.audit)}
            for entry in part.found.book.contents:
                if entry.empty or entry.on_request:
                    continue
                table_names = {entry.name, (entry.full or entry.make)(*entry.subjects[0]).name}
                if entry.name in leading:
                    assert names & table_names
                else:
                    assert names & table_names or entry.name in on_request
    assert {
        "findings",
        "basis",
        "methods",
        "limits",
        "commands",
        "templates_asked",
        "models_asked",
    } <= names


def test_a_table_to_which_nothing_leads_is_written_on_request(
    reliability: Path, tmp_path: Path
) -> None:
    choice = ReportChoice(audits=("reliability",), tables=("shifts",))
    with Store.open(reliability) as store:
        write_report(store, tmp_path / "usual", replace(choice, tables=()))
        write_report(store, tmp_path / "requested", choice)
    usual, requested = (
        {table["name"] for table in tables(tmp_path / folder).values()}
        for folder in ("usual", "requested")
    )
    assert {"verdicts", "pooled", "kappas", "across_templates"} <= usual, (
        "the audit, its paper, and a row lead to them"
    )
    assert requested - usual == {"shifts"}
    assert len(list((tmp_path / "requested" / "tables").glob("*-shifts-*.csv"))) == 1


def test_one_sentence_and_one_picture_compare_the_models_of_an_audit(tmp_path: Path) -> None:
    path = MAKERS["reliability"](tmp_path / "audit.db")
    with Store.open(path) as store:
        (part, *_) = registry.audit("reliability").reported(store, ReportRequest())
        assert part.all_models is not None
        two = [ReportPart(name, "reliability", part) for name in ("one", "two")]
        (group,) = groups(two, {})
    assert group.main is not None
    assert len(group.main.rows) == 2
    kept, passing, *_ = sentences_of(
        one for each in group.parts for one in each.found.findings
    ).sentences
    assert str(kept).startswith("Statements that keep their stance: smol ")
    assert str(kept).endswith(" of 4.")
    assert str(passing) == (
        "Statements that pass the published test at 30 answers: smol 2 of 4 (50.0 %); smol 2 of "
        "4 (50.0 %)."
    ), "equal counts of two models are not a count of both together"
    assert not passing.doubts, "a wording that a ruling excludes is in no denominator"


def test_every_file_has_each_table_and_picture_and_a_table_can_be_asked_for(
    reliability: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "report", reliability, tmp_path / "every", "--every-file")
    assert code == 0, err
    files = contents(tmp_path / "every")
    stems = {
        Path(name).stem for name in files if name.startswith("tables/") and name.endswith(".csv")
    }
    assert tables(tmp_path / "every").keys() < stems
    assert stems == {Path(name).stem for name in files if name.endswith(".tex")}
    assert "supplement.zip" not in files
    code, _, err = run(
        capsys,
        "report",
        reliability,
        tmp_path / "one",
        "--table",
        "passing",
        "--audit",
        "reliability",
    )
    assert code == 0, err
    (table,) = (tmp_path / "one" / "tables").glob("*-passing-*.csv")
    assert table.with_suffix(".tex").exists()
    assert (tmp_path / "one" / "figures" / f"{table.stem}.svg").exists()
    assert "--table passing" in (tmp_path / "one" / "methods.md").read_text(encoding="utf-8")
    code, _, err = run(capsys, "report", reliability, tmp_path / "none", "--table", "nonsense")
    assert code == 2
    assert "Available: " in err
    assert "passing" in err
    assert not (tmp_path / "none").exists()


def test_the_script_puts_text_in_as_text() -> None:
    script = read("script.js")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "setHTML",
        "DOMParser",
    ):
        assert way not in script


def test_the_same_store_gives_the_same_bytes_and_so_does_its_copy(
    made: tuple[Path, Path], tmp_path: Path
) -> None:
    path, out = made
    copy = tmp_path / "copy.db"
    with sqlite3.connect(path) as one, sqlite3.connect(copy) as two:
        one.backup(two)
        two.execute("vacuum")
    two.close()
    with Store.open(copy) as store:
        write_report(store, tmp_path / "again", ReportChoice())
    assert contents(tmp_path / "again") == contents(out)


def test_the_page_loads_nothing_and_runs_nothing_but_its_own_script(
    made: tuple[Path, Path],
) -> None:
    _, out = made
    page = Read((out / "report.html").read_text(encoding="utf-8"))
    loads = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping"}
    found = [
        (tag, name)
        for tag, attrs in page.tags
        for name in attrs
        if name in loads or name.startswith("on")
    ]
    assert found == []
    assert {tag for tag, _ in page.tags} & {
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "img",
    } == set()
    assert all("style" not in attrs for _, attrs in page.tags)
    (policy,) = (attrs["content"] or "" for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none';")
    for part in ("style", "script"):
        digest = base64.b64encode(
            hashlib.sha256("".join(page.inside[part]).encode()).digest()
        ).decode()
        assert f"{part}-src 'sha256-{digest}'" in policy
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a"]
    assert [link for link in links if re.match(r"[a-z]+:", link)] == []


def test_a_screen_reader_finds_its_way(made: tuple[Path, Path]) -> None:
    _, out = made
    page = Read((out / "report.html").read_text(encoding="utf-8"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(after - before for before, after in pairwise(levels)) == 1
    tags = [tag for tag, _ in page.tags]
    assert tags.count("main") == 1
    assert tags.count("caption") == tags.count("table")
    assert all(attrs.get("scope") for tag, attrs in page.tags if tag == "th")
    assert all(attrs.get("role") == "img" for tag, attrs in page.tags if tag == "svg")
    ids = [attrs["id"] for _, attrs in page.tags if attrs.get("id")]
    assert len(ids) == len(set(ids))


def test_what_a_model_says_is_text_and_shows_its_control_characters(
    reliability: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.report.own_tables.MOST_TEXTS", 20)
    with Store.open(reliability) as store:
        write_report(store, tmp_path / "out", ReportChoice(answers="all"))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    text = json.dumps(supplement(tmp_path / "out"), ensure_ascii=False)
    assert "␛[31mred␛[0m and ␇ bell" in text
    assert "right \\\\u202e to left" in text
    for one in (page, text):
        assert "\x1b" not in one
        assert "\u202e" not in one
        assert "a" * 281 not in one
    assert "<b>it</b> asks two things" in text
    assert "<b>it</b>" not in page
    (answers,) = (tmp_path / "out" / "answers").glob("*-reliability-smol.csv")
    given = list(csv.DictReader(answers.open(newline="")))
    assert sum(int(row["count"]) for row in given) == 4 * 6 * 2 * 2 * 30
    assert "a" * 100_000 in {row["answer"] for row in given}


def test_findings_come_first_and_verdicts_have_their_answers(
    reliability: Path, tmp_path: Path
) -> None:
    with Store.open(reliability) as store:
        write_report(store, tmp_path / "out", ReportChoice(audits=("reliability",)))
        write_report(
            store, tmp_path / "none", ReportChoice(audits=("reliability",), answers="none")
        )
    said = words(tmp_path / "out")
    assert (
        "Statements that pass the published test at 30 answers: smol 2 of 4 (50.0 %)"
        in said.replace("\u00a0", " ")
    )
    assert (
        said.index("What was asked")
        < said.index("keep their stance")
        < said.index("sides at random")
    )
    (group,) = supplement(tmp_path / "out")["statements"]
    assert group["items"][0]["ref"] == "env-03"
    assert len([one for one in group["items"] if one["given"]]) == 2
    (ruling,) = rows(tmp_path / "out", "rulings")
    assert {"otto", "wording at fault"} <= set(ruling)
    assert "otto" not in said
    (bare,) = supplement(tmp_path / "none")["statements"]
    assert not any(one["given"] for one in bare["items"])


def test_a_report_has_who_read_its_answers_and_how_well(tmp_path: Path) -> None:
    path = MAKERS["bias"](tmp_path / "audit.db")
    with Store.open(path) as store:
        write_report(store, tmp_path / "out", ReportChoice())
    page = Read((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert {"classifier-bart-stance", f"agreement-{QUEUE}"} <= {
        attributes.get("id") for _, attributes in page.tags
    }
    names = {table["name"] for table in tables(tmp_path / "out").values()}
    assert {"curve", "calibration", "confusion", "over_time"} <= names
    everything = (
        b"".join(contents(tmp_path / "out").values())
        + json.dumps(supplement(tmp_path / "out")).encode()
    )
    assert not any(name.encode() in everything for name in PEOPLE), "letters stand for people"
    commands = " ".join(command for _, command in rows(tmp_path / "out", "commands"))
    assert "workbench classifiers STORE --classifier bart-stance" in commands
    assert f"workbench agreement STORE --queue {QUEUE}" in commands


def test_of_audits_that_no_person_labels_for_a_report_has_no_agreement(tmp_path: Path) -> None:
    path = MAKERS["reliability"](tmp_path / "audit.db")
    with Store.open(path) as store:
        write_report(store, tmp_path / "out", ReportChoice())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The classifier" not in page
    assert "Agreement of annotators" not in page


def test_rulings_change_the_hash_and_what_rules_read_does_not(tmp_path: Path) -> None:
    path = MAKERS["reliability"](tmp_path / "audit.db")
    with Store.open(path) as store:
        before, at = content_hash(store.connection), last_event(store.connection)
        write_report(store, tmp_path / "out", ReportChoice())
        assert (content_hash(store.connection), last_event(store.connection)) == (before, at)
        tables = tmp_path / "out" / "tables"
        (said, *_) = (tables / "rulings.txt").read_text(encoding="utf-8").splitlines()
        note = said.rpartition(": 1 ruling: ")[2]
        assert note.endswith("differ without it.")
        (passing,) = tables.glob("*-reliability*.tex")
        assert note in passing.read_text(encoding="utf-8")
        assert f"Rulings. 1 ruling: {note}" in words(tmp_path / "out")
        for ruling in store.rulings.events():
            store.rulings.undo(ruling, auditor="otto")
        assert content_hash(store.connection) != before
        assert last_event(store.connection) > at


def test_the_page_counts_rulings_in_force_that_change_no_figure(tmp_path: Path) -> None:
    path = MAKERS["reliability"](tmp_path / "audit.db")
    with Store.open(path) as store:
        for ruling in store.rulings.events():
            store.rulings.undo(ruling, auditor="otto")
        write_report(store, tmp_path / "none", ReportChoice(audits=("reliability",)))
        for ref in ("mig-01", "env-03"):
            thing = ruling_subjects.find_subject(store, ref, None)
            ruling_subjects.add_ruling(
                store, thing, RulingVerdict.CONFIRMED, auditor="otto", reason="seen", reading=None
            )
        write_report(store, tmp_path / "two", ReportChoice(audits=("reliability",)))
    two = "2 rulings of auditors are in force: 2 change no figure. The supplement lists them."
    for folder, sentence in (("none", "No auditor has corrected or excluded any"), ("two", two)):
        assert sentence in words(tmp_path / folder)
        assert sentence in (tmp_path / folder / "methods.md").read_text(encoding="utf-8")


def test_the_page_says_where_many_answers_have_no_stance(tmp_path: Path) -> None:
    with Store.open(tmp_path / "audit.db", create=True) as store:
        store.instruments.add(instrument())
        for name, unreadable in (("clear", 0.02), ("mumbling", 0.4)):
            model = ScriptedModel(ScriptedPersona(unreadable=unreadable), name)
            plan = planning.plan(store, Design("small", name, samples=30), card=model.card)
            job = launch.create(store, plan.design, plan)
            attempt = store.jobs.claim(job, "test")
            asking.collect(store, plan, model, attempt=attempt, job=job)
            store.jobs.finish(job, attempt, "done", "all is stored")
        write_report(store, tmp_path / "out", ReportChoice(audits=("reliability",)))
    page = words(tmp_path / "out")
    assert re.search(r"mumbling: of its answers (3\d|4\d)\.\d % unreadable", page)
    assert "clear: of its answers" not in page


def test_an_unknown_name_or_an_empty_store_writes_nothing(
    reliability: Path, tmp_path: Path
) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"models": ("nobody",)}, "Models with answers: smol"),
        ({"instrument": "nothing"}, "small"),
        ({"audits": ("bias_score",)}, "Models with answers: smol"),
    ]
    with Store.open(reliability) as store:
        for given, said in wrong:
            with pytest.raises(UsageError, match=said):
                write_report(store, tmp_path / "out", ReportChoice(**given))
    with pytest.raises(UnknownName):
        ReportChoice(audits=("nonsense",))
    with (
        new_store(tmp_path / "empty.db") as store,
        pytest.raises(UsageError, match="no model has answered yet"),
    ):
        write_report(store, tmp_path / "out", ReportChoice())
    assert (
        sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("empty.db"))
        == []
    )


def test_a_folder_that_holds_something_is_left_alone(reliability: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with Store.open(reliability) as store:
        write_report(store, tmp_path / "out", ReportChoice())
        before = contents(tmp_path / "out")
        with pytest.raises(UsageError, match="the folder holds"):
            write_report(store, tmp_path / "out", ReportChoice())
        with pytest.raises(UsageError, match="this is a file"):
            write_report(store, tmp_path / "out" / "report.html", ReportChoice())
    assert contents(tmp_path / "out") == before


def test_a_disk_that_is_full_halfway_leaves_nothing(
    reliability: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    whole = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        written.append(self)
        if len(written) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with (
        Store.open(reliability) as store,
        pytest.raises(UsageError, match="No space left on device"),
    ):
        write_report(store, tmp_path / "out", ReportChoice())
    assert len(written) > 4
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from stores.core.store import Store
from workbench.report.options import ReportChoice, silent
from workbench.report.written import write_report
whole = Path.write_bytes
def last(self, data):
    whole(self, data)
    if "made" in self.parts:
        {then}
Path.write_bytes = last
with Store.open(Path(sys.argv[1])) as store:
    write_report(store, Path(sys.argv[2]), ReportChoice())
"""


def begun(store: Path, folder: Path, then: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Begin a report that does something after its first file; return its process and its hidden
    folder.
    """
    before = set(folder.parent.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(then=then), str(store), str(folder)]
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in set(folder.parent.iterdir()) - before:
            if any((path / "made").rglob("*.*")):
                return process, path
        time.sleep(0.02)
    process.kill()
    raise AssertionError(f"no file within a minute; the report ended with {process.wait()}")


def aged(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        with contextlib.suppress(FileNotFoundError):  # whoever draws its pictures tidies up
            os.utime(path, (0, 0), follow_symlinks=False)


@pytest.mark.slow
def test_what_a_killed_report_left_is_removed_a_day_later_and_nothing_else(
    reliability: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, elsewhere, temporary = (tmp_path / name for name in ("reports", "kept", "temporary"))
    for folder in (place, elsewhere, temporary):
        folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    (elsewhere / "file").touch()
    killed, left = begun(reliability, place / "out", "os.kill(os.getpid(), signal.SIGKILL)")
    assert killed.wait(30) == -signal.SIGKILL
    assert not list(temporary.iterdir()), "all of it is in the hidden folder"
    (left / "made" / "link").symlink_to(elsewhere)
    alive, held = begun(reliability, place / "other", "signal.pause()")
    try:
        others = [
            place / name
            for name in (
                ".workbench-notes",
                ".out.0123456789ab",
                f"{left.name}-mine",
                left.name.replace(MACHINE, "0" * 8),
            )
        ]
        for path in others:
            path.mkdir()
            aged(path)
        link = place / f".workbench-{MACHINE}-0123456789ab"
        link.symlink_to(elsewhere)
        aged(held)
        with Store.open(reliability) as store:
            write_report(store, place / "out", ReportChoice())
            assert left.exists(), "it is not a day old"
            aged(left)
            os.utime(left / "made" / "tables")  # the newest of it counts
            write_report(store, place / "second", ReportChoice())
            assert left.exists()
            aged(left)
            write_report(store, place / "third", ReportChoice())
        reports = {place / name for name in ("out", "second", "third")}
        assert set(place.iterdir()) == {*others, *reports, link, held}
        assert (elsewhere / "file").exists()
    finally:
        alive.kill()
        alive.wait()
    number, deadline = 0, time.monotonic() + 30
    # What draws its pictures may still end one.
    while held.exists() and time.monotonic() < deadline:
        aged(held)
        put({"a.txt": "a"}, place / f"files-{(number := number + 1)}")
    assert not held.exists(), "its writer was killed, and any writer beside it removes it"


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_without_the_extra_a_report_says_how_to_install_it(
    reliability: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    from workbench.report.page import environment

    environment.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with (
        Store.open(reliability) as store,
        pytest.raises(MissingPackage, match=r"pip install .*\[report\]"),
    ):
        write_report(store, tmp_path / "out", ReportChoice())
    assert list(tmp_path.iterdir()) == []
    environment.cache_clear()


def test_the_command_writes_a_report_and_says_where(
    reliability: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys, "report", reliability, tmp_path / "out", "--audit", "reliability", "--progress"
    )
    assert code == 0
    assert str(tmp_path / "out" / "report.html") in out
    assert err.splitlines()[-1] == "1.00 done"
    shares = [float(line.split()[0]) for line in err.splitlines()]
    assert shares == sorted(shares)
    code, _, err = run(capsys, "report", reliability, tmp_path / "out")
    assert code == 2
    assert "the folder holds" in err
    code, _, err = run(capsys, "report", reliability, tmp_path / "two", "--answers", "some")
    assert code == 2
    assert "--answers" in err


def test_a_report_by_the_published_rules_names_commands_that_judge_by_them(
    reliability: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(
        capsys, "report", reliability, tmp_path / "out", "--as-published", "--without-rulings"
    )
    assert code == 0, err
    methods = (tmp_path / "out" / "methods.md").read_text(encoding="utf-8")
    assert "| rule | coded |" in methods
    commands = [shlex.split(line) for line in methods.splitlines() if line.startswith("workbench ")]
    assert [
        "workbench",
        "report",
        "STORE",
        "OUT",
        "--without-rulings",
        "--as-published",
    ] in commands
    printing = [words for words in commands if words[:2] == ["workbench", "show"]]
    assert printing
    for _, *words in printing:
        code, out, err = run(
            capsys, *(str(reliability) if word == "STORE" else word for word in words)
        )
        assert code == 0, err
        found = json.loads(out)
        published = registry.audit(words[2]).options.published()
        assert {name: found["options"][name] for name in published} == published
        assert not found["rulings"]["counted"]


@pytest.mark.e2e
def test_a_browser_opens_the_page_and_the_policy_refuses_nothing(
    made: tuple[Path, Path], tmp_path: Path
) -> None:
    import subprocess

    browser = next(
        (
            found
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (found := shutil.which(name))
        ),
        "",
    )
    if not browser:
        pytest.skip("no Chromium is installed here")
    _, out = made
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr",
        "--virtual-time-budget=3000",
        "--dump-dom",
        (out / "report.html").as_uri(),
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=110, check=True)
    page = Read(told.stdout)
    assert any(tag == "details" for tag, _ in page.tags)  # the script unpacked the supplement
    assert "Refused" not in told.stderr
    assert "violates" not in told.stderr
    assert "Uncaught" not in told.stderr


@pytest.mark.e2e
def test_latex_compiles_every_table(made: tuple[Path, Path], tmp_path: Path) -> None:
    import subprocess

    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX is installed here")
    _, out = made
    tables = sorted((out / "tables").glob("*.tex"))
    inputs = "".join(f"\\input{{{path}}}\n\\clearpage\n" for path in map(str, tables))
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,amssymb}\n"
        f"\\usepackage[paperwidth=300cm,paperheight=300cm]{{geometry}}\n\\begin{{document}}\n{inputs}\\end{{document}}\n"
    )
    told = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=110,
        check=False,
    )
    assert told.returncode == 0, told.stdout.decode(errors="replace")[-2000:]

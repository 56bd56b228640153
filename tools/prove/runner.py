# SPDX-License-Identifier: MIT
"""Runs stages one after the other, even if some fail, and records the results."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.prove.process import Place, command_of, run, why_not
from tools.prove.readings import Json, Seen
from tools.prove.stages import Stage
from tools.prove.state import MOST_KILLS, State
from tools.prove.steps import Step

# Seconds to collect the evidence of a stage.
KEEPING = 8.0
# Seconds without which a stage that goes on leaves no new row: LibTorch loads first.
LEAST = 30.0


@dataclass(frozen=True)
class StepRecord:
    command: list[str]
    status: int | None = None
    seconds: float = 0.0
    note: str = ""  # why it did not run, or did not end


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _run_step(step: Step, place: Place, out: Path, end: float) -> StepRecord:
    if reason := why_not(step, place):
        return StepRecord(list(step.command), note=reason)
    try:
        command = command_of(step, place, out)
        if not command:
            return StepRecord(list(step.command), note="--filter leaves no case")
        left = end - time.monotonic()
        seconds = min(left, (step.seconds or left) * place.patience)
        if seconds <= 0:
            return StepRecord(command, note="the stage had no time left for it")
        began = time.monotonic()
        with (out / "log.txt").open("ab") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            status = run(command, step, place, log, seconds)
        took = round(time.monotonic() - began, 2)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", None) or "").strip()
        note = ": ".join(text for text in (str(error), said) if text)
        return StepRecord(list(step.command), status=127, note=note)
    note = ""
    if status is None:
        note = f"ended after {seconds:.0f} s"
    elif status:
        note = f"{Path(command[0]).name} ended with {status}: {_last_line(out)}"
    return StepRecord(command, status, took, note)


def _last_line(out: Path) -> str:
    """The last line of the step's output."""
    with (out / "log.txt").open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
        lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def status_of(stage: Stage, records: Sequence[StepRecord]) -> str:
    ran = [record for record in records if record.seconds or record.status is not None]
    if not ran:
        return "skipped"
    if any(record.status not in (0, None) for record in ran):
        return "failed"
    if all(record.status == 0 for record in ran):
        return "good"
    return "cut" if stage.goes_on else "timed out"


def run_stage(stage: Stage, place: Place, state: State, limit: float) -> Iterator[None]:
    """Yields after each step, and at the end."""
    out = place.state / stage.folder
    if state.is_again(stage):
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    rows = _rows(out)
    record: Json = {
        "stage": stage.number,
        "name": stage.name,
        "status": "running",
        "started": now(),
        "kills": state.kills(stage),
    }
    state.parts[stage.key] = record
    state.save()
    began = time.monotonic()
    records: list[StepRecord] = []
    for step in stage.steps:
        records.append(_run_step(step, place, out, began + limit))
        record["steps"] = [asdict(one) for one in records]
        state.save()
        yield
    status = status_of(stage, records)
    if status == "cut":
        kills = 0 if _rows(out) > rows else state.kills(stage) + 1
        # The end of the call may be the cause, but not each time.
        is_whole = limit >= stage.limit * place.patience
        if kills and (is_whole or kills >= MOST_KILLS):
            status = "stuck"
        record["kills"] = kills
    record |= {
        "status": status,
        "ended": now(),
        "seconds": round(time.monotonic() - began, 1),
        "look_at": _look_at(stage, Seen(out, record["steps"])),
    }
    state.save()
    text = f"{stage.key} {stage.name}: {record['status']} {record['seconds']} s"
    print(text, file=sys.stderr, flush=True)
    yield


def _rows(out: Path) -> int:
    return sum(len(one.rows) for one in Seen(out, []).results())


def _look_at(stage: Stage, seen: Seen) -> list[str]:
    """The points to look at. If reading them fails, the evidence is still kept."""
    notes = list(dict.fromkeys(s["note"] for s in seen.steps if s["note"]))
    if all(step["status"] is None and not step["seconds"] for step in seen.steps):
        return notes
    try:
        return stage.look_at(seen) + notes
    except (KeyError, ValueError, TypeError, OSError) as error:
        return [f"not readable: {error!r}", *notes]


def run_stages(
    stages: Sequence[Stage], place: Place, state: State, end: float
) -> Iterator[None]:
    """Runs each stage that has enough time before `end`. Yields after each step."""
    for stage in stages:
        left = end - time.monotonic() - KEEPING
        # The first has to do with what is left: a later call may have no more.
        least = 0.0 if stage == stages[0] else stage.limit
        if stage.goes_on:
            least = min(stage.limit, LEAST)
        if left > 0 and left >= least:
            limit = min(stage.limit * place.patience, left)
            yield from run_stage(stage, place, state, limit)

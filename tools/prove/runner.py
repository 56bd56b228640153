# SPDX-License-Identifier: MIT
"""Runs parts one after the other, even if some fail, and records the results."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.prove import monitor
from tools.prove.process import Place, command_of, environment_of, run, why_not
from tools.prove.readings import Seen, result
from tools.prove.state import Json, Part, State
from tools.prove.steps import Step

# Seconds to collect the evidence of a part.
KEEPING = 8.0


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
        seconds = min(left, step.seconds or left)
        if seconds <= 0:
            return StepRecord(command, note="the stage had no time left for it")
        with (out / "log.txt").open("ab") as log:
            log.write(f"\n$ {' '.join(command)}\n".encode())
            log.flush()
            ended = run(command, environment_of(step, place), log, seconds)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", None) or "").strip()
        note = ": ".join(text for text in (str(error), said) if text)
        return StepRecord(list(step.command), status=127, note=note)
    note = ""
    if ended.status is None:
        note = f"ended after {seconds:.0f} s"
    elif ended.status:
        note = f"{Path(command[0]).name} ended with {ended.status}: {_last_line(out)}"
    return StepRecord(command, ended.status, round(ended.seconds, 2), note)


def _last_line(out: Path) -> str:
    """The last line of the step's output."""
    with (out / "log.txt").open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
        lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def status_of(records: Sequence[StepRecord], goes_on: bool) -> str:
    ran = [record for record in records if record.seconds or record.status is not None]
    if not ran:
        return "skipped"
    late = "cut" if goes_on else "timed out"
    if any(record.status not in (0, None) for record in ran):
        return "failed"
    return late if any(record.status is None for record in ran) else "good"


def _has_all(part: Part, out: Path) -> bool:
    """Whether an earlier part completed all cases."""
    paths = [step.resumes.replace("{out}", str(out)) for step in part.stage.steps]
    return part.stage.goes_on and all(result(Path(path)).complete for path in paths)


def run_part(part: Part, place: Place, state: State, limit: float, again: bool) -> None:
    stage, out = part.stage, place.state / part.stage.folder
    if again and part.index == 1:
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    record: Json = {
        "stage": stage.number,
        "name": stage.name,
        "status": "running",
        "started": now(),
        "kills": state.kills(part),
        "clocks_before": monitor.clocks(),
    }
    state.parts[part.key] = record
    state.save()
    began = time.monotonic()
    if _has_all(part, out):
        records = [StepRecord([], note="an earlier part had all cases")]
    else:
        end = began + limit
        records = [_run_step(step, place, out, end) for step in stage.steps]
    steps = [asdict(one) for one in records]
    record |= {
        "status": status_of(records, stage.goes_on),
        "ended": now(),
        "seconds": round(time.monotonic() - began, 1),
        "clocks_after": monitor.clocks(),
        "steps": steps,
        "look_at": _look_at(part, Seen(out, steps)),
    }
    state.save()


def _look_at(part: Part, seen: Seen) -> list[str]:
    """The points to look at. If reading them fails, the evidence is still kept."""
    notes = list(dict.fromkeys(s["note"] for s in seen.steps if s["note"]))
    if all(step["status"] is None and not step["seconds"] for step in seen.steps):
        return notes
    try:
        return part.stage.look_at(seen) + notes
    except (KeyError, ValueError, TypeError, OSError) as error:
        return [f"not readable: {error!r}", *notes]


def run_parts(
    parts: Sequence[Part],
    place: Place,
    state: State,
    end: float,
    again: bool,
    after: Callable[[Part], None],
) -> list[Part]:
    """Runs each part that fits before `end`, then calls `after`; returns the others."""
    late = []
    for part in parts:
        left = end - time.monotonic() - KEEPING
        if part.stage.limit > left:
            late.append(part)
            continue
        limit = left if part.stage.takes_rest else part.stage.limit
        run_part(part, place, state, limit, again)
        after(part)
    return late

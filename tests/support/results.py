# SPDX-License-Identifier: MIT
"""Result files made up for tests."""

import json
from pathlib import Path
from typing import Any

CONTEXT = {
    "date": "2026-01-01T00:00:00+00:00",
    "git_revision": "a" * 40,
    "git_dirty": "false",
    "device": "a CPU",
    "torch": "2.11.0",
    "threads": "2",
    "suite_version": "1",
}


def entry(name: str, time_us: float, **counters: float) -> dict[str, Any]:
    return {
        "name": name,
        "run_type": "iteration",
        "real_time": time_us,
        "time_unit": "us",
        "label": "",
        **counters,
    }


def failure(name: str, reason: str) -> dict[str, str]:
    return {"name": name, "reason": reason}


def document(*entries: dict[str, Any], **others: Any) -> dict[str, Any]:
    """`context` adds to the usual one."""
    context = CONTEXT | others.pop("context", {})
    empty = {"skipped": [], "errors": [], "complete": True}
    return {"context": context, "benchmarks": list(entries)} | empty | others


def at(second: int) -> dict[str, str]:
    """The context of a process that began then."""
    return {"date": f"2026-01-01T00:{second // 60:02}:{second % 60:02}+00:00"}


def write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content))
    return path

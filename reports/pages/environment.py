# SPDX-License-Identifier: MIT
"""The facts and warnings about a run, and its environment."""

import ast
from datetime import UTC, datetime

from reports.results import text
from reports.results.rows import Result
from reports.results.text import Table


def _when(date: str) -> str:
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return date
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
        return f"{moment:%Y-%m-%d %H:%M} UTC"
    return f"{moment:%Y-%m-%d %H:%M}"


def _revision(context: dict[str, str]) -> str:
    revision = context.get("git_revision", "")[:12]
    dirty = context.get("git_dirty") == "true"
    return f"{revision} + uncommitted changes" if revision and dirty else revision


def _counts(result: Result) -> str:
    return (
        f"{len(result.rows)} measured, {len(result.skipped)} skipped, "
        f"{len(result.errors)} failed"
    )


def facts(result: Result) -> list[tuple[str, str]]:
    """The facts that a reader needs before the numbers."""
    context = result.context
    known = [
        ("Device", context.get("device", "")),
        ("Date", _when(context.get("date", ""))),
        ("Revision", _revision(context)),
        ("Suite", context.get("suite", "")),
        ("Threads", context.get("threads", "")),
        ("PyTorch", context.get("torch", "")),
        ("Driver", context.get("driver", "")),
        ("System", context.get("os", "")),
        ("Cases", _counts(result)),
    ]
    return [(name, value) for name, value in known if value]


def warnings(result: Result) -> list[str]:
    """The reasons to trust the numbers less than others."""
    reasons = []
    if result.of_null_gpu:
        reasons.append(
            "This ran on a null GPU, which does nothing: bytes and counts are exact, "
            "times are not measured and values not computed."
        )
    if not result.complete:
        reasons.append("The run was stopped early: cases are missing.")
    if result.context.get("git_dirty") == "true":
        reasons.append("The program was built from sources with uncommitted changes.")
    if result.errors:
        reasons.append(f"{text.plural(len(result.errors), 'case')} failed.")
    return reasons


def _cache(cache: dict[str, object]) -> str:
    size = text.size(float(str(cache["size"])))
    return f"L{cache['level']} {str(cache['type']).lower()} {size}"


def _formatted(key: str, value: str) -> str:
    """The value with its unit; an unreadable value stays unchanged."""
    try:
        if key.endswith("_bytes"):
            return text.size(float(value))
        if key == "caches":
            return ", ".join(_cache(cache) for cache in ast.literal_eval(value))
        if key == "load_avg":
            return ", ".join(text.significant(load) for load in ast.literal_eval(value))
    except (ValueError, SyntaxError, KeyError, TypeError):
        pass
    return value


def environment(result: Result) -> Table:
    lines = [[key, _formatted(key, value)] for key, value in result.context.items()]
    return Table(["key", "value"], sorted(lines))

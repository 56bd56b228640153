# SPDX-License-Identifier: MIT
"""A comparison as JSON, for programs."""

from dataclasses import asdict
from typing import Any

from reports.compare.comparison import ComparedRow, Comparison
from reports.compare.decision import Verdict
from reports.results.rows import Result


def _side(results: list[Result]) -> dict[str, Any]:
    return {
        "processes": sum(result.processes for result in results),
        "git_revisions": sorted(
            {result.context.get("git_revision", "unknown") for result in results}
        ),
        "dates": [result.context.get("date") for result in results],
    }


def _row(row: ComparedRow) -> dict[str, Any]:
    interval = row.decision.interval
    return {
        "name": row.name,
        "base_us": row.base_us,
        "new_us": row.new_us,
        **asdict(row.decision),
        "interval": list(interval.ratios) if interval else None,
        "changes": [asdict(change) for change in row.changes],
    }


def document(comparison: Comparison) -> dict[str, Any]:
    """Converts the comparison; ratios are new / base, times are in microseconds."""
    return {
        "kind": "trainbench comparison",
        "version": 1,
        "exit_code": comparison.exit_code,
        "verdicts": {str(verdict): len(comparison.of(verdict)) for verdict in Verdict},
        "confidence": comparison.options.confidence,
        "threshold": comparison.options.threshold,
        "base": _side(comparison.base),
        "new": _side(comparison.new),
        "differences": [asdict(difference) for difference in comparison.differences],
        "notes": comparison.notes,
        "rows": [_row(row) for row in comparison.rows],
        "unmatched": [asdict(row) for row in comparison.unmatched],
    }

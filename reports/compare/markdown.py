# SPDX-License-Identifier: MIT
"""A comparison as Markdown, for a comment on a pull request."""

import re

from reports.compare import text
from reports.compare.comparison import ComparedRow, Comparison
from reports.compare.decision import Verdict
from reports.results import text as human

_COLUMNS = ("row", "base", "new", "change", "interval", "verdict", "note")
_MARK = {
    Verdict.REGRESSED: "\N{CROSS MARK} ",
    Verdict.IMPROVED: "\N{WHITE HEAVY CHECK MARK} ",
}


def _escaped(text: str) -> str:
    """Escapes markup, which names and reasons from a file may contain."""
    plain = re.sub(r"([\\`*_{}\[\]|~#!])", r"\\\1", text.replace("\n", " "))
    # Prevents HTML, and @mentions of users.
    return plain.replace("<", "&lt;").replace("@", "@<!-- -->")


def _code(name: str) -> str:
    """Formats the name of a case; a damaged one may contain backticks or bars."""
    return f"`{name}`" if re.fullmatch(r"[\w/:.+-]+", name) else _escaped(name)


def _cells(row: ComparedRow, comparison: Comparison) -> list[str]:
    name, *numbers, verdict, _, note = text.cells(row, comparison)
    marked = f"{_MARK.get(row.decision.verdict, '')}{verdict}"
    return [_code(name), *numbers, marked, _escaped(note)]


def _rows(rows: list[ComparedRow], comparison: Comparison) -> str:
    return human.table(_COLUMNS, [_cells(row, comparison) for row in rows])


def render(comparison: Comparison) -> str:
    """Renders the verdict, then the differing rows, then all rows, folded."""
    decided = (Verdict.REGRESSED, Verdict.IMPROVED)
    shown = [
        row for row in comparison.rows if row.decision.verdict in decided or row.changes
    ]
    parts = [
        f"### trainbench: {text.verdict(comparison)}",
        f"{text.summary(comparison)}.",
        _escaped(
            f"Base {text.revision(comparison.base)}, "
            f"new {text.revision(comparison.new)}."
        ),
    ]
    remarks = [f"differs, allowed: {key}" for key in comparison.differences]
    remarks += comparison.notes
    if remarks:
        parts.append("\n".join(f"- {_escaped(remark)}" for remark in remarks))
    if shown:
        parts.append(_rows(shown, comparison))
    if comparison.unmatched:
        lines = [
            [_code(row.name), _escaped(row.base), _escaped(row.new), row.failure]
            for row in comparison.unmatched
        ]
        parts.append("Without a number on both sides:")
        parts.append(human.table(("row", "base", "new", ""), lines))
    parts.append("<details><summary>All rows</summary>")
    parts.append(_rows(comparison.rows, comparison))
    parts.append("</details>")
    parts.append(f"<sub>{text.explanation(comparison)}</sub>")
    return "\n\n".join(parts)

# SPDX-License-Identifier: MIT
"""Formats the advice as tables and as Markdown."""

from collections import Counter
from collections.abc import Sequence

from reports.advice.advice import Advice
from reports.advice.line import Line
from reports.answers.judging import Verdict
from reports.results import text
from reports.results.text import Table

NOT_A_SUM = (
    "Each line is one change alone, where it buys most: the lines do not add up."
)


def _verdicts(line: Line) -> str:
    """Counts the verdicts, e.g. "2 held, 1 failed; in bytes 1 held"."""
    order = (Verdict.HELD, Verdict.FAILED, Verdict.CANNOT_TELL)
    parts = []
    for in_bytes, prefix in ((False, ""), (True, "in bytes ")):
        checks = [one.verdict for one in line.checks if one.in_bytes == in_bytes]
        counts = [f"{checks.count(one)} {one.words}" for one in order if one in checks]
        if counts:
            parts.append(prefix + ", ".join(counts))
    return "; ".join(parts) or "no row to check it"


def _known(line: Line) -> str:
    """States whether the gain is measured or predicted, and whether the measurements
    refute the prediction."""
    refuted = f", but the checks measured {line.refuted}" if line.refuted else ""
    if line.measured is None:
        return f"predicted{refuted}"
    if line.gain_us == line.saved.us:
        return "measured"
    return f"measured; predicted {text.time(line.saved.us.value)}{refuted}"


def lines_table(lines: Sequence[Line]) -> Table:
    headings = ["change", "time saved", "as", "of the time", "memory saved"]
    headings += ["prediction", "in"]
    rows = [
        [
            line.change,
            # The errors of the rows are not the error of a prediction.
            line.gain_us.plus_minus(text.time)
            if line.measured
            else text.time(line.gain_us.value),
            _known(line),
            text.percent(line.gain_us.value / line.of_us),
            "-" if line.saved_bytes is None else text.size(line.saved_bytes),
            _verdicts(line),
            line.where,
        ]
        for line in lines
    ]
    return Table(headings, rows, "What would help; what is below 0 is a cost")


def reasons_table(lines: Sequence[Line]) -> Table:
    rows = [
        [line.change, line.assumption, ", ".join(dict.fromkeys(line.saved.rows))]
        for line in lines
    ]
    return Table(["change", "if", "from these rows"], rows, "Why")


def checks_table(lines: Sequence[Line]) -> Table:
    """Compares predicted and measured gains for each row that implements a change."""
    rows = [
        [
            line.change,
            check.formatted(check.predicted.value),
            check.measured.plus_minus(check.formatted),
            check.ratio.text(),
            check.verdict.words + (f": {check.lacks}" if check.lacks else ""),
            check.where,
        ]
        for line in lines
        for check in line.checks
    ]
    headings = ["change", "predicted", "measured", "ratio", "verdict", "row"]
    return Table(headings, rows, "Predicted and measured")


def gains(given: Advice) -> list[Line]:
    """Returns the lines that save time, largest first."""
    return [line for line in given.lines if line.gain_us.value > 0]


def _score(given: Advice) -> str:
    """Counts the verdicts on predictions of time; "" if the run checks none."""
    checks = [check for line in given.lines for check in line.checks]
    counts = Counter(check.verdict for check in checks if not check.in_bytes)
    if not counts:
        return ""
    return (
        f"Of {text.plural(counts.total(), 'prediction')} of time "
        f"{counts[Verdict.HELD]} held, {counts[Verdict.FAILED]} failed and "
        f"{counts[Verdict.CANNOT_TELL]} cannot be told. "
    )


def sentence(given: Advice) -> str:
    """States how many predictions held; "" if nothing helps."""
    return f"{_score(given)}{NOT_A_SUM}" if gains(given) else ""


def tables(given: Advice) -> list[Table]:
    """Makes all tables except the one with the reasons."""
    found = [lines_table(given.lines)] if given.lines else []
    if any(line.checks for line in given.lines):
        found.append(checks_table(given.lines))
    return [*found, given.headroom] if given.headroom else found


def lacking(given: Advice) -> str:
    """Lists missing data in one sentence; "" if nothing is missing."""
    return f"The run lacks: {'; '.join(given.lacks)}." if given.lacks else ""


def markdown(given: Advice) -> str:
    """Formats all of it as Markdown; "" if there is no table."""
    found = tables(given)
    if not found:
        return ""
    if given.lines:
        found.insert(1, reasons_table(given.lines))
    parts = [sentence(given), *(table.markdown() for table in found), lacking(given)]
    return "\n\n".join(filter(None, parts))

# SPDX-License-Identifier: MIT
"""Predicted and measured memory."""

from reports.answers.shapes import step_text
from reports.results import text
from reports.results.rows import Result


def memory(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("memory")
    if not rows:
        return None
    worst = max(abs(row["prediction_error"]) for row in rows)
    top = max(rows, key=lambda row: row["largest_allocation_bytes"])
    sentence = (
        f"The prediction is within {text.percent(worst)} of the measured peak on all "
        f"{len(rows)} rows; the largest single allocation, "
        f"{text.size(top['largest_allocation_bytes'])}, is made by "
        f"{top.findings['largest']} of `{step_text(top)}`."
    )
    lines = [
        [
            step_text(row),
            text.size(row["own_peak_bytes"]),
            text.size(row["predicted_peak_bytes"]),
            f"{row['prediction_error'] * 100:+.2f} %",
            text.size(row["largest_allocation_bytes"]),
            text.size(row["residual_bytes"]),
            # In files of before, peak_at was the predicted moment.
            row.findings.get("peak_at", "-")
            if "predicted_peak_at" in row.findings
            else "-",
        ]
        for row in rows
    ]
    headings = [
        "step",
        "measured",
        "predicted",
        "difference",
        "largest allocation",
        "residual stream",
        "peak reached by",
    ]
    return sentence, text.Table(headings, lines)

# SPDX-License-Identifier: MIT
"""Where the time of a step goes."""

from collections import defaultdict

from reports.answers.shapes import by_shape, step_text
from reports.results import text
from reports.results.rows import Result, Row


def _matmul_share(row: Row) -> str:
    return text.percent(row.counters.get("matmul_share", 0))


def breakdown(result: Result) -> tuple[str, text.Table] | None:
    steps = by_shape(result.of("breakdown"), "model", "precision", "mode")
    if not steps:
        return None
    # The last step of a run is the largest.
    rows = list(steps.values())[-1]
    whole = [row for row in rows if row.words.get("component") == "all"]
    phases = [row for row in whole if row.words["phase"] != "step"]
    parts = [
        row
        for row in rows
        if row.words.get("component") not in ("all", "block", "unattributed")
    ]
    lost = [row for row in rows if row.words.get("component") == "unattributed"]
    if not phases or not parts:
        return None
    by_component: dict[str, dict[str, float]] = defaultdict(dict)
    for row in parts:
        by_component[row.words["component"]][row.words["phase"]] = row["share"]
    order = sorted(by_component.items(), key=lambda item: -sum(item[1].values()))
    names = [row.words["phase"] for row in phases]
    lines = [
        [
            component,
            *(
                text.percent(shares[phase]) if phase in shares else "-"
                for phase in names
            ),
            text.percent(sum(shares.values())),
        ]
        for component, shares in order
    ]
    step = [row for row in whole if row.words["phase"] == "step"]
    lines.append(
        ["matrix products, of each column"]
        + [_matmul_share(row) for row in phases]
        + [_matmul_share(step[0]) if step else "-"]
    )
    largest, shares = order[0]
    sentence = (
        f"In `{step_text(rows[0])}` `{largest}` takes "
        f"{text.percent(sum(shares.values()))} of the time"
    )
    if lost:
        sentence += f"; {text.percent(lost[0]['share'])} could not be attributed"
    return f"{sentence}.", text.Table(["component", *names, "step"], lines)

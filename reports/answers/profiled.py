# SPDX-License-Identifier: MIT
"""What the profile of a step lists, beside the shares of its components."""

from reports.answers.breakdown import step_of, steps, table_of
from reports.answers.kernels import families_table, kernels_table, top_table
from reports.answers.measured import counter_of, over, time_of
from reports.answers.ranges import copies_table, layers_table, ranges_table
from reports.answers.shapes import by_shape, step_text
from reports.results import text
from reports.results.rows import Result


def forward_table(result: Result) -> text.Table | None:
    """The forward pass of every step with and without a profile."""
    lines = []
    for rows in by_shape(result.of("breakdown"), "model", "precision", "mode").values():
        step = step_of(rows)
        profiled, timed = step.phases.get("forward"), step.timed
        if profiled is None or timed is None or timed.get("forward_us") is None:
            continue
        one, other = time_of(profiled), counter_of(timed, "forward_us")
        lines.append(
            [
                step_text(profiled),
                one.plus_minus(text.time),
                other.plus_minus(text.time),
                over(one, other).text(),
                text.time(one.value - other.value),
            ]
        )
    headings = ["step", "profiled", "timed", "profiled over timed", "difference"]
    title = "The forward pass of each step with and without a profile"
    return text.Table(headings, lines, title=title) if lines else None


def details(result: Result) -> list[text.Table]:
    """What the profiles of all steps list. On a null GPU they have no times."""
    tables = [None if result.of_null_gpu else forward_table(result)]
    for place, (rows, other) in enumerate(steps(result)):
        if place and not result.of_null_gpu:
            tables.append(table_of(rows, other))
        if profile := result.profile_of(rows):
            step = step_text(rows[0])
            tables += [
                top_table(profile, step),
                families_table(profile, result.profile_of(other or []), step),
                kernels_table(profile, step),
                ranges_table(profile, step),
                layers_table(profile, step),
                copies_table(profile, step),
            ]
    return [table for table in tables if table is not None]

# SPDX-License-Identifier: MIT
"""What buckets would buy in the exchange of gradients."""

from collections.abc import Iterator

from reports.advice.line import Check, Line, largest
from reports.advice.run import Run
from reports.answers.measured import Measured, counter_of, minus, time_of
from reports.results.rows import Row

_BUCKETED = ("overlap_bucketed", "overlap_predicted_bucket")


def _exposed(row: Row) -> Measured:
    return counter_of(row, "predicted_exposed_us")


def _partner(row: Row, rows: list[Row]) -> Row | None:
    """The buckets with the least predicted cost, for the same step and ranks."""

    def job(row: Row) -> list[str]:
        other = ("strategy", "bucket_mb")
        return sorted(v for k, v in row.parameters.items() if k not in other)

    same = [other for other in rows if job(other) == job(row)]
    return min(same, key=lambda other: _exposed(other).value, default=None)


def _lines(run: Run) -> Iterator[Line]:
    rows = [row for row in run.of("ddp") if row.get("predicted_exposed_us")]
    bucketed = [row for row in rows if row.words.get("strategy") in _BUCKETED]
    for row in rows:
        if row.words.get("strategy") != "per_parameter":
            continue
        other = _partner(row, bucketed)
        if other is None:
            continue
        predicted = minus(_exposed(row), _exposed(other))
        measured = minus(time_of(row), time_of(other))
        yield Line(
            change="bucketed exchange",
            where=row.name,
            saved_us=predicted,
            of_us=row.time_us,
            saved_bytes=_peaks(row, other),
            assumption="a call takes the time that the all_reduce rows of as many "
            "ranks give for its bytes",
            rows=(row.name, *_links(run, row)),
            checks=(Check(row.name, other.name, predicted, measured),),
        )


def _peaks(row: Row, other: Row) -> float | None:
    ends = row.get("predicted_peak_bytes"), other.get("predicted_peak_bytes")
    return None if ends[0] is None or ends[1] is None else ends[0] - ends[1]


def _links(run: Run, row: Row) -> list[str]:
    """The rows that tell how long a call takes."""
    return [
        other.name
        for other in run.of("all_reduce")
        if other.parameters.get("ranks") == row.parameters.get("ranks")
    ]


def bucketed_exchange(run: Run) -> Iterator[Line]:
    yield from largest(list(_lines(run)))

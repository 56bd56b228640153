# SPDX-License-Identifier: MIT
"""All rows of a result in one table for a terminal, as the program prints them while it
runs; for several processes it shows the medians."""

from reports.answers.cells import formatted, shown
from reports.answers.disturbed import NOISY_CV, cv_of
from reports.answers.tables import PHASES, phases_of
from reports.results import text
from reports.results.rows import TIME, Result, Row

_CONTEXT = ("git_revision", "suite", "processes", "threads", "device", "torch")
_RATES = (
    *("kernel_flops_per_second", "flops_per_second"),
    *("busbw_bytes_per_second", "bytes_per_second"),
)
_HEADINGS = ("case", "time", "fwd/loss/bwd/comm/opt %", "rate", "peak mem")


def _shares(row: Row) -> str:
    phases = phases_of(row)
    whole = max(row.time_us, sum(phases.values()))
    shares = (f"{100 * phases[p] / whole:.0f}" if p in phases else "-" for p in PHASES)
    return "/".join(shares) if phases else "-"


def _share_of_peak(row: Row) -> float:
    """Returns the share of the fastest product, at the rate that the row shows."""
    shown, counted = (row.get(f"{name}flops_per_second") for name in ("kernel_", ""))
    return row["mfu_measured"] * (shown / counted if shown and counted else 1)


def _note(row: Row) -> str:
    notes = [f"{key}={word}" for key, word in row.findings.items() if key != "noisy"]
    if "mfu_measured" in row.counters:
        notes.append(f"{text.percent(_share_of_peak(row))} of peak")
    causes = [row.findings["noisy"]] if "noisy" in row.findings else []
    if (cv := cv_of(row)) > NOISY_CV:
        causes.append(f"cv {text.percent(cv)}")
    return ", ".join([*notes, *([f"noisy: {' + '.join(causes)}"] if causes else [])])


def _line(row: Row) -> list[str]:
    rate = next((name for name in _RATES if name in row.counters), None)
    return [
        row.name,
        shown(row, TIME),
        _shares(row),
        formatted(row, rate, row[rate]) if rate else "-",
        *(shown(row, name) for name in ("peak_bytes", "predicted_peak_bytes")),
        _note(row),
    ]


def settings(result: Result) -> list[str]:
    context = result.context | {"git_revision": result.revision}
    return [f"{key}: {context[key]}" for key in _CONTEXT if key in context]


def lines(result: Result) -> list[list[str]]:
    """Returns the cells of all rows, after the headings."""
    return [[*_HEADINGS, "predicted", "note"], *map(_line, result.rows)]


def counts(result: Result) -> str:
    cases = text.plural(len(result.names), "case")
    failed = f"{len(result.skipped)} skipped, {len(result.errors)} failed"
    return f"{cases}: {len(result.rows)} measured, {failed}"


def table(result: Result) -> str:
    cells = text.columns(lines(result))
    return "\n".join(["   ".join(settings(result)), "", *cells, "", counts(result)])

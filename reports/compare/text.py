# SPDX-License-Identifier: MIT
"""A comparison as text, for a terminal."""

from collections import Counter
from collections.abc import Sequence

from reports.compare.comparison import ComparedRow, Comparison
from reports.compare.decision import Decision, Verdict
from reports.compare.exact import Change, MetricChange
from reports.compare.intervals import MANY_PAIRS
from reports.results import text
from reports.results.rows import Result


def _percent(ratio: float) -> str:
    return f"{round((ratio - 1) * 100, 1) + 0.0:+.1f}"  # avoids "-0.0"


def change(ratio: float) -> str:
    return f"{_percent(ratio)} %"


def interval(decision: Decision) -> str:
    if decision.interval is None:
        return "-"
    low, high = decision.interval.ratios
    return f"{_percent(low)} to {_percent(high)} %"


def more(decision: Decision, ended: bool) -> str:
    """States how many more pairs an inconclusive row needs."""
    if decision.more_pairs is None:
        return ""
    if decision.pairs + decision.more_pairs >= MANY_PAIRS:
        return f"needs more than {MANY_PAIRS} pairs"
    # Without an interval the spread of the pairs is unknown.
    how = "about" if decision.interval else "at least"
    if ended and decision.interval:  # without one, the same command continues
        return f"a new run needs about {decision.pairs + decision.more_pairs} pairs"
    return f"needs {how} {text.plural(decision.more_pairs, 'more pair')}"


def metric(found: MetricChange) -> str:
    def formatted(value: float) -> str:
        return text.with_unit(value, found.unit)

    if found.new is None:
        return f"{found.metric} {formatted(found.base)} -> nothing ({found.change})"
    before, after = formatted(found.base), formatted(found.new)
    if before == after:  # rounding hides the difference
        before, after = f"{found.base:.17g}", f"{found.new:.17g}"
    return f"{found.metric} {before} -> {after} ({found.change})"


def revision(results: Sequence[Result]) -> str:
    """Lists the revisions of the runs, with + for uncommitted changes."""
    names = dict.fromkeys(result.revision for result in results)
    count = sum(result.processes for result in results)
    return f"{', '.join(names)} ({count} process{'' if count == 1 else 'es'})"


def note(row: ComparedRow, comparison: Comparison) -> str:
    threshold = row.decision.threshold
    is_floor = threshold > comparison.options.threshold
    floor = f"A/A floor {text.percent(threshold)}" if is_floor else ""
    parts = (more(row.decision, comparison.ended), floor, *map(metric, row.changes))
    return "; ".join(filter(None, parts))


HEADINGS = ("row", "base", "new", "change", "interval", "verdict", "based on", "note")


def cells(row: ComparedRow, comparison: Comparison) -> list[str]:
    return [
        row.name,
        text.time(row.base_us),
        text.time(row.new_us),
        change(row.decision.ratio),
        interval(row.decision),
        row.decision.verdict,
        row.decision.basis,
        note(row, comparison),
    ]


def verdict(comparison: Comparison) -> str:
    """States the verdict on the whole comparison."""
    if comparison.exit_code:
        worse = any(found.change is Change.WORSE for _, found in comparison.bad_changes)
        if worse or comparison.of(Verdict.REGRESSED):
            return "regressed"
        kinds = [str(found.change) for _, found in comparison.bad_changes]
        kinds += [row.failure for row in comparison.failed]
        return ", ".join(dict.fromkeys(kinds)).lower()
    open_rows = len(comparison.of(Verdict.INCONCLUSIVE))
    if open_rows == 0:
        return "no regression"
    if open_rows == len(comparison.rows):
        return "inconclusive"
    return f"no regression found, {open_rows} of {len(comparison.rows)} rows open"


def summary(comparison: Comparison) -> str:
    """Counts the rows with each verdict, and other failures."""
    parts = [f"{len(comparison.of(verdict))} {verdict}" for verdict in Verdict]
    metrics = Counter(found.change for _, found in comparison.bad_changes)
    rows = Counter(row.failure for row in comparison.failed)
    for noun, counts in (("exact metric", metrics), ("row", rows)):
        parts += [f"{text.plural(n, noun)} {how.lower()}" for how, n in counts.items()]
    return f"{text.plural(len(comparison.rows), 'row')}: {', '.join(parts)}"


def explanation(comparison: Comparison) -> str:
    """Explains columns and verdicts in one paragraph."""
    high = 100 * comparison.options.threshold
    made = [row.decision for row in comparison.rows if row.decision.interval]
    # An A/A spread's: `max_spread` has the error for any other noise.
    provided = "" if all(one.pairs for one in made) else ", if noise is normal"
    return (
        "change: new time / base time - 1 (of pairs: the median of their changes). "
        "base and new: medians of each side. REGRESSED, IMPROVED: the whole interval "
        f"is above +{high:g} % or below -{high / (1 + high / 100):.3g} % (or the row's "
        f"noise floor); EQUIVALENT: between. All intervals of the table hold together "
        f"with {comparison.options.confidence * 100:g} % confidence{provided}."
    )


def render(comparison: Comparison) -> str:
    lines = [
        f"base: {revision(comparison.base)}   new: {revision(comparison.new)}",
        *(f"differs: {key} (allowed)" for key in comparison.differences),
        *(f"note: {note}" for note in comparison.notes),
        "",
        *text.columns(
            [HEADINGS, *(cells(row, comparison) for row in comparison.rows)],
            left=(0, -3, -2, -1),
        ),
    ]
    if comparison.unmatched:
        count = text.plural(len(comparison.unmatched), "row")
        lines += ["", f"{count} without a number on both sides; --filter skips some:"]
        lines += [
            f"  {row.failure:<7}{row.name}: base {row.base}; new {row.new}"
            for row in comparison.unmatched
        ]
    worst = comparison.of(Verdict.REGRESSED)
    lines += ["", explanation(comparison)]
    lines += [f"REGRESSED {row.name} {change(row.decision.ratio)}" for row in worst]
    lines += [f"{row.name}: {metric(found)}" for row, found in comparison.bad_changes]
    return "\n".join([*lines, summary(comparison)])

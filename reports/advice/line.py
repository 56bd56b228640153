# SPDX-License-Identifier: MIT
"""The predicted gain from one change, and the measurements that check it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reports.advice.run import Estimate
from reports.answers.judging import Verdict, judged_together
from reports.answers.measured import Measured, exactly, ratio_to, time_of
from reports.answers.shapes import STEP, step_text
from reports.results import text
from reports.results.rows import Row

CORRECT = (0.8, 1.2)  # measured over predicted


@dataclass(frozen=True)
class Check:
    """The change as two rows measured it."""

    where: str  # the row with the change
    predicted: Measured  # the gain, in the same unit as the measured one
    measured: Measured
    in_bytes: bool = False  # False: in microseconds
    verdict: Verdict = Verdict.CANNOT_TELL
    lacks: str = ""  # what an open verdict lacks

    def formatted(self, gain: float) -> str:
        return (text.size if self.in_bytes else text.time)(gain)

    @property
    def ratio(self) -> Measured:
        """Measured over predicted."""
        return ratio_to(self.measured, self.predicted)


@dataclass(frozen=True)
class Line:
    change: str
    base: Row  # the step, or an operation that was timed alone, without the change
    saved: Estimate  # as predicted; negative: it costs time
    assumption: str
    saved_bytes: float | None = None  # negative: it costs memory
    checks: tuple[Check, ...] = ()  # none if no row implements the change
    is_of_step: bool = True  # False: an operation that was timed alone
    # The step without the change and with it, if the run has timed both.
    measured: tuple[Row, Row] | None = None

    @property
    def where(self) -> str:
        """The name of the step or row."""
        row = self.measured[0] if self.measured else self.base
        return step_text(row) if row.words.keys() >= {*STEP} else row.name

    @property
    def gain_us(self) -> Measured:
        """The measured gain, or else the predicted one."""
        return gained(*self.measured) if self.measured else self.saved.us

    @property
    def refuted(self) -> str:
        """What checks of the time measured, if they refute the prediction and none
        confirms it: "less", "more" or "less or more"; "" otherwise."""
        checks = [check for check in self.checks if not check.in_bytes]
        if any(check.verdict is Verdict.HELD for check in checks):
            return ""
        failed = [check for check in checks if check.verdict is Verdict.FAILED]
        less = [check.measured.value < check.predicted.value for check in failed]
        return " or ".join(sorted({"less" if is_less else "more" for is_less in less}))

    @property
    def of_us(self) -> float:
        """The time that the gain shortens."""
        return (self.measured[0] if self.measured else self.base).time_us


def _judged(check: Check, verdict: Verdict, lacks: str) -> Check:
    are_known = check.predicted.is_known and check.measured.is_known
    if are_known and not check.ratio.is_known:
        lacks = "the predicted gain may be 0"
    return replace(check, verdict=verdict, lacks=lacks)


def judged(lines: Sequence[Line]) -> list[Line]:
    """Judges all checks, together."""
    ratios = [check.ratio for line in lines for check in line.checks]
    found = judged_together([(ratio, CORRECT) for ratio in ratios])
    return [
        replace(line, checks=tuple(_judged(one, *next(found)) for one in line.checks))
        for line in lines
    ]


def gained(base: Row, row: Row) -> Measured:
    """Returns the time that the change saved: for rows in turns from their ratio, in
    which what disturbed both cancels out."""
    ratio = time_of(row) / time_of(base)
    if ratio.is_fair and not base.each:
        return (exactly(1) - ratio) * base.time_us
    return time_of(base) - time_of(row)


def timed(base: Row, row: Row, predicted: Measured) -> Check:
    return Check(row.name, predicted, gained(base, row))


def saved_bytes(
    base: Row, row: Row, counter: str = "predicted_peak_bytes"
) -> float | None:
    """Returns the bytes saved; None if a row lacks the counter."""
    if base.get(counter) is None or row.get(counter) is None:
        return None
    return base[counter] - row[counter]


def sized(base: Row, row: Row) -> Iterator[Check]:
    """Yields a check of the peak that dry runs predict, if the change affects it."""
    dry, peak = saved_bytes(base, row), saved_bytes(base, row, "peak_bytes")
    if dry and peak is not None:
        gains = exactly(dry), exactly(peak)
        yield Check(row.name, *gains, in_bytes=True)


def order(line: Line) -> tuple[bool, float, float]:
    """Returns a sort key: the largest gain first, in time, then in memory; a prediction
    comes last if the run measured less."""
    is_too_large = line.measured is None and "less" in line.refuted
    return is_too_large, -line.gain_us.value, -(line.saved_bytes or 0)


def largest(
    lines: Iterable[Line | None], checks: Iterable[Check] = ()
) -> Iterator[Line]:
    """Yields the line of the step in which the change saves most, if it saves time,
    with these checks and its own."""
    best = min(filter(None, lines), key=order, default=None)
    if best and max(best.saved.us.value, best.gain_us.value) > 0:
        yield replace(best, checks=(*best.checks, *checks))

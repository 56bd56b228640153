# SPDX-License-Identifier: MIT
"""The time of a collective or a transfer by the alpha-beta model: t(S) = alpha +
S / bandwidth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from reports.answers.conclusions import CANNOT_TELL
from reports.answers.measured import Measured, time_of, total
from reports.results import text
from reports.results.rows import Result, Row, grouped

ROUNDING = 1e-9  # of the shortest time, far below the resolution of a clock


@dataclass(frozen=True)
class AlphaBeta:
    alpha_us: float  # latency: the time of a call that moves no bytes
    us_per_byte: float

    @property
    def bytes_per_second(self) -> float:
        """The bandwidth; infinite if the time does not depend on size."""
        return 1e6 / self.us_per_byte if self.us_per_byte else math.inf

    @property
    def half_rate_bytes(self) -> float:
        """S_1/2 = alpha * bandwidth: the size where S / t(S) is half the bandwidth."""
        return self.alpha_us / self.us_per_byte if self.us_per_byte else math.inf

    def time_us(self, size: float) -> float:
        return self.alpha_us + self.us_per_byte * size


def fit_alpha_beta(sizes: Sequence[float], times_us: Sequence[float]) -> AlphaBeta:
    """Minimizes the sum of (t(S) / measured - 1)^2 with both parameters >= 0.

    The error is relative so that small sizes, which determine alpha, weigh as much as
    large ones. All values must be above 0, and at least two sizes different.
    """
    bytes_, times = np.asarray(sizes, float), np.asarray(times_us, float)
    # Sizes are scaled by the largest, so that both columns have similar magnitude.
    unit = bytes_.max()
    columns = np.stack([1 / times, bytes_ / unit / times], axis=1)
    fitted, _ = nnls(columns, np.ones(len(times)))
    # A parameter below the rounding error of the other one is zero.
    fitted[fitted < ROUNDING * times.min()] = 0
    return AlphaBeta(float(fitted[0]), float(fitted[1] / unit))


def law_text(fit: AlphaBeta) -> str:
    """Formats e.g. "50 us + S / (2 GB/s)"."""
    start = text.time(fit.alpha_us)
    if not fit.us_per_byte:
        return f"{start}, whatever S"
    return f"{start} + S / ({text.rate(fit.bytes_per_second, 'B/s')})"


KNOWN = 0.5  # the largest relative error of the parameters of a stated law
FITS = 0.25  # the largest error of a time by a stated law


def _stated_law(series: str, sizes: list[float], times: list[Measured]) -> str:
    """States the law if the intervals of the times determine its parameters.

    The law is refitted for each time moved, alone, to the end of its interval.
    """
    values = [time.value for time in times]
    fit = fit_alpha_beta(sizes, values)
    if not all(time.is_known for time in times):
        return f"{series} t(S) {CANNOT_TELL}: {times[0].runs_to_tell(0)}"
    alphas, betas = [], []
    for i, time in enumerate(times):
        moved = fit_alpha_beta(sizes, [*values[:i], time.high, *values[i + 1 :]])
        alphas.append(moved.alpha_us - fit.alpha_us)
        betas.append(moved.us_per_byte - fit.us_per_byte)
    widest = max(_relative(alphas, fit.alpha_us), _relative(betas, fit.us_per_byte))
    if widest > KNOWN:
        of_law = replace(times[0], value=1, low=1 - widest, high=1 + widest)
        runs = of_law.runs_to_tell(1 - KNOWN)
        return f"{series} t(S) {CANNOT_TELL}: {runs}"
    pairs = zip(sizes, values, strict=True)
    misfit = max(abs(fit.time_us(size) / us - 1) for size, us in pairs)
    if misfit > FITS:
        far = text.percent(misfit)
        return f"{series} t(S) does not follow alpha + S / bandwidth, by up to {far}"
    law = f"{series} t(S) = {law_text(fit)}"
    if fit.us_per_byte and fit.alpha_us:
        law += f", half of that rate from {text.size(fit.half_rate_bytes)} on"
    elif fit.us_per_byte:
        law += ", at that rate from the first byte on"
    is_fair = total(times).is_fair
    known = f"parameters ± {text.percent(widest)}" if is_fair else "no interval"
    if misfit > widest:
        known += f"; a time is off by up to {text.percent(misfit)}"
    return f"{law} ({known})"


def _relative(errors: list[float], value: float) -> float:
    """Returns the root of the sum of squares over the value; 0 if the value is 0."""
    return math.hypot(*errors) / value if value else 0.0


def series_of(result: Result) -> dict[str, list[Row]]:
    """Groups the all-reduces by backend and number of ranks."""
    return grouped(
        result.of("all_reduce"),
        lambda row: f"{row.words['backend']}, {row.numbers.get('ranks')} ranks",
    )


def sentence(result: Result) -> str:
    """States the law of each backend and number of ranks."""
    return _laws(series_of(result))


def transfers(result: Result) -> str:
    """States the law of each direction and kind of host memory."""
    rows = [row for row in result.of("transfer") if row.get("bytes")]
    return _laws(grouped(rows, lambda row: " ".join(row.words.values())))


def _laws(series: dict[str, list[Row]]) -> str:
    laws = []
    for name, rows in series.items():
        sizes = [row.positive("bytes") for row in rows]
        if len(set(sizes)) > 1:
            times = [time_of(row) for row in rows]
            laws.append(_stated_law(f"{name}:", sizes, times))
    return f"{'; '.join(laws)}." if laws else ""

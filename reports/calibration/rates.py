# SPDX-License-Identifier: MIT
"""Observed rates, with their upper confidence bounds."""

from scipy.stats import beta

from reports.results import text

CONFIDENCE = 0.95


def at_most(count: int, of: int) -> float:
    """The upper end of the Clopper-Pearson interval of a rate, two-sided 95 %."""
    if count == of:
        return 1.0
    return float(beta.ppf((1 + CONFIDENCE) / 2, count + 1, of - count))


def share(count: int, of: int) -> str:
    """The rate in percent; 100 % only if all count."""
    if of - count and count / of > 0.99:
        return "> 99 %"
    return text.percent(count / of)


def bounded(count: int, of: int) -> str:
    """The rate with the upper end of its interval."""
    return f"{share(count, of)} (≤ {text.percent(at_most(count, of))})"

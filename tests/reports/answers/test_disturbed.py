# SPDX-License-Identifier: MIT
"""Rows that were disturbed, the worst first."""

from reports.answers.disturbed import disturbed
from results import entry, parsed


def test_a_wide_interval_counts_as_much_as_samples_that_vary() -> None:
    found = disturbed(
        parsed(
            entry("e/steady", 100, half_width=0.05, cv=0.01),
            entry("e/varies", 100, half_width=0.05, cv=0.3),
            entry("e/wide", 100, half_width=2, cv=0.15),
            entry("e/said", 100, " | wide=±300 %", half_width=1),
        )
    )
    assert [(row.name, why) for row, why in found] == [
        ("e/wide", ["its samples vary by 15 %", "its interval is 13.5 us to 739 us"]),
        ("e/said", ["its interval is ±300 %"]),
        ("e/varies", ["its samples vary by 30 %"]),
    ]

# SPDX-License-Identifier: MIT
"""Which runs count as pairs of neighbors."""

import pytest

from reports.compare.environment import alternate
from reports.results.result_file import parse
from reports.results.rows import Result
from results import at, document, entry, parsed


def sides(order: str, step: int = 1) -> tuple[list[Result], list[Result]]:
    """Returns one run per letter, `step` seconds apart."""
    runs = [
        parsed(entry("e/one", 10 + i), context=at(i * step))
        for i, _ in enumerate(order)
    ]
    return (
        [run for run, letter in zip(runs, order, strict=True) if letter == "A"],
        [run for run, letter in zip(runs, order, strict=True) if letter == "B"],
    )


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("AB", True),
        ("ABBA", True),
        ("ABBAABBA", True),
        ("ABABBAAB", True),  # random order
        ("BAABABBA", True),
        ("ABABABAB", False),  # B would suffer from every drift
        ("ABABABABABABABBA", False),
        ("AABB", False),
        ("ABAABB", False),
        ("AAB", False),
    ],
)
def test_orders(order: str, expected: bool) -> None:
    assert alternate(*sides(order)) is expected


def test_starts_of_one_second_have_no_order() -> None:
    assert not alternate(*sides("ABABABAB", step=0))
    base, _ = sides("ABBA")
    assert alternate(base[:1], base[:1])


def test_a_run_without_a_date_has_no_neighbor() -> None:
    base, new = sides("AB")
    undated = parse(document(entry("e/one", 1)) | {"context": {}})
    assert alternate(base, new) and not alternate(base, [undated])

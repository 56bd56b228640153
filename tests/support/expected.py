# SPDX-License-Identifier: MIT
"""Makes the expectations of a result file for tests."""

from typing import Any


def expected(
    experiment: str,
    counter: str,
    relation: str,
    value: float,
    tolerance: float = 0,
    /,
    **quantity: Any,
) -> dict[str, Any]:
    """Makes one expectation. `quantity` has per, rows, versus and along."""
    empty = {"per": "", "rows": {}, "versus": {}, "along": ""}
    return {
        "experiment": experiment,
        "text": f"the {counter} of {experiment}",
        "quantity": {"counter": counter} | empty | quantity,
        "relation": relation,
        "expected": value,
        "tolerance": tolerance,
    }

# SPDX-License-Identifier: MIT
"""The flag --rates of tools/plan, and the time that it adds to a row."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.results.records import NotAResult
from tools.planner.timing import names

if TYPE_CHECKING:
    from tools.planner.timing.rates import Device


def add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rates",
        metavar="DEVICE|RESULT.json",
        help="predict the time of a step at the rates of a device, one of "
        f"{', '.join(names())}; or of the CPU that a full run measured",
    )


def device(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> "Device | None":
    """Reads the flag, and exits with the parser's error if the device is unknown."""
    name: str | None = given.rates
    if name is None:
        return None
    path = Path(name)
    if name not in names() and path.suffix != ".json":
        allowed = f"{', '.join(names())}, or a RESULT.json"
        parser.error(f"--rates is {name!r}; allowed: {allowed}")
    # These import numpy and scipy, which takes a second.
    from reports.results.rows import load
    from tools.planner.timing.rates import devices, of_result

    if name in devices():
        return devices()[name]
    try:
        return of_result(load(path))
    except (NotAResult, ValueError) as error:
        parser.error(f"argument --rates: {error}")


def time_of(
    device: "Device", row: Mapping[str, Any], query: Mapping[str, Any]
) -> dict[str, Any]:
    """Predicts the time of a row of the plan, which must have its operators."""
    from tools.planner.timing.step import Ranks, TimedJob, step_time

    ranks = Ranks(tensor=query["tensor_ranks"])
    found = step_time(
        device, TimedJob("", query["batch"], query["seq"], ranks), lambda _: row
    )
    return {
        "predicted_us": found.us,
        "low_us": found.low_us,
        "high_us": found.high_us,
        "parts_us": dict(found.parts),
    }

# SPDX-License-Identifier: MIT
"""Predicts the time of a step on a device that need not be present."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.planner.recipes import read_table

if TYPE_CHECKING:
    from tools.planner.timing.rates import Device

TABLE = Path(__file__).with_name("devices.tsv")
NODE = 8  # GPUs of a node


def names() -> list[str]:
    """Names of the devices."""
    return list(dict.fromkeys(row["device"] for row in read_table(TABLE)))


def add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rates",
        metavar="DEVICE|RESULT.json",
        help="predict the time of a step at the rates of a device, one of "
        f"{', '.join(names())}; or of the CPU that a full run measured",
    )


def device(parser: argparse.ArgumentParser, name: str) -> "Device":
    """Reads --rates, and exits with the parser's error if the device is unknown."""
    path = Path(name)
    if name not in names() and path.suffix != ".json":
        allowed = f"{', '.join(names())}, or a RESULT.json"
        parser.error(f"--rates is {name!r}; allowed: {allowed}")
    # These import numpy and scipy, which takes a second.
    from reports.results.result_file import load
    from reports.results.rows import NotAResult
    from tools.planner.timing.rates import devices, of_result

    if name in devices():
        return devices()[name]
    try:
        return of_result(load(path))
    except (NotAResult, ValueError) as error:
        parser.error(f"argument --rates: {error}")


def predicted(
    device: "Device", row: dict[str, Any], query: Mapping[str, Any]
) -> dict[str, Any]:
    """Predicts the time of a row of the plan from its operators. Raises ValueError if
    the device lacks a rate."""
    from tools.planner.timing.step import TimedJob, step_time

    job = TimedJob("", query["batch"], query["seq"], query["tensor_ranks"])
    try:
        found = step_time(device, job, lambda _: row)
    except ValueError as error:
        raise ValueError(f"argument --rates: {error}") from error
    return {
        "predicted_us": found.us,
        "low_us": found.low_us,
        "high_us": found.high_us,
        "parts_us": dict(found.parts),
    }

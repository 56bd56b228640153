# SPDX-License-Identifier: MIT
"""How long a step takes on a device that need not be at hand."""

from pathlib import Path

from tools.planner.recipes import read_table

TABLE = Path(__file__).with_name("devices.tsv")


def names() -> list[str]:
    """Of the devices."""
    return list(dict.fromkeys(row["device"] for row in read_table(TABLE)))

# SPDX-License-Identifier: MIT
"""Predicts the time of a step on a device that need not be present."""

from pathlib import Path

from tools.planner.recipes import read_table

TABLE = Path(__file__).with_name("devices.tsv")
NODE = 8  # GPUs of a node


def names() -> list[str]:
    """Names of the devices."""
    return list(dict.fromkeys(row["device"] for row in read_table(TABLE)))

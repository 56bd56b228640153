# SPDX-License-Identifier: MIT
"""What a machine cannot tell from nothing: the result of an A/A comparison."""

from dataclasses import dataclass

from reports.compare.decision import RowNoise


@dataclass(frozen=True)
class NoiseFile:
    context: dict[str, str]
    rows: dict[str, RowNoise]

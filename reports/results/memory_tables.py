# SPDX-License-Identifier: MIT
"""What a step's tensors are, as its result file holds them.

fixtures/steps/memory_tables.h says what each number is.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tensors:
    """Tensors of one kind, which differ in their layer only."""

    operator: str
    component: str  # "" outside the model
    phase: str  # "" before the step
    shape: str
    dtype: str
    layers: str  # "0-3, 7"
    count: int
    bytes: int  # of one
    total_bytes: int


@dataclass
class Kept:
    """A tensor that a block keeps for its backward pass."""

    component: str
    dtype: str
    operator: str = ""
    tensor: str = ""  # the name of a predicted one, in some files of before
    shape: str = ""
    predicted_bytes: int | None = None
    recorded_bytes: int | None = None


@dataclass(frozen=True)
class Block:
    layer: int
    predicted_bytes: int
    recorded_bytes: int
    tensors: list[Kept]


@dataclass(frozen=True)
class MemoryTable:
    case: str
    allocations: list[Tensors]
    at_peak: list[Tensors]
    block: Block | None = None  # inference keeps nothing

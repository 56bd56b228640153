# SPDX-License-Identifier: MIT
"""A step's tensors, as the result file records them.

fixtures/steps/memory_tables.h defines each number.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tensors:
    """Tensors that differ only in their layer."""

    operator: str
    component: str  # "" outside the model
    phase: str  # "" before the step
    shape: str
    dtype: str
    layers: str  # "0-3, 7"
    count: int
    bytes: int  # of one tensor
    total_bytes: int


@dataclass
class Kept:
    """A tensor that a block saves for its backward pass."""

    component: str
    dtype: str
    operator: str = ""
    tensor: str = ""  # the name of a predicted one; only in older files
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
    block: Block | None = None  # None for inference, which saves nothing

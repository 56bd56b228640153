# SPDX-License-Identifier: MIT
"""What a step's tensors are, as its result file holds them.

fixtures/steps/memory_tables.h says what each number is.
"""

from dataclasses import dataclass
from typing import Any

from reports.results.checked_entry import number_of, word_of


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


@dataclass(frozen=True)
class Kept:
    """A tensor that a block keeps for its backward pass."""

    operator: str  # in some files of before the name of a predicted tensor
    component: str
    shape: str
    dtype: str
    predicted_bytes: int | None
    recorded_bytes: int | None


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
    block: Block | None  # inference keeps nothing


def _count(entry: dict[str, Any], key: str) -> int:
    return int(number_of(entry, key, "a list of tensors"))


def _optional(entry: dict[str, Any], key: str) -> int | None:
    return _count(entry, key) if key in entry else None


def _tensors(entry: dict[str, Any]) -> Tensors:
    return Tensors(
        operator=word_of(entry, "operator"),
        component=word_of(entry, "component"),
        phase=word_of(entry, "phase"),
        shape=word_of(entry, "shape"),
        dtype=word_of(entry, "dtype"),
        layers=word_of(entry, "layers"),
        count=_count(entry, "count"),
        bytes=_count(entry, "bytes"),
        total_bytes=_count(entry, "total_bytes"),
    )


def _kept(entry: dict[str, Any]) -> Kept:
    return Kept(
        operator=word_of(entry, "operator" if "operator" in entry else "tensor"),
        component=word_of(entry, "component"),
        shape=word_of(entry, "shape") if "shape" in entry else "",
        dtype=word_of(entry, "dtype"),
        predicted_bytes=_optional(entry, "predicted_bytes"),
        recorded_bytes=_optional(entry, "recorded_bytes"),
    )


def _block(entry: dict[str, Any]) -> Block:
    return Block(
        layer=_count(entry, "layer"),
        predicted_bytes=_count(entry, "predicted_bytes"),
        recorded_bytes=_count(entry, "recorded_bytes"),
        tensors=[_kept(tensor) for tensor in entry["tensors"]],
    )


def memory_table(entry: dict[str, Any]) -> MemoryTable:
    """Errors: NotAResult, KeyError, TypeError and AttributeError, if it is none."""
    return MemoryTable(
        word_of(entry, "case"),
        [_tensors(tensors) for tensors in entry["allocations"]],
        [_tensors(tensors) for tensors in entry["at_peak"]],
        _block(entry["block"]) if "block" in entry else None,
    )

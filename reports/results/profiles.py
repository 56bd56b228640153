# SPDX-License-Identifier: MIT
"""The tables of a profiled step, and of a recorded one, as the result file has them.

fixtures/steps/profile_document.h and fixtures/steps/memory_tables.h define each number.
A null GPU has no times.
"""

from dataclasses import dataclass

from reports.results.kernel_names import shortened


@dataclass(frozen=True)
class Times:
    """Statistics of a duration in microseconds."""

    mean: float
    median: float
    min: float
    max: float
    stddev: float


@dataclass(frozen=True)
class KernelTimes(Times):
    """Times of a kernel's instances in all passes."""

    total: float  # in a step
    totals: list[float]  # of each pass


@dataclass(frozen=True)
class Kernel:
    """A kernel or an operator."""

    phase: str
    name: str
    family: str
    instances: int  # in a step
    time_us: KernelTimes | None = None

    @property
    def total_us(self) -> float:
        return self.time_us.total if self.time_us else 0.0


@dataclass(frozen=True)
class Range:
    """A part of a step, with statistics over the passes."""

    phase: str
    range: str  # its name
    instances: int  # in a step
    host_us: Times | None = None
    device_us: Times | None = None
    instance_us: Times | None = None  # of one instance


@dataclass(frozen=True)
class Copies:
    """Copies of one kind in a step."""

    phase: str
    component: str
    direction: str
    name: str
    count: int
    bytes: int
    time_us: float | None = None
    bytes_per_second: float | None = None


@dataclass(frozen=True)
class Profile:
    case: str
    passes: int
    of: str  # "kernels" or "operators"
    kernels: list[Kernel]
    ranges: list[Range]
    copies: list[Copies]

    def __post_init__(self) -> None:
        for kernel in self.kernels:
            count = len(kernel.time_us.totals) if kernel.time_us else self.passes
            if count != self.passes:
                raise ValueError(
                    f"totals in a profile are {count}; allowed: one for each of its "
                    f"{self.passes} passes"
                )

    def short(self, name: str) -> str:
        """Returns the name of a kernel, short enough for a line."""
        return name if self.of == "operators" else shortened(name)


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

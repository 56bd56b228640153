# SPDX-License-Identifier: MIT
"""Checks that two sets of runs were made under comparable conditions, and in turns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from reports.results.refused import Refused
from reports.results.rows import NULL_GPU, PREDICTED, Result

# If one of these differs, a difference in time is not evidence about the code.
MUST_AGREE = tuple(
    """
    device device_kind device_cores cpu_model num_cpus native_bf16 driver cuda_driver
    cuda_runtime cudnn nccl torch threads cpu_allocator sampling seed settings
    dtype_policy allocator_settings ATEN_CPU_CAPABILITY DNNL_MAX_CPU_ISA GLIBC_TUNABLES
    GOMP_CPU_AFFINITY GOMP_SPINCOUNT LD_PRELOAD MKL_CBWR MKL_ENABLE_INSTRUCTIONS
    ONEDNN_MAX_CPU_ISA OMP_DYNAMIC OMP_PLACES OMP_PROC_BIND OMP_THREAD_LIMIT
    OMP_WAIT_POLICY
    CUBLASLT_WORKSPACE_SIZE CUBLAS_WORKSPACE_CONFIG CUDA_DEVICE_MAX_CONNECTIONS
    CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING NCCL_ALGO NCCL_BUFFSIZE NCCL_MAX_CTAS
    NCCL_MAX_NCHANNELS NCCL_MIN_NCHANNELS NCCL_NVLS_ENABLE NCCL_P2P_DISABLE NCCL_PROTO
    NCCL_SHM_DISABLE PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_TUNABLEOP_ENABLED
    TORCH_ALLOW_TF32_CUBLAS_OVERRIDE TORCH_BLAS_PREFER_CUBLASLT suite_version
    models
    """.split()
)
# Differences that may not matter; the comparison notes them.
WORTH_A_NOTE = ("host_name", "os", "compiler", "library_build_type")

Context = Mapping[str, str]


class NotComparable(Refused):
    """The two sides cannot be compared. The message gives the reason."""


@dataclass(frozen=True)
class Difference:
    """A key with the sorted values of each side; "absent": it is missing or empty."""

    key: str
    base: tuple[str, ...]
    new: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key} ({' and '.join(self.base)} v {' and '.join(self.new)})"


def _values(key: str, contexts: Sequence[Context]) -> tuple[str, ...]:
    return tuple(sorted({context.get(key) or "absent" for context in contexts}))


def differences(
    keys: Sequence[str], base: Sequence[Context], new: Sequence[Context]
) -> list[Difference]:
    """Returns the keys with more than one value in the runs of both sides."""
    found = (Difference(key, _values(key, base), _values(key, new)) for key in keys)
    return [key for key in found if len({*key.base, *key.new}) > 1]


def check(
    base: Sequence[Context],
    new: Sequence[Context],
    noise: Context | None,
    allow_different: bool,
) -> list[Difference]:
    """Returns the differences that matter, if allowed, or else raises NotComparable.
    A key of the A/A spread is called so."""
    kinds = {context.get("device_kind") for context in (*base, *new)}
    if NULL_GPU in kinds:
        raise NotComparable(
            "a side ran on a null GPU, which has no times: there is nothing to compare"
        )
    if PREDICTED in kinds:
        raise NotComparable("the times of a side are predicted: nothing was measured")
    found = differences(MUST_AGREE, base, new)
    other = differences(MUST_AGREE, [noise], new) if noise is not None else []
    if allow_different:
        named = [replace(one, key=f"the A/A spread's {one.key}") for one in other]
        return [*found, *named]
    if found:
        listed = "; ".join(map(str, found))
        raise NotComparable(
            f"the environments differ in {listed}; "
            "--allow-different-environment compares them anyway"
        )
    if other:
        raise NotComparable(
            "the A/A spread was measured in another environment: it differs in "
            + "; ".join(map(str, other))
        )
    return found


def in_order(results: Sequence[Result]) -> list[Result]:
    """Sorts by start time; results without a date come first."""
    return sorted(results, key=lambda result: result.started or -math.inf)


def alternate(base: Sequence[Result], new: Sequence[Result]) -> bool:
    """Returns whether the sides took turns, and took turns at running first.

    Only then does drift affect both sides alike. Neither side may lead by two
    processes, and each must run first in a quarter of the pairs, rounded down. The
    order A B A B would not cancel a steady drift; A B B A does, and so does a coin per
    pair.
    """
    sides = [[result.started for result in in_order(side)] for side in (base, new)]
    dates = [[date for date in side if date is not None] for side in sides]
    if len(base) != len(new) or dates != sides:
        return False
    starts = sorted((date, side) for side in (0, 1) for date in dates[side])
    lead = 0
    for (date, side), (following, _) in pairwise([*starts, (math.nan, 0)]):
        lead += 1 - 2 * side
        # Dates are in whole seconds: the order within a second is unknown.
        if abs(lead) > 1 and date != following:
            return False
    base_first = sum(a < b for a, b in zip(*dates, strict=True))
    new_first = sum(a > b for a, b in zip(*dates, strict=True))
    return len(base) < 4 or min(base_first, new_first) >= len(base) // 4

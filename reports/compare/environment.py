# SPDX-License-Identifier: MIT
"""Checks that two sets of runs were made under comparable conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.results.rows import NULL_GPU, PREDICTED

# If one of these differs, a difference in time is not evidence about the code.
MUST_AGREE = tuple(
    """
    device device_kind device_cores cpu_model num_cpus native_bf16 driver cuda_driver
    cuda_runtime cudnn nccl torch threads cpu_allocator sampling seed settings
    dtype_policy allocator_settings ATEN_CPU_CAPABILITY DNNL_MAX_CPU_ISA GLIBC_TUNABLES
    GOMP_CPU_AFFINITY GOMP_SPINCOUNT LD_PRELOAD MKL_CBWR MKL_ENABLE_INSTRUCTIONS
    ONEDNN_MAX_CPU_ISA OMP_PROC_BIND OMP_WAIT_POLICY CUBLASLT_WORKSPACE_SIZE
    CUBLAS_WORKSPACE_CONFIG CUDA_DEVICE_MAX_CONNECTIONS CUDA_LAUNCH_BLOCKING
    CUDA_MODULE_LOADING NCCL_ALGO NCCL_P2P_DISABLE NCCL_PROTO
    PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_TUNABLEOP_ENABLED
    TORCH_ALLOW_TF32_CUBLAS_OVERRIDE TORCH_BLAS_PREFER_CUBLASLT suite_version
    """.split()
)
# Differences that may not matter; the comparison notes them.
WORTH_A_NOTE = ("host_name", "os", "compiler", "library_build_type")

Context = Mapping[str, str]


class NotComparable(ValueError):
    """The two sides cannot be compared. The message gives the reason."""


@dataclass(frozen=True)
class Difference:
    """A key with the sorted values of each side; "absent" stands for a missing one."""

    key: str
    base: tuple[str, ...]
    new: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key} ({' and '.join(self.base)} v {' and '.join(self.new)})"


def _values(key: str, contexts: Sequence[Context]) -> tuple[str, ...]:
    return tuple(sorted({context.get(key, "absent") for context in contexts}))


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
    """Returns the differences that matter, if allowed, or else raises NotComparable."""
    kinds = {context.get("device_kind") for context in (*base, *new)}
    if NULL_GPU in kinds:
        raise NotComparable(
            "a side ran on a null GPU, which has no times: there is nothing to compare"
        )
    if PREDICTED in kinds:
        raise NotComparable("the times of a side are predicted: nothing was measured")
    found = differences(MUST_AGREE, base, new)
    if allow_different:
        return found
    if found:
        listed = "; ".join(map(str, found))
        raise NotComparable(
            f"the environments differ in {listed}; "
            "--allow-different-environment compares them all the same"
        )
    other = differences(MUST_AGREE, [noise], new) if noise is not None else []
    if other:
        raise NotComparable(
            "the A/A spread is that of another environment: it differs in "
            + "; ".join(map(str, other))
        )
    return found

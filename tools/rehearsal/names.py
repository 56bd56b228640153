# SPDX-License-Identifier: MIT
"""Families of kernels."""

from reports.results.kernel_names import bare
from tools.rehearsal.records import Kernel


def family(kernel: Kernel) -> str:
    """A matrix product's arithmetic, or the function that other kernels share."""
    if kernel.family == "other":
        return bare(kernel.name)
    return f"{kernel.family} product"

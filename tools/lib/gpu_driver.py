# SPDX-License-Identifier: MIT
"""Whether this machine's NVIDIA driver can run LibTorch's wheel.

As a script it prints nothing and exits with status 0 if so. Otherwise it prints the
problem and a remedy, or nothing if there is no GPU, and exits with status 1. It runs
before .venv exists.
"""

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

NEEDED = 13000  # CUDA 13.0, as the driver writes it
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
HELP = "install the NVIDIA driver 580 or a later one"
PCI = Path("/sys/bus/pci/devices")


def has_hardware(pci: Path) -> bool:
    """Whether a display or 3D controller of NVIDIA is on the PCI bus."""
    for device in pci.glob("*"):
        try:
            vendor = (device / "vendor").read_text().strip()
            kind = (device / "class").read_text().strip()
        except OSError:
            continue
        if vendor == "0x10de" and kind.startswith("0x03"):
            return True
    return False


def trouble(load: Callable[[str], Any] = ctypes.CDLL, pci: Path = PCI) -> str | None:
    """The problem; None if the driver can be used, "" if there is no GPU."""
    try:
        driver = load("libcuda.so.1")
    except OSError:
        if not has_hardware(pci):
            return ""
        return (
            f"an NVIDIA GPU is here, but no driver library libcuda.so.1: {HELP}, "
            "or give this container its GPUs"
        )
    version = ctypes.c_int(0)
    # This call needs no GPU and does not start it.
    if driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return f"the NVIDIA driver does not tell its version: {HELP}"
    if version.value < NEEDED:
        # The machine has the library, of whatever version, but no GPU.
        if not has_hardware(pci) and driver.cuInit(0) == NO_DEVICE:
            return ""
        text = f"{version.value // 1000}.{version.value % 1000 // 10}"
        return f"the NVIDIA driver is for CUDA {text}, LibTorch needs 13.0: {HELP}"
    return None


if __name__ == "__main__":
    found = trouble()
    if found:
        print(found)
    sys.exit(found is not None)

# SPDX-License-Identifier: MIT
"""What tools/setup learns about the NVIDIA driver, from a driver of this test's own."""

import ctypes
from pathlib import Path
from typing import Any

import pytest

from tools.lib import gpu_driver

HELP = "install the NVIDIA driver 580 or a later one"


class Driver:
    """A libcuda.so.1 that knows its version."""

    def __init__(self, version: int, status: int = 0, start: int = 0) -> None:
        self.version = version
        self.status = status
        self.start = start

    def cuInit(self, flags: int) -> int:
        return self.start

    def cuDriverGetVersion(self, version: Any) -> int:
        ctypes.cast(version, ctypes.POINTER(ctypes.c_int))[0] = self.version
        return self.status


def trouble(driver: Driver | None, pci: Path) -> str | None:
    def load(name: str) -> Driver:
        assert name == "libcuda.so.1"
        if driver is None:
            raise OSError
        return driver

    return gpu_driver.trouble(load, pci)


def add_device(pci: Path, vendor: str, kind: str) -> None:
    device = pci / f"0000:00:0{len(list(pci.glob('*')))}.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text(f"{vendor}\n")
    (device / "class").write_text(f"{kind}\n")


@pytest.mark.parametrize("version", [13000, 13020, 14000])
def test_a_driver_that_can_be_used(tmp_path: Path, version: int) -> None:
    assert trouble(Driver(version), tmp_path) is None


def test_no_gpu_is_no_trouble(tmp_path: Path) -> None:
    add_device(tmp_path, "0x10de", "0x020000")  # a network card of NVIDIA
    add_device(tmp_path, "0x1af4", "0x030000")  # a display of another vendor
    (tmp_path / "0000:00:09.0").mkdir()
    assert trouble(None, tmp_path) == ""
    assert trouble(None, tmp_path / "no PCI bus") == ""


@pytest.mark.parametrize("kind", ["0x030000", "0x030200"])
def test_a_gpu_without_a_driver(tmp_path: Path, kind: str) -> None:
    add_device(tmp_path, "0x10de", kind)
    assert trouble(None, tmp_path) == (
        f"an NVIDIA GPU is here, but no driver library libcuda.so.1: {HELP}, "
        "or give this container its GPUs"
    )


def test_a_driver_that_is_too_old(tmp_path: Path) -> None:
    assert trouble(Driver(12040), tmp_path) == (
        f"the NVIDIA driver is for CUDA 12.4, LibTorch needs 13.0: {HELP}"
    )


def test_an_old_library_alone_is_no_trouble(tmp_path: Path) -> None:
    old = Driver(12040, start=gpu_driver.NO_DEVICE)
    assert trouble(old, tmp_path) == ""
    add_device(tmp_path, "0x10de", "0x030200")
    assert "is for CUDA 12.4" in (trouble(old, tmp_path) or "")


def test_a_driver_that_fails(tmp_path: Path) -> None:
    assert trouble(Driver(13000, status=3), tmp_path) == (
        f"the NVIDIA driver does not tell its version: {HELP}"
    )

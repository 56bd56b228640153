# SPDX-License-Identifier: MIT
"""tools/setup's checks of the NVIDIA driver, with drivers made by this test."""

import ctypes
from pathlib import Path
from typing import Any

import pytest

from tools.lib import gpu_driver

OTHERS = (("0x10de", "0x020000"), ("0x1af4", "0x030000"), ("", ""))
GPUS = (("0x10de", "0x030000"), ("0x10de", "0x030200"))
NO_DRIVER = "no driver library libcuda.so.1: install the NVIDIA driver 580"
TOO_OLD = "is for CUDA 12.4, LibTorch needs 13.0: install the NVIDIA driver 580"


class Driver:
    """A libcuda.so.1 that reports its version."""

    def __init__(self, version: int, status: int = 0, start: int = 0) -> None:
        self.version = version
        self.status = status
        self.start = start

    def cuInit(self, flags: int) -> int:
        return self.start

    def cuDriverGetVersion(self, version: Any) -> int:
        ctypes.cast(version, ctypes.POINTER(ctypes.c_int))[0] = self.version
        return self.status


OLD_LIBRARY = Driver(12040, start=gpu_driver.NO_DEVICE)


@pytest.mark.parametrize(
    ("driver", "devices", "trouble"),
    [
        *((Driver(version), (), None) for version in (13000, 13020, 14000)),
        # NVIDIA's network card, another vendor's display, and a device that is neither.
        (None, OTHERS, ""),
        (None, None, ""),
        *((None, (gpu,), NO_DRIVER) for gpu in GPUS),
        (Driver(12040), (), TOO_OLD),
        (OLD_LIBRARY, (), ""),
        (OLD_LIBRARY, GPUS[1:], TOO_OLD),
        (Driver(13000, status=3), (), "does not tell its version"),
    ],
)
def test_what_keeps_a_gpu_from_being_used(
    tmp_path: Path,
    driver: Driver | None,
    devices: tuple[tuple[str, str], ...] | None,
    trouble: str | None,
) -> None:
    """`trouble` is None without any, "" without a GPU. No devices means no PCI bus."""
    for number, (vendor, kind) in enumerate(devices or ()):
        device = tmp_path / f"0000:00:0{number}.0"
        device.mkdir()
        if vendor:
            (device / "vendor").write_text(f"{vendor}\n")
            (device / "class").write_text(f"{kind}\n")

    def load(name: str) -> Driver:
        assert name == "libcuda.so.1"
        if driver is None:
            raise OSError
        return driver

    bus = tmp_path if devices is not None else tmp_path / "no PCI bus"
    found = gpu_driver.trouble(load, bus)
    if trouble:
        assert found is not None and trouble in found
    else:
        assert found == trouble

# SPDX-License-Identifier: MIT
"""Kernels meet their claims: blocks per multiprocessor, no spilled registers, and row
accesses of 16 bytes.

For shared memory, a static_assert in the kernels checks the claim.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ARCHITECTURES = ("80", "90")
REGISTERS = 65536  # per multiprocessor
# Bytes that kernels may spill: the gradients of a tile of keys fill the registers.
SPILLS = {
    "FlashBf16BackwardILi32E": 4,
    "FlashBf16BackwardILi64E": 92,
    # These also check whether a row has the channels of its tile.
    "FlashBf16BackwardILi128E": 48,
    "FlashFp32BackwardILi128E": 32,
}
# Kernels that move rows in vectors, except the single-element ones for odd sizes.
IN_VECTORS = re.compile(
    r"Softmax|CrossEntropy|(Swiglu|Rope|RmsNormForward|RmsNormBackward)\w*Li[48]E"
)


@dataclass(frozen=True)
class Kernel:
    name: str
    registers: int
    spilled: int  # bytes
    threads: int
    blocks: int  # per multiprocessor at once, as claimed
    accesses: frozenset[str]  # to global memory, as PTX names them


def kernels_of(ptx: str, verbose: str) -> list[Kernel]:
    """Parses the PTX, which has the claims, and the output of `ptxas -v`."""
    claims = {
        name: (int(threads), int(blocks))
        for name, threads, blocks in re.findall(
            r"\.entry (\w+)\(.*?\.maxntid (\d+).*?\.minnctapersm (\d+)", ptx, re.S
        )
    }
    bodies = re.split(r"\.entry (\w+)", ptx)
    accesses = {
        name: frozenset(re.findall(r"\b(?:ld|st)\.global[.\w]*", body))
        for name, body in zip(bodies[1::2], bodies[2::2], strict=True)
    }
    used = re.findall(
        r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, "
        r"(\d+) bytes spill loads.*?Used (\d+) registers",
        verbose,
        re.S,
    )
    return [
        Kernel(
            *(name, int(registers), max(int(stores), int(loads))),
            *(*claims[name], accesses[name]),
        )
        for name, stores, loads, registers in used
    ]


def resident_registers(kernel: Kernel) -> int:
    """Registers are allocated per warp in units of 256."""
    warps = -(-kernel.threads // 32)
    return kernel.blocks * warps * (-(-kernel.registers * 32 // 256) * 256)


def allowed_spill(kernel: Kernel) -> int:
    listed = (size for name, size in SPILLS.items() if name in kernel.name)
    return max(listed, default=0)


def nvcc() -> Path:
    """Returns the build's nvcc, or the machine's."""
    commands = Path(os.environ.get("TRAINBENCH_BUILD", "")) / "compile_commands.json"
    if commands.is_file():
        for entry in json.loads(commands.read_text()):
            if entry["file"].endswith(".cu"):
                words = shlex.split(entry["command"])
                return Path(next(w for w in words if w.endswith("nvcc")))
    found = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if found is None:
        pytest.skip("no nvcc")
    return Path(found)


def compiled(source: Path, architecture: str, folder: Path) -> list[Kernel]:
    compiler = nvcc()
    ptx = folder / f"{source.stem}.{architecture}.ptx"
    subprocess.run(
        [
            *(compiler, "-std=c++17", "-O3", f"-I{ROOT}"),
            *(f"-arch=compute_{architecture}", "-ptx", source, "-o", ptx),
        ],
        check=True,
    )
    assembled = subprocess.run(
        [
            *(compiler.with_name("ptxas"), "-v", f"-arch=sm_{architecture}"),
            *(ptx, "-o", ptx.with_suffix(".cubin")),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return kernels_of(ptx.read_text(), assembled.stderr)


@pytest.fixture(scope="module")
def all_kernels(tmp_path_factory: pytest.TempPathFactory) -> list[Kernel]:
    folder = tmp_path_factory.mktemp("ptx")
    sources = sorted((ROOT / "model/kernels").rglob("*.cu"))
    assert len(sources) > 2
    return [
        kernel
        for source in sources
        for architecture in ARCHITECTURES
        for kernel in compiled(source, architecture, folder)
    ]


def test_registers_suffice_for_the_claimed_blocks(all_kernels: list[Kernel]) -> None:
    assert [k for k in all_kernels if resident_registers(k) > REGISTERS] == []


def test_only_listed_kernels_spill(all_kernels: list[Kernel]) -> None:
    assert [k for k in all_kernels if k.spilled > allowed_spill(k)] == []


def test_each_listed_kernel_spills(all_kernels: list[Kernel]) -> None:
    spilling = [k.name for k in all_kernels if k.spilled]
    assert [s for s in SPILLS if not any(s in name for name in spilling)] == []


def test_rows_move_by_vectors(all_kernels: list[Kernel]) -> None:
    """Checks PTX, since the compiler may split a vector access into its elements."""
    moving = [k for k in all_kernels if IN_VECTORS.search(k.name)]
    assert len(moving) > 20
    for kernel in moving:
        for begin in ("ld.global.v4", "st.global.v4"):
            assert any(a.startswith(begin) for a in kernel.accesses), (kernel, begin)

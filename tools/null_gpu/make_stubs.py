# SPDX-License-Identifier: MIT
"""Writes the rest of the null GPU: a stub for each function that LibTorch needs and
that is not implemented, and tables of CUPTI's function numbers and of errors.

A function in succeeds.txt succeeds. Any other ends the process with its name, so that
a new LibTorch never gets a silently wrong result.
"""

import argparse
import ctypes
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# Functions of CUDA's libraries, except nvrtc: it needs no GPU, so the real one
# compiles.
CUDA = re.compile(r"(cu|__cuda|nccl|nvshmem)")
# Functions that look like CUDA's but are LibTorch's, or read files without a GPU.
NOT_OURS = re.compile(r"cuFile|cuda_")

INCLUDE = '#include "tools/null_gpu/core/generated.h"\n'

LIBRARIES = (
    "libc10_cuda.so",
    "libcaffe2_nvrtc.so",
    "libtorch_cpu.so",
    "libtorch_cuda.so",
    "libtorch_cuda_linalg.so",
    "libtorch_nvshmem.so",
    "libtorch_python.so",
)


def symbols(files: Iterable[Path], kind: str, dynamic: bool) -> set[str]:
    """The names that `nm` lists, without versions."""
    command = ["nm", f"--{kind}-only", "--format=posix"] + ["-D"] * dynamic
    command += [str(file) for file in files]
    lines = subprocess.run(command, check=True, capture_output=True, text=True)
    words = (line.split() for line in lines.stdout.splitlines())
    return {word[0].split("@")[0] for word in words if len(word) > 1}


def entry_points(header: Path) -> set[str]:
    """The driver's functions that LibTorch looks up by name."""
    return set(re.findall(r"_\((cu[A-Z]\w+), \d+\)", header.read_text()))


def listed(file: Path) -> set[str]:
    lines = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return {line for line in lines if line}


def runtime_numbers(header: Path) -> dict[str, int]:
    """CUPTI's number of each runtime function, in the function's newest version."""
    pattern = r"CUPTI_RUNTIME_TRACE_CBID_(\w+)_v(\d+)\s*=\s*(\d+)"
    newest: dict[str, tuple[int, int]] = {}
    for name, version, number in re.findall(pattern, header.read_text()):
        newest[name] = max(newest.get(name, (0, 0)), (int(version), int(number)))
    return {name: number for name, (_, number) in newest.items()}


def stubs(needed: set[str], written: set[str], succeeds: set[str]) -> str:
    twice = sorted(succeeds & written)
    if twice:
        sys.exit(f"succeeds.txt lists functions that are written out: {twice}")
    lines = [INCLUDE, 'extern "C" {']
    for name in sorted((needed | succeeds) - written):
        call = "Succeed" if name in succeeds else "Missing"
        lines.append(f'int {name}() {{ return null_gpu::{call}("{name}"); }}')
    return "\n".join([*lines, '}  // extern "C"', ""])


def error_words(runtime: Path) -> dict[int, tuple[str, str]]:
    """The name and the text of each error, as the runtime spells them."""
    library = ctypes.CDLL(str(runtime))
    functions = (library.cudaGetErrorName, library.cudaGetErrorString)
    for function in functions:
        function.restype = ctypes.c_char_p
    words = {n: tuple(f(n).decode() for f in functions) for n in range(1000)}
    return {n: (name, text) for n, (name, text) in words.items() if name != text}


def table(kind: str, function: str, entries: Iterable[str]) -> str:
    lines = (
        f"const {kind}& null_gpu::{function}() {{",
        f"  static const auto* const table = new {kind}{{",
        *(f"    {{{entry}}}," for entry in entries),
        "  };",
        "  return *table;",
        "}",
    )
    return "\n".join([*lines, ""])


def cbids(numbers: dict[str, int], written: set[str]) -> str:
    known = sorted(written & {*numbers})
    entries = (f'"{name}", {numbers[name]}' for name in known)
    return table("std::map<std::string_view, uint32_t>", "Cbids", entries)


def errors(words: dict[int, tuple[str, str]]) -> str:
    entries = (
        f"{n}, {{{', '.join(map(json.dumps, both))}}}" for n, both in words.items()
    )
    return table("std::map<int, null_gpu::ErrorWords>", "Errors", entries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", type=Path, required=True)
    parser.add_argument("--runtime", type=Path, required=True, help="libcudart.so")
    parser.add_argument("--cupti", type=Path, required=True, help="the header of cbids")
    parser.add_argument("--succeeds", type=Path, required=True)
    parser.add_argument("--stubs", type=Path, required=True)
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("objects", type=Path, nargs="+")
    arguments = parser.parse_args()

    torch = arguments.torch
    libraries = [torch / "lib" / name for name in LIBRARIES]
    here = [library for library in libraries if library.exists()]
    needed = symbols(here, "undefined", dynamic=True)
    needed |= symbols([arguments.runtime], "defined", dynamic=True)
    needed |= entry_points(torch / "include/c10/cuda/driver_api.h")
    needed = {n for n in needed if CUDA.match(n) and not NOT_OURS.match(n)}
    written = symbols(arguments.objects, "defined", dynamic=False)
    succeeds = listed(arguments.succeeds)
    arguments.stubs.write_text(stubs(needed, written, succeeds))
    numbers = runtime_numbers(arguments.cupti)
    words = error_words(arguments.runtime)
    arguments.tables.write_text(f"{INCLUDE}{cbids(numbers, written)}{errors(words)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""The rules of the repository, as functions from a file's text to its violations.

A path is relative to the root of the repository and has forward slashes.
"""

import posixpath
import re
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

from tools.lib.budget import tracked

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("model", "fixtures", "benchmarks", "reports", "tests", "tools")
CPP = (".cc", ".h", ".cu", ".cuh")
SPDX = "SPDX-License-Identifier: MIT"
Check = Callable[[str, str], list[str]]  # from a path and its text to violations

# The operations of an experiment, in the folder of its name.
_OPERATIONS = "benchmarks/*"
# The rooms, from the highest to the lowest, and the rooms that each may include. Arrows
# only point downward, so there is no cycle.
ARROWS: dict[str, tuple[str, ...]] = {
    "benchmarks": (
        *(_OPERATIONS, "steps", "prediction"),
        *("experiment", "timing", "memory", "profiling", "device", "base"),
        *("ops", "comm", "verification", "training", "nn", "fused", "dry_run"),
        *("accounting", "spec"),
    ),
    "tools/planner": (
        *("steps", "prediction", "experiment", "ranks", "memory", "device", "base"),
        *("fsdp", "tensor_parallel", "trainer", "comm", "training", "nn"),
        *("accounting", "dry_run", "spec"),
    ),
    "tools/null_gpu": (),
    _OPERATIONS: ("ops", "verification", "training", "nn", "fused", "spec"),
    "steps": (
        *("prediction", "experiment", "ranks", "timing", "memory", "profiling"),
        *("device", "tensor_parallel", "fsdp", "zero", "ddp", "trainer", "ops"),
        *("comm", "verification", "training", "nn", "fused", "dry_run"),
        *("accounting", "spec"),
    ),
    "app": (
        *("runner", "prediction", "ranks", "experiment", "timing", "profiling"),
        *("device", "base", "spec", "reporters"),
    ),
    "fsdp": ("trainer", "ddp", "comm", "training", "nn", "accounting", "spec"),
    "zero": ("trainer", "ddp", "comm", "training", "spec"),
    "tensor_parallel": ("ddp", "comm", "training", "nn", "spec"),
    "runner": (
        *("prediction", "ranks", "experiment", "timing", "memory", "profiling"),
        *("device", "base", "accounting", "spec"),
    ),
    "prediction": (
        *("experiment", "ranks", "memory", "profiling", "device", "base"),
        *("comm", "dry_run", "accounting", "spec"),
    ),
    "ddp": ("trainer", "comm", "training", "spec"),
    "trainer": ("comm", "verification", "training", "nn", "spec"),
    "ops": ("comm", "verification", "training", "nn", "spec"),
    "reporters": ("experiment", "timing", "base"),
    "experiment": ("timing", "memory", "device", "base", "spec"),
    "ranks": ("timing", "memory", "device", "base", "comm", "spec"),
    "verification": ("training", "nn", "dry_run", "spec"),
    "timing": ("device", "base", "spec"),
    "memory": ("device", "base", "spec"),
    "profiling": ("device", "base", "spec"),
    "training": ("nn", "spec"),
    "device": ("base", "spec"),
    "nn": ("fused", "spec"),
    "fused": ("kernels", "dry_run", "spec"),
    "dry_run": (),
    "accounting": ("spec",),
    "comm": ("spec",),
    "base": (),
    "spec": (),
    "kernels": (),
}
# Libraries that a folder must not include. Rooms without LibTorch, and CUDA files, are
# compiled without its include paths. An experiment may include LibTorch to build
# inputs and references, but not LibTorch's measuring tools.
_FORBIDDEN = {
    "model": ("benchmark/", "absl/flags/", "nlohmann/", "chrono", "ctime", "time.h"),
    "benchmarks": (
        *("benchmark/", "absl/flags/", "absl/log/", "absl/time/", "nlohmann/", "cuda"),
        *("ATen/cuda/", "c10/cuda/", "torch/csrc/", "torch/cuda.h"),
        *("c10/util/ApproximateClock.h", "c10/util/Logging.h"),
    ),
}
_MEASURING = {
    *("chrono", "ctime", "time.h", "sys/time.h", "thread", "future"),
    *("iostream", "fstream", "filesystem", "cstdio", "stdio.h"),
}
# Headers of LibTorch include some of these.
_MEASURES = re.compile(
    r"\bcuda[A-Z]\w*|\b(?:at|c10|torch)::cuda::\w+|\bbenchmark::\w+"
    r"|\bstd::(?:chrono|clock|cout|cerr|clog|filesystem|[io]?fstream)\b"
    r"|\b(?:clock_gettime|gettimeofday|c10::getTime)\b"
    r"|\b(?:fopen|f?printf|f?puts|torch::save|torch::load)\b"
    r"|\bTORCH_WARN\w*|\bLOG\b"
)


def files(*suffixes: str) -> list[str]:
    """Returns the files of all rooms with one of the suffixes."""
    rooms = tuple(f"{room}/" for room in ROOMS)
    return [p for p in tracked(ROOT) if p.startswith(rooms) and p.endswith(suffixes)]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def violations(check: Check, paths: Iterable[str]) -> list[str]:
    """Returns what a check finds in these files."""
    return [error for path in paths for error in check(path, read(path))]


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def includes(text: str) -> list[str]:
    found = re.findall(
        r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', without_comments(text), re.M
    )
    return [quoted or angled for quoted, angled in found]


def room_of(path: str) -> str | None:
    """Returns the room of a C++ file of the product: a key of ARROWS."""
    parts = path.split("/")
    if parts[0] == "benchmarks":
        return "benchmarks" if len(parts) == 2 else _OPERATIONS
    if parts[:2] == ["model", "distributed"]:
        return parts[2]
    if parts[0] in ("model", "fixtures"):
        return parts[1]
    return "/".join(parts[:2]) if parts[0] in ("reports", "tools") else None


def arrow_errors(path: str, text: str) -> list[str]:
    """Finds includes that ARROWS does not allow, and libraries forbidden in a room."""
    room, folder, found = room_of(path), path.split("/")[0], includes(text)
    allowed = (room, *ARROWS.get(room, ())) if room else ()
    errors = [
        f"{path} includes {name}, which {room} must not know"
        for name in found
        if room and name.split("/")[0] in ROOMS and room_of(name) not in allowed
    ]
    errors += [
        f"{path} includes {name}, which belongs to another experiment"
        for name in found
        if room_of(name) in ("benchmarks", _OPERATIONS) and not _may_include(path, name)
    ]
    forbidden = _FORBIDDEN.get(folder, ())
    if room in ("comm", "trainer", "ddp", "zero") and "_clock" not in without_comments(
        text
    ):
        # A rank's waits for others are limited by its timeout.
        forbidden = tuple(name for name in forbidden if name != "chrono")
    return errors + [
        f"{path} includes {name}, which {folder}/ must not know"
        for name in found
        if name in forbidden
        or name.startswith(tuple(f for f in forbidden if "/" in f))
        or ("cuda" in forbidden and name.startswith("cuda"))
    ]


def _may_include(path: str, name: str) -> bool:
    """Returns whether `path` may include `name` of benchmarks/: an experiment only its
    own folder, a test any operation; no file may include an experiment."""
    room, experiment = path.split("/")[0], "/".join(path.split("/")[:2])
    own = experiment.removesuffix(".cc") + "/" if room == "benchmarks" else ""
    return room_of(name) == _OPERATIONS and name.startswith(own)


def measuring_errors(path: str, text: str) -> list[str]:
    """Finds clocks, the CUDA runtime, files and printing, reserved for the harness."""
    used = [f"includes {name}" for name in includes(text) if name in _MEASURING]
    used += [f"uses {found}" for found in _MEASURES.findall(without_comments(text))]
    return [f"{path} {use}: the harness measures and reports" for use in used]


def experiment_errors(path: str, text: str) -> list[str]:
    """Finds work that the harness should do, and a wrong head of an experiment."""
    if not path.endswith(".cc"):
        return [f"{path}: an experiment is one .cc file"]
    errors = []
    lines = text.splitlines()
    comment = re.match(r"(//[^\n]*\n)+", text)
    if len(lines) < 2 or not lines[1].startswith("// Question: "):
        errors.append(f"{path}: the second line begins with '// Question: '")
    if comment is None or "\n// Expect: " not in comment[0]:
        errors.append(f"{path}: the question is followed by '// Expect: '")
    errors += measuring_errors(path, text)
    code = without_comments(text)
    if not re.search(r"->Expect(?:OnCpu|OnGpu)?\(", code):
        errors.append(f"{path} states no Expect(), which reports/answers judges")
    if not re.search(r"^TRAINBENCH_REGISTER(?:_F)?\(", code, re.MULTILINE):
        errors.append(f"{path} registers nothing")
    if "for (auto _ : state)" not in code:
        errors.append(f"{path} has no 'for (auto _ : state)': what is timed?")
    return errors


def guard_errors(path: str, text: str) -> list[str]:
    guard = "TRAINBENCH_" + re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"
    lines = [line for line in text.splitlines() if line.strip()]
    code = [line for line in lines if not line.startswith("//")]
    if code[:2] != [f"#ifndef {guard}", f"#define {guard}"]:
        return [f"{path} does not begin with the guard {guard}"]
    if lines[-1] != f"#endif  // {guard}":
        return [f"{path} does not end with '#endif  // {guard}'"]
    return []


def first_include_errors(path: str, text: str) -> list[str]:
    """A source includes its own header first, so the header must compile alone."""
    first = re.search(r'^#include [<"](.+)[>"]', text, re.M)
    header = path.removesuffix(".cc") + ".h"
    if first and first[1] != header:
        return [f"{path} does not include {header} first"]
    return []


def license_errors(path: str, text: str) -> list[str]:
    """The first line contains only the license, or the second after an interpreter or
    the dialect of a shell."""
    mark = "//" if path.endswith(CPP) else "#"
    lines = text.splitlines()
    if lines and lines[0].startswith(("#!", "# shellcheck shell=")):
        lines = lines[1:]
    if lines[:1] == [f"{mark} {SPDX}"]:
        return []
    return [f"{path} does not begin with '{mark} {SPDX}'"]


def paths_in(document: str) -> list[str]:
    """Returns the paths in a document: relative links and, in code spans and blocks,
    paths that begin with a room, and C++ or Python files in its own folder."""
    markdown, folder = read(document), posixpath.dirname(document)
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", markdown)
    found = [posixpath.join(folder, link) for link in links if "://" not in link]
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", markdown, re.M | re.S)
    prose = re.sub(r"^```.*?^```", "", markdown, flags=re.M | re.S)
    for span in re.findall(r"`([^`\n]+)`", prose):
        if re.fullmatch(r"[\w./-]+\.(h|cc|cu|py)", span) and not _in_a_room(span):
            found.append(posixpath.join(folder, span))
        else:
            found += [word for word in span.split()[:1] if _in_a_room(word)]
    lines = (line.split()[:1] for block in blocks for line in block.splitlines())
    found += [word for words in lines for word in words if _in_a_room(word)]
    return [posixpath.normpath(path) for path in found]


def _in_a_room(word: str) -> bool:
    room, slash, rest = word.partition("/")
    return bool(slash) and room in ROOMS and bool(re.fullmatch(r"[\w./-]*", rest))


def checklist_tests(markdown: str) -> dict[int, list[str]]:
    """Returns the tests in the last cell of each numbered row of a table."""
    rows = re.findall(r"^\| (\d+) \|(?:[^|\n]*\|)*([^|\n]*)\|$", markdown, re.M)
    return {int(number): re.findall(r"`([^`]+)`", cell) for number, cell in rows}


def tests_in(path: str, text: str) -> list[str]:
    """Returns Suite.Name for GoogleTest's tests, file.py::name for pytest's."""
    if path.endswith(".py"):
        file = posixpath.basename(path)
        return [
            f"{file}::{name}" for name in re.findall(r"^def (test_\w+)", text, re.M)
        ]
    found = re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", text, re.M)
    return [f"{suite}.{name}" for suite, name in found]


def gpu_code(program: bytes) -> set[str]:
    """Returns a program's GPU code: "sm_90" is machine code, "compute_90" is PTX.

    Reads the headers of nvcc's containers and of their parts.
    """
    magic = bytes.fromhex("50ed55ba")
    found = set()
    at = program.find(magic)
    while at >= 0:
        head, size = struct.unpack_from("<HQ", program, at + 6)
        part, end = at + head, at + head + size
        while part < end:
            kind, head, size = struct.unpack_from("<H2xIQ", program, part)
            (capability,) = struct.unpack_from("<I", program, part + 28)
            found.add(f"{'compute' if kind == 1 else 'sm'}_{capability}")
            part += head + size
        at = program.find(magic, end)
    return found

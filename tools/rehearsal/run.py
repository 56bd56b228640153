# SPDX-License-Identifier: MIT
"""The flags of tools/rehearse, and runs of the program on null GPUs, which get all
other flags."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reports.compare.argument_types import number
from tools.planner.arguments import parser as make_parser
from tools.planner.timing import NODE  # not from step.py, which needs numpy

# tools/null_gpu/core/profile.h
GPUS = ("h100", "h200", "a100-40", "a100-80", "b200")
MOST_RANKS = 16
# The flags of the program that a rehearsal sets itself or cannot use.
_OURS = (
    *("device", "value_checks", "rehearsal", "isolated_case"),
    *("benchmark_out", "benchmark_out_format", "benchmark_format", "samples_out"),
)
_LISTS = ("list", "list_unavailable", "benchmark_list_tests")
# Times are not measured: the fewest samples are enough.
_SHORT = {"warmup": 0, "benchmark_min_time": 0}


@dataclass
class Arguments:
    gpu: str = ""
    ranks: int | None = None
    json: bool = False
    kernels: int = 5  # names per phase in the text
    times: str = "none"
    flags: list[str] = field(default_factory=list)  # of the program

    @property
    def predicts(self) -> bool:
        return self.times == "predicted"

    @property
    def lists(self) -> bool:
        """The program lists cases and runs none."""
        return not set(_LISTS).isdisjoint(self.names)

    @property
    def names(self) -> list[str]:
        named = (flag for flag in self.flags if flag.startswith("-"))
        return [flag.lstrip("-").partition("=")[0] for flag in named]


def parse(tokens: Sequence[str]) -> Arguments:
    parser = make_parser(
        "Runs the chosen cases on a null GPU: LibTorch's own dispatcher, autograd "
        "engine and caching allocator, kernels that do nothing. What it prints of "
        "memory, kernels and copies is exact.",
        prog="tools/rehearse",
        epilog="All other flags are those of tools/bench: --suite, "
        "--benchmark_filter, --models, --batch, ...; see tools/bench --help.",
    )
    add = parser.add_argument
    add("--gpu", required=True, choices=GPUS, help="the GPU to imitate")
    add(
        "--mesh",  # main.py passes it to mesh.py
        help="rehearse one rank of many instead; with --help, lists the flags for that",
    )
    add(
        "--ranks",
        type=number(1, MOST_RANKS, whole=True),
        metavar="N",
        help="number of GPUs; cases of several ranks then run on all of them",
    )
    add("--json", action="store_true", help="print JSON")
    add(
        "--kernels",
        type=number(0, 10**6, whole=True),
        metavar="N",
        help="kernels to name for each phase (default: 5; JSON has all)",
    )
    add(
        "--times",
        choices=("none", "predicted"),
        help="predicted: kernels take the time that published rates predict, and the "
        "result of the run is kept, for tools/report and tools/answers",
    )
    given = Arguments()
    _, given.flags = parser.parse_known_args(tokens, given)
    if given.predicts and (given.ranks or 1) > NODE:
        parser.error(
            f"--ranks is {given.ranks}; allowed with --times=predicted: 1 to {NODE}, "
            "whose links are those of one node"
        )
    if given.predicts and given.json:
        parser.error(
            "--json contradicts --times=predicted, which keeps a result in JSON"
        )
    for name in given.names:
        if name == "mesh":
            parser.error("unexpected '-mesh'; did you mean '--mesh'?")
        if name in _OURS and not (given.predicts and name == "benchmark_out"):
            parser.error(
                f"--{name} has no place in a rehearsal; allowed: flags that choose "
                "cases or set their sizes"
            )
    return given


def main(tokens: Sequence[str]) -> None:
    """Refuses wrong flags before the program is built."""
    parse(tokens)


def environment(
    library: Path, gpu: str, count: int | None, given: Mapping[str, str]
) -> dict[str, str]:
    """The environment in which a program finds null GPUs (default: one) and no real
    ones. `library` is the directory of libnullcuda.so and libcuda.so.1."""

    def with_first(first: str, variable: str) -> str:
        return ":".join(filter(None, (first, given.get(variable))))

    null = "TRAINBENCH_NULL_GPU_"
    hidden = ("CUDA_VISIBLE_DEVICES", f"{null}FAULT", f"{null}RATES")
    return {
        **{key: value for key, value in given.items() if key not in hidden},
        # Without the folder, because a space in its path would separate two names.
        "LD_PRELOAD": with_first("libnullcuda.so", "LD_PRELOAD"),
        "LD_LIBRARY_PATH": with_first(str(library), "LD_LIBRARY_PATH"),
        "TRAINBENCH_NULL_GPU": gpu,
        "TRAINBENCH_NULL_GPU_COUNT": str(count or 1),
    }


def flags(given: Arguments, *own: str) -> list[str]:
    """The program's flags: what a rehearsal needs, `own`, and the user's flags. These
    come last, so that a word without a dash there is the user's."""
    short = _SHORT | ({"rounds": 1} if given.predicts else {})
    ranks = [f"--ranks={given.ranks}"] if given.ranks else []
    return [
        *(f"--{name}={short[name]}" for name in short if name not in given.names),
        *ranks,
        "--device=cuda",
        "--value_checks=skip",
        *own,
        *given.flags,
    ]


def run(
    program: Path, library: Path, given: Arguments, *own: str, **variables: str
) -> int:
    """Runs the program with its `own` flags and more variables of its environment.
    Returns its exit status; negative if a signal ended it.

    The program's progress and its errors go to standard error. Its rows are printed if
    it predicts times or lists cases, and dropped otherwise: the rehearsal reports more.
    """
    return subprocess.run(
        [program, *flags(given, *own)],
        env=environment(library, given.gpu, given.ranks, os.environ) | variables,
        stdin=subprocess.DEVNULL,
        stdout=None if given.predicts or given.lists else subprocess.DEVNULL,
        check=False,
    ).returncode

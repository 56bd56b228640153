# SPDX-License-Identifier: MIT
"""The flags of tools/rehearse, which passes all other flags on to the program."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Arguments:
    gpu: str
    ranks: int | None
    json: bool
    kernels: int  # names per phase in the text
    predicts: bool  # whether times are predicted
    flags: list[str]  # of the program

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
        "--mesh",  # __main__.py passes it to mesh.py
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
        default=5,
        metavar="N",
        help="kernels to name for each phase (default: 5; JSON has all)",
    )
    add(
        "--times",
        choices=("none", "predicted"),
        default="none",
        help="predicted: kernels take the time that published rates predict, and the "
        "result of the run is kept, for tools/report and tools/answers",
    )
    given, flags = parser.parse_known_args(tokens)
    predicts = given.times == "predicted"
    if predicts and (given.ranks or 1) > NODE:
        parser.error(
            f"--ranks is {given.ranks}; allowed with --times=predicted: 1 to {NODE}, "
            "whose links are those of one node"
        )
    if predicts and given.json:
        parser.error(
            "--json contradicts --times=predicted, which keeps a result in JSON"
        )
    found = Arguments(
        given.gpu, given.ranks, given.json, given.kernels, predicts, flags
    )
    for name in found.names:
        if name in _OURS and not (predicts and name == "benchmark_out"):
            parser.error(
                f"--{name} has no place in a rehearsal; allowed: flags that choose "
                "cases or set their sizes"
            )
    return found


def main(tokens: Sequence[str]) -> None:
    """Refuses wrong flags before the program is built."""
    parse(tokens)

# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh: one rank of a job on many GPUs."""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from reports.compare.argument_types import number
from tools.planner import arguments
from tools.planner.program import Ask
from tools.planner.timing.mesh import OVERLAP, SERIAL, Machine, computed
from tools.planner.timing.rates import devices
from tools.planner.timing.step import links_of
from tools.rehearsal import mesh_text
from tools.rehearsal.run import GPUS

Json = dict[str, Any]
_LINKS = (
    "links inside a node and between nodes: the rate at which a GPU sends, in 10^9 "
    "bytes/s, and the cost of one call, as all_reduce measures them (busbw)"
)
_OR = "; 0: the data sheet's"
_DESCRIPTION = """\
Plays one rank of a job on many GPUs, on a null GPU and without the other ranks:
its memory, kernels and collectives are exact. The time of its step is computed.

  tools/rehearse --gpu=h100 --mesh=data:4,fsdp:16,tensor:4 --model=8B
  tools/rehearse --gpu=h100 --mesh=auto --ranks=64 --model=8B
  tools/rehearse --gpu=h100 --mesh=auto --ranks=1,8,64,1024 --model=8B
"""


def asks_for_a_mesh(tokens: Sequence[str]) -> bool:
    names = (token.partition("=")[0] for token in tokens)
    return any(name in ("-mesh", "--mesh") for name in names)


def _parser(needs_gpu: bool) -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        prog="tools/rehearse",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    add, rate = parser.add_argument, number(0, 1e9)
    add("--help", action="store_true", help="print this and exit")
    add("--gpu", required=needs_gpu, choices=GPUS, help="the GPU to imitate")
    add("--json", action="store_true", help="print JSON")
    add("--predict_only", action="store_true", help="predict, and rehearse nothing")
    add(
        "--links",
        type=arguments.two_links,
        metavar=arguments.LINKS,
        help=f"{_LINKS} (default: the GPU's in tools/planner/timing/devices.tsv)",
    )
    for flag, kind, metavar, default, what in (
        ("node_ranks", number(1, 2**20, whole=True), "N", 8, "GPUs per node"),
        ("device_tflops", rate, "RATE", 0, f"10^12 FLOP/s that a GPU reaches{_OR}"),
        ("memory_gb_per_s", rate, "RATE", 0, f"10^9 bytes/s of its memory{_OR}"),
    ):
        text = f"{what} (default: {default})"
        add(f"--{flag}", type=kind, metavar=metavar, default=default, help=text)
    return parser


def _machine(given: argparse.Namespace, precision: str) -> Machine:
    """The given rates, or the GPU's in devices.tsv."""
    device = devices()[given.gpu]
    products = precision.partition("_")[0]  # bf16_autocast: bf16
    flops = given.device_tflops * 1e12 or device.peak(products)
    bytes_ = given.memory_gb_per_s * 1e9 or device.peak("memory")
    inside, between = given.links or links_of(device)
    return Machine(given.node_ranks, inside, between, flops, bytes_)


def _order(row: Json) -> tuple[float, ...]:
    """Meshes that fit come first, most tokens per second at their head; the others
    follow, least needed bytes first."""
    if row["fits"]:
        return 0, -row["computed"]["tokens_per_second"]
    is_valid, needed = row["batch"] is not None, row["needed_bytes"]
    return 1 if is_valid else 2, math.inf if needed is None else needed


def _best(rows: Sequence[Json]) -> list[Json]:
    """Chooses the best checkpointing of each mesh, and orders the meshes; of several
    numbers of ranks, only the best mesh of each remains."""
    meshes = [
        min(own, key=_order)
        for _, own in groupby(rows, lambda row: row["mesh"]["name"])
    ]
    numbers = [
        sorted(own, key=_order)
        for _, own in groupby(meshes, lambda row: row["mesh"]["ranks"])
    ]
    return numbers[0] if len(numbers) == 1 else [own[0] for own in numbers]


def _name(row: Json) -> str:
    return f"{row['mesh']['name']}/{row['checkpoint']}"


def _chosen(row: Json, *keys: str) -> Json:
    return {key: row[key] for key in keys}


def _rehearse(rows: list[Json], ask: Callable[..., list[Json]]) -> None:
    """Rehearses the first row and, if it runs out of memory, the next ones that should
    fit, until one does; that one becomes the first."""
    for row in rows:
        if not row["predicted"] or (row is not rows[0] and not row["fits"]):
            break
        (found,) = ask("--rehearse", f"--only={_name(row)}")
        row |= _chosen(found, "rehearsed", "why_not", "fits")
        if row["fits"]:
            break
    rows.sort(key=lambda row: not row["fits"])


def plan(document: Json, on: Machine, ask: Callable[..., list[Json]]) -> list[Json]:
    """Returns the best rows of the program's answer, with times. `ask` returns rows
    that it answers in more detail."""
    for row in document["rows"]:
        known = row["predicted"] is not None
        row["computed"] = computed(row, document["query"], on) if known else None
    rows = _best(document["rows"])
    predicted = {_name(row): row for row in rows if row["predicted"]}
    if predicted:
        for found in ask("--largest_batch", *(f"--only={name}" for name in predicted)):
            predicted[_name(found)] |= _chosen(found, "predicted", "why_not", "fits")
    return rows


def main(tokens: Sequence[str], program_on: Callable[[str], Ask]) -> int:
    """Passes other flags on to the program on a GPU, including --help."""
    parser = _parser(needs_gpu="--help" not in tokens)
    given, flags = parser.parse_known_args(tokens)
    ask = program_on(given.gpu or GPUS[0])

    def rows_of(*more: str) -> list[Json]:
        rows: list[Json] = ask((*flags, *more))["rows"]
        return rows

    if given.help:
        printed = ask((*flags, "--help"))["help"]
        print(parser.format_help(), printed, sep="\n", end="")
        return 0
    document = ask(flags)
    on = _machine(given, document["query"]["precision"])
    rows = plan(document, on, rows_of)
    if not given.predict_only and len({row["mesh"]["ranks"] for row in rows}) == 1:
        _rehearse(rows, rows_of)
    for row in rows:
        del row["steps"], row["needed_bytes"]
    query = document["query"] | {
        "links": [asdict(link) for link in (on.inside, on.between)],
        "node_ranks": on.node_ranks,
        "device_tflops": on.flops_per_second / 1e12,
        "memory_gb_per_s": on.bytes_per_second / 1e9,
    }
    shown = {
        "query": query,
        "device": document["device"],
        "free_bytes": document["free_bytes"],
        "overlap": OVERLAP if query["prefetch"] else SERIAL,
        "rows": rows,
    }
    print(json.dumps(shown, indent=1) if given.json else mesh_text.render(shown))
    return 0

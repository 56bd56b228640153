# SPDX-License-Identifier: MIT
"""The flags of tools/rehearse --mesh, and the program's request for them."""

import argparse
from collections.abc import Sequence

from reports.compare.argument_types import number
from tools.planner import arguments
from tools.planner.arguments import count, words
from tools.planner.program import Json
from tools.rehearsal.run import GPUS

AXES, AUTO = ("data", "fsdp", "tensor"), "auto"
_MOST = 2**20
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


def mesh(data: int = 1, fsdp: int = 1, tensor: int = 1) -> Json:
    sizes = dict(zip(AXES, (data, fsdp, tensor), strict=True))
    name = ",".join(f"{axis}:{size}" for axis, size in sizes.items())
    return {"name": name, **sizes, "ranks": data * fsdp * tensor}


def meshes_of(ranks: int) -> list[Json]:
    """Every mesh with this number of ranks."""
    divisors = [size for size in range(1, ranks + 1) if ranks % size == 0]
    return [
        mesh(ranks // tensor // fsdp, fsdp, tensor)
        for tensor in divisors
        for fsdp in divisors
        if ranks // tensor % fsdp == 0
    ]


def read_mesh(value: str) -> Json | str:
    """Reads "data:4,fsdp:16"; a missing axis has one rank."""
    if value == AUTO:
        return value
    items = [one.partition(":") for one in value.split(",")]
    for axis in words(",".join(axis for axis, _, _ in items)):
        if axis not in AXES:
            allowed = ", ".join(AXES)
            raise argparse.ArgumentTypeError(f"it has {axis!r}; allowed: {allowed}")
    sizes: dict[str, int] = {}
    for axis, _, size in items:
        try:
            sizes[axis] = int(count(1, _MOST)(size))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{axis}: {error}") from error
    found = mesh(**sizes)
    if found["ranks"] > _MOST:
        ranks = found["ranks"]
        raise argparse.ArgumentTypeError(f"it has {ranks} ranks; allowed: 1 to {_MOST}")
    return found


def _read_ranks(value: str) -> list[int]:
    return [int(count(1, _MOST)(one)) for one in words(value)]


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        prog="tools/rehearse",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add, size, rate = parser.add_argument, count(1, _MOST), number(0, 1e9)
    add("--gpu", required=True, choices=GPUS, help="the GPU to imitate")
    add("--json", action="store_true", help="print JSON")
    add("--predict_only", action="store_true", help="predict, and rehearse nothing")
    add(
        "--mesh",
        required=True,
        type=read_mesh,
        help="ranks along each axis, for example data:4,fsdp:16,tensor:4: data ranks "
        "are replicas, fsdp ranks shard a replica's parameters, tensor ranks split "
        "each matrix; a missing axis has one rank; or auto, with --ranks: all meshes "
        "with this number of ranks, best first; the best is rehearsed",
    )
    add(
        "--ranks",
        type=_read_ranks,
        help="number of ranks, which a given --mesh must have; with --mesh=auto also "
        "several, separated by commas: predicts the best mesh for each, and rehearses "
        "nothing",
    )
    add(
        "--rank", choices=("first", "last"), default="first", help="the one to rehearse"
    )
    add(
        "--model",
        default="8B",
        help="a model's name or a definition, for example "
        "name=mine,d_model=512,d_ff=2048,layers=6,heads=8,vocab=32000 (default: 8B)",
    )
    add(
        "--implementation",
        help="of the layers: textbook, library or fused (default: fused; for a "
        "definition, its own value)",
    )
    add("--attention", help="attention variant (default: the implementation's)")
    add(
        "--checkpoint",
        type=words,
        metavar="NAMES",
        help="the activations that the backward pass recomputes, as for tools/plan; of "
        "several, separated by commas, the fastest that fits (default: the "
        "definition's value, otherwise none,every_1)",
    )
    add(
        "--links",
        type=arguments.two_links,
        metavar=arguments.LINKS,
        help=f"{_LINKS} (default: the GPU's in tools/planner/timing/devices.tsv)",
    )
    kinds = "fp32, tf32, bf16_autocast or bf16 (fp32 shards, gathered as bf16)"
    spare = "GiB of each GPU that must stay free: NCCL's buffers are not rehearsed"
    for flag, kind, default, what in (
        ("precision", str, "bf16", kinds),
        ("batch", size, 1, "sequences of each data and fsdp rank"),
        ("global_batch", count(0, _MOST), 0, "of the whole job, instead of --batch"),
        ("seq", size, 32768, "tokens per sequence"),
        ("spare_gib", rate, 1, spare),
        ("node_ranks", size, 8, "GPUs per node"),
        ("device_tflops", rate, 0, f"10^12 FLOP/s that a GPU reaches{_OR}"),
        ("memory_gb_per_s", rate, 0, f"10^9 bytes/s of its memory{_OR}"),
    ):
        text = f"{what} (default: {default})"
        add(f"--{flag}", type=kind, metavar="N", default=default, help=text)
    for flag, what in (
        ("reshard", "free parameters after a block's forward pass, and gather again"),
        ("prefetch", "gather the next block's parameters while a block computes"),
    ):
        text = f"{what} (default: true)"
        add(f"--{flag}", choices=("true", "false"), default="true", help=text)
    return parser


def parse(tokens: Sequence[str]) -> tuple[argparse.Namespace, list[Json]]:
    """Returns the flags and their meshes."""
    parser = _parser()
    given = arguments.parse(parser, tokens)
    if given.mesh == AUTO:
        if given.ranks is None:
            parser.error("--mesh is 'auto'; allowed: auto only with --ranks")
        return given, [one for ranks in given.ranks for one in meshes_of(ranks)]
    name, product = given.mesh["name"], given.mesh["ranks"]
    if given.ranks not in (None, [product]):
        shown = ",".join(map(str, given.ranks))
        parser.error(f"--ranks is {shown}; allowed: {product}, the product of {name}")
    return given, [given.mesh]


def main(tokens: Sequence[str]) -> None:
    """Refuses wrong flags before the program is built."""
    parse(tokens)


def checkpoints(given: argparse.Namespace) -> list[str]:
    """The names to try; none: the definition's own."""
    if given.checkpoint is None and "checkpoint=" in given.model:
        return []
    return given.checkpoint or ["none", "every_1"]


def request(given: argparse.Namespace) -> Json:
    """All but the ranks."""
    model: Json = {"model": given.model}
    if "=" not in given.model:
        model["implementation"] = given.implementation or "fused"
    elif given.implementation:
        model["model"] += f",implementation={given.implementation}"
    if given.attention:
        model["attention"] = given.attention
    return {
        **model,
        **{"precision": given.precision, "mode": "forward_backward"},
        **{"batch": given.batch, "global_batch": given.global_batch, "seq": given.seq},
        **{name: vars(given)[name] == "true" for name in ("reshard", "prefetch")},
        **{"last_rank": given.rank == "last", "searches": given.mesh == AUTO},
        "spare_bytes": int(given.spare_gib * 2**30),
        **{"largest_batch": False, "rehearse": False},
    }

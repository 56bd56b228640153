# SPDX-License-Identifier: MIT
"""The least time of a training step on a mesh of ranks, from peaks and links."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.planner.arguments import Link

Json = Mapping[str, Any]
OVERLAP = (
    "forward and backward pass each take the longer of two times: their computation "
    "plus the tensor group's all-reduces, which do not overlap it, or the fsdp and "
    "data groups' collectives, one after another; AdamW follows"
)
SERIAL = (
    "without prefetch nothing overlaps: computation, the collectives of all groups and "
    "AdamW run one after another"
)
_GROUPS = ("tensor", "fsdp", "data")  # from neighbors to the farthest
_UPDATE_BYTES = 28  # that AdamW reads and writes for each parameter, in fp32
_MOST_BATCH = 2**20


@dataclass(frozen=True)
class Network:
    node_ranks: int
    inside: Link  # from a GPU to others of its node
    between: Link  # from a GPU to GPUs of other nodes

    def ring(self, ranks: int, apart: int, job_ranks: int) -> tuple[float, float]:
        """The us of a call of some of the job's ranks, which are `apart` places apart,
        and the us of each byte that a rank sends.

        A ring through several nodes crosses between two of them on as many links as it
        has ranks in each, but is no faster than inside a node.
        """
        inside, between = self.inside, self.between
        if job_ranks <= self.node_ranks or self.node_ranks % (apart * ranks) == 0:
            return inside.us, inside.us_per_byte
        links = min(max(self.node_ranks // apart, 1), ranks)
        return between.us, max(inside.us_per_byte, between.us_per_byte / links)


@dataclass(frozen=True)
class Machine(Network):
    flops_per_second: float  # of one GPU
    bytes_per_second: float  # of its memory


def parts_us(
    passes: Sequence[Mapping[str, float]], update_us: float, overlaps: bool
) -> dict[str, float]:
    """The time of each kind of work within a step, by OVERLAP or SERIAL; hidden work
    takes none."""
    parts = dict.fromkeys(("compute", *_GROUPS), 0.0)
    for us in passes:
        computes = us["compute"] + us["tensor"] >= us["fsdp"] + us["data"]
        for kind in parts:
            if not overlaps or computes == (kind in ("compute", "tensor")):
                parts[kind] += us[kind]
    return parts | {"update": update_us}


def _at(one: Any, larger: Any, more: int) -> Any:
    """A step of any batch: its numbers grow linearly from step to step."""
    if isinstance(one, dict):
        return {key: _at(value, larger[key], more) for key, value in one.items()}
    if isinstance(one, list):
        return [_at(*pair, more) for pair in zip(one, larger, strict=True)]
    return one if isinstance(one, str) else one + more * (larger - one)


def _compute_us(work: Sequence[Json], on: Machine) -> float:
    """The sum over components of the longer of the times for FLOPs and for bytes."""
    seconds = 0.0
    for one in work:
        flops_seconds = one["flops"] / on.flops_per_second
        seconds += max(flops_seconds, one["bytes"] / on.bytes_per_second)
    return 1e6 * seconds


def _calls_us(mesh: Json, calls: Sequence[Json], on: Machine) -> dict[str, float]:
    """The time of each group's calls, one after another."""
    found, apart = {}, 1
    for group in _GROUPS:
        us, us_per_byte = on.ring(mesh[group], apart, mesh["ranks"])
        apart *= mesh[group]
        own = [one for one in calls if one["group"] == group]
        sent = sum(one["sent_bytes"] for one in own)
        found[group] = sum(one["calls"] for one in own) * us + sent * us_per_byte
    return found


def time_of(row: Json, batch: int, overlaps: bool, on: Machine) -> dict[str, Any]:
    """The time of a step with this batch, by a row of the program's answer."""
    one, larger = row["steps"]
    step = _at(one, larger, batch - one["batch"])
    forward, loss, backward = (
        _compute_us(step["work"].get(phase, ()), on)
        for phase in ("forward", "loss", "backward")
    )
    passes = {
        name: {"compute": us} | _calls_us(row["mesh"], step[name], on)
        for name, us in (
            ("forward", forward + loss),
            ("backward", backward),  # includes recomputation
        )
    }
    elements = row["predicted"]["shard_elements"]
    update_us = 1e6 * _UPDATE_BYTES * elements / on.bytes_per_second
    parts = parts_us([*passes.values()], update_us, overlaps)
    bound = max(parts, key=lambda part: parts[part])
    hides = not overlaps or parts["fsdp"] + parts["data"] == 0
    return {
        "step_us": sum(parts.values()),
        "bound": bound,
        # Compute is the largest part, and hides all collectives that it can hide.
        "is_compute_bound": hides and bound == "compute",
        "parts_us": parts,
        **{
            name: {f"{kind}_us": value for kind, value in us.items()}
            for name, us in passes.items()
        },
    }


def compute_bound_batch(row: Json, overlaps: bool, on: Machine) -> int | None:
    """The smallest batch that is compute-bound; None if the tensor group's all-reduces,
    which grow with it, take longer at any batch."""
    below = bisect_left(
        range(1, _MOST_BATCH + 1),
        True,
        key=lambda batch: time_of(row, batch, overlaps, on)["is_compute_bound"],
    )
    return below + 1 if below < _MOST_BATCH else None


def computed(row: Json, query: Json, on: Machine) -> dict[str, Any]:
    """The times of a row, as JSON."""
    mesh, predicted, overlaps = row["mesh"], row["predicted"], query["prefetch"]
    time = time_of(row, row["batch"], overlaps, on)
    seconds = time["step_us"] / 1e6
    tokens = row["batch"] * query["seq"] * mesh["data"] * mesh["fsdp"]
    flops = predicted["forward_flops"] + predicted["backward_flops"]
    return time | {
        "tokens_per_second": tokens / seconds,
        "model_flops_share": flops / seconds / on.flops_per_second,
        "compute_bound_batch": compute_bound_batch(row, overlaps, on),
    }

# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh: one rank of a job on many GPUs."""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby

from tools.planner.program import Ask, Json
from tools.planner.timing.mesh import OVERLAP, SERIAL, Machine, computed
from tools.planner.timing.rates import devices
from tools.planner.timing.step import links_of
from tools.rehearsal import mesh_text
from tools.rehearsal.mesh_flags import checkpoints, parse, request

# Returns rows of the program with a wish, "largest_batch" or "rehearse".
More = Callable[[list[Json], str], list[Json]]


def _machine(given: argparse.Namespace) -> Machine:
    """The given rates, or the GPU's in devices.tsv."""
    device = devices()[given.gpu]
    products = given.precision.partition("_")[0]  # bf16_autocast: bf16
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


def _chosen(row: Json, *keys: str) -> Json:
    return {key: row[key] for key in keys}


def _rehearse(rows: list[Json], more: More) -> None:
    """Rehearses the first row and, if it runs out of memory, the next ones that should
    fit, until one does; that one becomes the first."""
    for row in rows:
        if not row["predicted"] or (row is not rows[0] and not row["fits"]):
            break
        (found,) = more([row], "rehearse")
        row |= _chosen(found, "rehearsed", "why_not", "fits")
        if row["fits"]:
            break
    rows.sort(key=lambda row: not row["fits"])


def _plan(rows: list[Json], query: Json, on: Machine, more: More) -> list[Json]:
    """Returns the best rows, with times."""
    for row in rows:
        known = row["predicted"] is not None
        row["computed"] = computed(row, query, on) if known else None
    best = _best(rows)
    predicted = [row for row in best if row["predicted"]]
    for row, found in zip(predicted, more(predicted, "largest_batch"), strict=True):
        row |= _chosen(found, "predicted", "why_not", "fits")
    return best


def main(tokens: Sequence[str], program_on: Callable[[str], Ask]) -> int:
    """`program_on` a GPU answers."""
    given, meshes = parse(tokens)
    ask, asked, names = program_on(given.gpu), request(given), checkpoints(given)

    def more(rows: list[Json], wish: str) -> list[Json]:
        ranks = [row["mesh"] | {"checkpoint": row["checkpoint"]} for row in rows]
        found: list[Json] = ask(asked | {"ranks": ranks, wish: True})["rows"]
        return found

    own = [{"checkpoint": name} for name in names] or [{}]
    ranks = [mesh | one for mesh in meshes for one in own]
    answer = ask(asked | {"ranks": ranks})
    placed = [mesh for mesh in meshes for _ in own]
    rows = [
        {"mesh": mesh} | row for mesh, row in zip(placed, answer["rows"], strict=True)
    ]
    on = _machine(given)
    query = {
        **answer["model"],
        "checkpoint": ",".join(names) or answer["model"]["checkpoint"],
        "precision": given.precision,
        "batch": None if given.global_batch else given.batch,
        "global_batch": given.global_batch or None,
        **{name: asked[name] for name in ("seq", "reshard", "prefetch")},
        **{"rank": given.rank, "spare_bytes": asked["spare_bytes"]},
        "links": [asdict(link) for link in (on.inside, on.between)],
        "node_ranks": on.node_ranks,
        "device_tflops": on.flops_per_second / 1e12,
        "memory_gb_per_s": on.bytes_per_second / 1e9,
    }
    rows = _plan(rows, query, on, more)
    if not given.predict_only and len({row["mesh"]["ranks"] for row in rows}) == 1:
        _rehearse(rows, more)
    for row in rows:
        del row["steps"], row["needed_bytes"]
    shown = {
        "query": query,
        "device": answer["device"],
        "free_bytes": answer["free_bytes"],
        "overlap": OVERLAP if query["prefetch"] else SERIAL,
        "rows": rows,
    }
    print(json.dumps(shown, indent=1) if given.json else mesh_text.render(shown))
    return 0

# SPDX-License-Identifier: MIT
"""A rank of a mesh as text, for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence

from reports.results import text
from tools.rehearsal.text import Json, table, where

_BOUNDS = {
    "compute": "compute",
    "tensor": "the tensor group's communication",
    "fsdp": "the fsdp group's communication",
    "data": "the data group's communication",
    "update": "memory, in AdamW",
}
_EXACT = (
    "Rehearsed is exact: bytes of tensors at the caching allocator's peak, without "
    "what cuBLAS and NCCL keep; what it reserved for the steps, with cuBLAS; the "
    "kernels of a step, but for NCCL's; its collectives, with the bytes of whole "
    "buffers and those that a ring sends."
)
_COMPUTED = (
    "Computed, not measured: {overlap}. Compute takes the FLOPs of each component, "
    "without what a mask hides, at {tflops} TFLOP/s, or its least bytes at {memory} "
    "GB/s. A call takes {inside} inside a node of {node}, {between} from each GPU to "
    "other nodes."
)


def _size(count: float) -> str:
    return text.size(count, 4)


def _count(value: int) -> str:
    return f"{value:,}"


def _link(link: Json) -> str:
    return (
        f"{text.significant(link['us'])} us and {text.significant(link['gb_per_s'])} "
        f"GB/s ({link['name']})"
    )


def _batch(query: Json) -> str:
    whole = query["global_batch"]
    sequences = text.plural(query["batch"] if whole is None else whole, "sequence")
    where = "each data and fsdp rank" if whole is None else "all ranks together"
    return f"{sequences} of {_count(query['seq'])} tokens on {where}"


def _head(document: Json) -> str:
    query = document["query"]
    return (
        f"{document['device']}, {text.size(document['free_bytes'])} free, "
        f"{text.size(query['spare_bytes'])} of it spared for NCCL\n"
        f"{query['model']}: {_count(query['parameters'])} parameters, "
        f"{query['implementation']}, attention {query['attention']}, "
        f"{query['precision']}, checkpoint {query['checkpoint']}, {_batch(query)}"
    )


def _memory(row: Json) -> str:
    predicted, found = row["predicted"], row["rehearsed"] or {}
    of_part = f"of {_count(predicted['part_parameters'])} in its part"
    lines = [
        [what, shown(predicted[key]), shown(found[key]) if key in found else "-", note]
        for what, key, shown, note in (
            ("tensors, peak", "peak_bytes", _size, predicted["peak_at"]),
            ("tensors, between steps", "resident_bytes", _size, ""),
            ("tensors, build", "build_peak_bytes", _size, ""),
            ("reserved", "reserved_bytes", _size, "with libraries"),
            ("parameters", "shard_elements", _count, of_part),
        )
    ]
    return table(["memory of a rank", "predicted", "rehearsed", ""], lines)


def _by_kind(calls: Sequence[Json]) -> dict[str, Json]:
    return {f"{one['group']} {one['collective']}": one for one in calls}


def _collectives(row: Json) -> str:
    predicted = _by_kind(row["predicted"]["collectives"])
    found = (row["rehearsed"] or {}).get("collectives")
    shown = predicted if found is None else _by_kind(found)
    lines = []
    for name, calls in shown.items():
        if found is None:
            source = "predicted"
        else:
            source = "as predicted" if calls == predicted.get(name) else "not predicted"
        buffers, sent = _size(calls["bytes"]), _size(calls["sent_bytes"])
        lines.append([name, _count(calls["calls"]), buffers, sent, source])
    headings = ["collectives of a step", "calls", "buffers", "sent", ""]
    return table(headings, lines) if lines else ""


def _kernels(row: Json) -> str:
    found = row["rehearsed"]
    if found is None:
        return ""
    if "out_of_memory" in found:
        return f"memory {where(found['out_of_memory'])}"
    phases = ", ".join(
        f"{phase} {_count(count)}" for phase, count in found["kernels"].items()
    )
    counters = found["counters"]
    return f"kernels of a step: {_count(counters['launches'])} ({phases})"


def _times(row: Json) -> str:
    computed = row["computed"]
    forward, backward = computed["forward"], computed["backward"]
    update = computed["update_us"]
    lines = [
        [part, *(text.time(each[f"{part}_us"]) for each in (forward, backward)), ""]
        for part in ("compute", "tensor", "fsdp", "data")
    ]
    lines.append(["AdamW", "", text.time(update), ""])
    shares = ", ".join(
        f"{name} {text.percent(us / computed['step_us'])}"
        for name, us in computed["parts_us"].items()
        if us > 0
    )
    return "\n".join(
        [
            table(["computed time", "forward", "backward", ""], lines),
            f"step {text.time(computed['step_us'])} at least, bound by "
            f"{_BOUNDS[computed['bound']]} ({shares}); "
            f"{text.percent(computed['model_flops_share'])} of the peak, "
            f"{text.rate(computed['tokens_per_second'], 'tokens/s')}",
        ]
    )


def _batches(row: Json, seq: int) -> str:
    batch = row["computed"]["compute_bound_batch"]
    largest = row["predicted"]["largest_batch"]
    bound = (
        "at no batch"
        if batch is None
        else f"from a batch of {batch}, {_count(batch * seq)} tokens"
    )
    return f"compute-bound {bound}; memory holds a batch of {_count(largest)}"


def _row(row: Json, query: Json) -> Iterator[str]:
    mesh = row["mesh"]
    checkpoint = f", checkpoint {row['checkpoint']}" if row["checkpoint"] else ""
    yield (
        f"the {query['rank']} rank of {mesh['name']}, "
        f"{text.plural(mesh['ranks'], 'rank')}{checkpoint}: {row['why_not'] or 'fits'}"
    )
    if row["predicted"] is None:
        return
    yield _memory(row)
    yield _collectives(row)
    yield _kernels(row)
    yield _times(row) + "\n" + _batches(row, query["seq"])


def _list(rows: Sequence[Json]) -> str:
    lines = []
    for row in rows:
        mesh, computed, predicted = row["mesh"], row["computed"], row["predicted"]
        cells = ["-"] * 9
        if computed is not None:
            batch = computed["compute_bound_batch"]
            cells = [
                str(row["batch"]),
                row["checkpoint"],
                text.size(predicted["needed_bytes"]),
                text.time(computed["step_us"]),
                text.rate(computed["tokens_per_second"], "").rstrip(),
                text.percent(computed["model_flops_share"]),
                computed["bound"],
                "-" if batch is None else _count(batch),
                _count(predicted["largest_batch"]),
            ]
        why = row["why_not"] or "fits"
        lines.append([f"{mesh['ranks']}: {mesh['name']}", *cells, why])
    headings = ["predicted", "batch", "checkpoint", "memory", "step", "tokens/s"]
    return table([*headings, "of peak", "bound", "from", "largest", ""], lines)


_LIST = """\
batch: sequences of each data and fsdp rank; from: the smallest that is compute-bound;
largest: that memory holds. The times are computed."""


def render(document: Json) -> str:
    query, rows = document["query"], document["rows"]
    parts = [_head(document)]
    if len(rows) > 1:
        parts.append(f"{_list(rows)}\n{_LIST}")
    rehearsed = [row for row in rows if row["rehearsed"] is not None]
    if rehearsed or len(rows) == 1:
        parts += _row(rehearsed[0] if rehearsed else rows[0], query)
    if rehearsed:
        parts.append(textwrap.fill(_EXACT, 88))
    inside, between = query["links"]
    computed = _COMPUTED.format(
        overlap=document["overlap"],
        tflops=text.significant(query["device_tflops"]),
        memory=text.significant(query["memory_gb_per_s"], 4),
        inside=_link(inside),
        node=query["node_ranks"],
        between=_link(between),
    )
    parts.append(textwrap.fill(computed, 88))
    return "\n\n".join(part for part in parts if part)

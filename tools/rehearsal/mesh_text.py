# SPDX-License-Identifier: MIT
"""A rank of a mesh as text, for a terminal."""

import textwrap
from collections import Counter
from collections.abc import Iterator

from reports.results import text
from tools.planner.tables import Json, at, counted, table
from tools.rehearsal.text import where

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
    "without what a mask hides, at {tflops} TFLOP/s, or the bytes that its operators "
    "read and write, at {memory} GB/s. A call takes {inside} inside a node of {node}, "
    "{between} from each GPU to other nodes."
)


def _size(count: float) -> str:
    return text.size(count, 4)


_COLLECTIVES = {
    "collectives of a step": "{0[group]} {0[collective]}".format,
    "calls": at("calls", counted),
    "buffers": at("bytes", _size),
    "sent": at("sent_bytes", _size),
    "": at("source"),
}
_MESHES = {
    "predicted": at("mesh", "{0[ranks]}: {0[name]}".format),
    "batch": at("batch"),
    "checkpoint": at("checkpoint"),
    "memory": at("predicted.needed_bytes", text.size),
    "step ≥": at("computed.step_us", text.time),
    "tokens/s ≤": at(
        "computed.tokens_per_second", lambda rate: text.rate(rate, "").strip()
    ),
    "of peak ≤": at("computed.model_flops_share", text.percent),
    "bound": at("computed.bound"),
    "from": at("computed.compute_bound_batch", counted),
    "largest": at("predicted.largest_batch", counted),
    "": lambda row: row["why_not"] or "fits",
}
_LIST = """\
batch: sequences of each data and fsdp rank; from: the smallest that is compute-bound;
largest: that memory holds; memory: what the allocator reserves for the build and the
steps, with cuBLAS's. Times are computed: the least that the rates allow."""


def _link(link: Json) -> str:
    return (
        f"{text.significant(link['us'])} us and {text.significant(link['gb_per_s'])} "
        f"GB/s ({link['name']})"
    )


def _batch(query: Json) -> str:
    count, ranks = query["global_batch"], "all ranks together"
    if count is None:
        count, ranks = query["batch"], "each data and fsdp rank"
    sequences = text.plural(count, "sequence")
    return f"{sequences} of {counted(query['seq'])} tokens on {ranks}"


def _head(document: Json) -> str:
    query = document["query"]
    return (
        f"{document['device']}, {text.size(document['free_bytes'])} free, "
        f"{text.size(query['spare_bytes'])} of it spared for NCCL\n"
        f"{query['model']}: {counted(query['parameters'])} parameters, "
        f"{query['implementation']}, attention {query['attention']}, "
        f"{query['precision']}, checkpoint {query['checkpoint']}, {_batch(query)}"
    )


def _memory(row: Json) -> str:
    predicted, found = row["predicted"], row["rehearsed"] or {}
    of_part = f"of {counted(predicted['part_parameters'])} in its part"
    lines = [
        [what, shown(predicted[key]), shown(found[key]) if key in found else "-", note]
        for what, key, shown, note in (
            ("tensors, peak", "peak_bytes", _size, predicted["peak_at"]),
            ("tensors, between steps", "resident_bytes", _size, ""),
            ("tensors, build", "build_peak_bytes", _size, ""),
            ("reserved", "reserved_bytes", _size, "with libraries"),
            ("parameters", "shard_elements", counted, of_part),
        )
    ]
    headings = ["memory of a rank", "predicted", "rehearsed", ""]
    return "\n".join(text.columns([headings, *lines]))


def _collectives(row: Json) -> str:
    predicted = row["predicted"]["collectives"]
    found = (row["rehearsed"] or {}).get("collectives")
    if found is None:
        lines = [{**calls, "source": "predicted"} for calls in predicted]
    else:
        source = {True: "as predicted", False: "not predicted"}
        lines = [{**calls, "source": source[calls in predicted]} for calls in found]
    return table(lines, _COLLECTIVES, (0, -1)) if lines else ""


def _kernels(row: Json) -> str:
    found = row["rehearsed"]
    if found is None:
        return ""
    if "out_of_memory" in found:
        return f"memory {where(found['out_of_memory'])}"
    launches: Counter[str] = Counter()
    for phase in found["phases"]:  # one may be entered again
        launches[phase["name"]] += phase["counters"]["launches"]
    phases = ", ".join(f"{phase} {counted(count)}" for phase, count in launches.items())
    return f"kernels of a step: {counted(launches.total())} ({phases})"


def _times(row: Json) -> str:
    computed = row["computed"]
    forward, backward = computed["forward"], computed["backward"]
    lines = [
        [part, *(text.time(each[f"{part}_us"]) for each in (forward, backward))]
        for part in ("compute", "tensor", "fsdp", "data")
    ]
    lines.append(["AdamW", "", text.time(computed["parts_us"]["update"])])
    bound, step_us = computed["bound"], computed["step_us"]
    is_half = computed["parts_us"][bound] >= step_us / 2
    most = "bound by" if is_half else "the largest part is"
    shares = ", ".join(
        f"{name} {text.percent(us / step_us)}"
        for name, us in computed["parts_us"].items()
        if us > 0
    )
    return "\n".join(
        [
            *text.columns([["computed time", "forward", "backward"], *lines], (0,)),
            f"step {text.time(step_us)} at least, {most} {_BOUNDS[bound]} ({shares}); "
            f"at most {text.percent(computed['model_flops_share'])} of the peak, "
            f"{text.rate(computed['tokens_per_second'], 'tokens/s')}",
        ]
    )


def _batches(row: Json, seq: int) -> str:
    batch = row["computed"]["compute_bound_batch"]
    largest = row["predicted"]["largest_batch"]
    bound = (
        "at no batch"
        if batch is None
        else f"from a batch of {batch}, {counted(batch * seq)} tokens"
    )
    return f"compute-bound {bound}; memory holds a batch of {counted(largest)}"


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


def render(document: Json) -> str:
    query, rows = document["query"], document["rows"]
    parts = [_head(document)]
    if len(rows) > 1:
        # Without a prediction, only the reason is known.
        unknown = {"batch": None, "checkpoint": None}
        shown = [row if row["computed"] else {**row, **unknown} for row in rows]
        parts.append(f"{table(shown, _MESHES, (0, -1))}\n{_LIST}")
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

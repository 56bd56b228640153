# SPDX-License-Identifier: MIT
"""The memory and the cost of models, as text for a terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from reports.results import text
from tools.planner.formulas import count
from tools.planner.recipes import TOTALS
from tools.planner.tables import Columns, Json, at, counted, each, table, yes

_NOTES = """\
peak is the maximum over a step, found by a dry run of it, not the sum of the columns
before it: they are not all alive at once.
TFLOP counts matmuls only, AdamW's operations apart; moved is the least traffic with
device memory; all are per step.
saved is what the forward pass keeps for the backward pass; max seq is the longest that
fits at this batch, up to 1048576.
residual is one tensor of the residual stream, logits the largest of the last product,
each once.
Predictions count tensors: leave room for the device's context, library workspaces and
fragmentation."""
_CHECKPOINT_NOTES = """\
longer and larger compare with the model's first line; at an unchanged rate of the
hardware (HFU) the step takes longer by the last column."""


def _teraflop(flops: float) -> str:
    value = flops / 1e12
    return f"{value:.{3 if value < 10 else 1 if value < 1000 else 0}f}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return text.time(seconds * 1e6)
    if seconds < 2 * 3600:
        return f"{seconds / 60:.1f} min"
    if seconds < 2 * 86400:
        return f"{seconds / 3600:.1f} h"
    return f"{count(seconds / 86400)} days"


_MODEL: Columns = {"model": at("model")}
_COST: Columns = {
    **_MODEL,
    "attention": at("attention"),
    "parameters": at("params", counted),
    "weights": at("parameter_bytes", text.size),
    "gradients": at("gradient_bytes", text.size),
    "optimizer": at("optimizer_bytes", text.size),
    "saved": at("saved_bytes", text.size),
    "per block": at("saved_bytes_per_block", text.size),
    "peak": at("predicted_peak_bytes", text.size),
    "fits": at("fits", yes),
    "max seq": at("largest_seq"),
    "TFLOP": at("flops", _teraflop),
    "moved": at("bytes", text.size),
}
_TENSORS: Columns = {
    **_MODEL,
    "residual": at("residual_bytes", text.size),
    "logits": at("logit_bytes", text.size),
    "largest": at("largest_tensor.bytes", text.size),
    "largest tensor": at("largest_tensor", "{0[name]}, {0[component]}".format),
}
_BLOCK: Columns = {
    "operator": at("operator"),
    "bytes": at("bytes", text.size),
    "shape": at("shape"),
    "dtype and component": "{0[dtype]} {0[component]}".format,
}
_TRAINING: Columns = {
    **_MODEL,
    "steps": at("training.steps", count),
    "time": at("training.seconds", _duration),
    "rate": at("training.flops_per_second", lambda rate: text.rate(rate, "FLOP/s")),
    "MFU": at("training.mfu", text.percent),
    "at": at("training.basis"),
}
_TIME: Columns = {
    **_MODEL,
    "step": at("time.predicted_us", text.time),
    "90 %": lambda row: " to ".join(
        text.time(row["time"][end]) for end in ("low_us", "high_us")
    ),
    "TFLOP/s": lambda row: text.significant(
        1e-6 * row["flops"] / row["time"]["predicted_us"]
    ),
}
_CHECKPOINTS: Columns = {
    **_MODEL,
    "checkpoint": at("checkpoint"),
    "saved": at("saved_bytes", text.size),
    "peak": at("predicted_peak_bytes", text.size),
    "fits": at("fits", yes),
    "max seq": at("largest_seq"),
    "longer": at("longer", "{:.2f}".format),
    "max batch": at("largest_batch"),
    "larger": at("larger", "{:.2f}".format),
    "TFLOP again": at("recomputed_flops", _teraflop),
    "of the step": lambda row: text.percent(row["recomputed_flops"] / row["flops"]),
}


def _highest(row: Json) -> Json:
    return {one["phase"]: one["bytes"] for one in row["moments"]}


def _flops(row: Json) -> Json:
    update = {"optimizer": row["adamw_flops"]} if row["adamw_flops"] else {}
    return {**row["flops_by_component"], **update}


def _shares(row: Json) -> Json:
    parts, whole_us = row["time"]["parts_us"], row["time"]["predicted_us"]
    return {kind: us / whole_us for kind, us in parts.items()}


def _recipe(rows: Sequence[Json]) -> str:
    """A line for each item, a column for each model."""
    recipes = [row["recipe"] for row in rows]
    lines = [["at", "item", *(row["model"] for row in rows)]]
    for part in ("static", "gradient", "peak", "reserved"):
        for item in dict.fromkeys(name for one in recipes for name in one[part]):
            sizes = (text.size(one[part].get(item, 0)) for one in recipes)
            lines.append([part, item, *sizes])
    for total in TOTALS:
        sizes = (text.size(one[f"{total}_bytes"]) for one in recipes)
        lines.append([total, "together", *sizes])
    lines.append(["peak", "fits", *(yes(one["fits"]) for one in recipes)])
    batches = [one["largest_batch"] for one in recipes]
    if None not in batches:
        lines.append(["peak", "largest batch", *map(str, batches)])
    title = f"recipe {recipes[0]['name']}, on a rank"
    return "\n".join([title, *text.columns(lines, (0, 1))])


def _details(rows: Sequence[Json], query: Json) -> Iterator[str]:
    highest = _MODEL | each(rows, _highest, text.size)
    highest["peak at"] = at("predicted_peak_moment")
    yield table(rows, highest, (0, -1), "highest point of each phase")
    yield table(rows, _TENSORS, (0, -1), "single tensors")
    yield table(
        rows, _MODEL | each(rows, _flops, _teraflop), title="TFLOP by component"
    )
    if rows[0]["mode"] != "inference":
        saved = _MODEL | each(
            rows, itemgetter("saved_by_component"), at("bytes", text.size)
        )
        yield table(rows, saved, title="saved for the backward pass")
        # For a single model there is room to list each tensor.
        if len(rows) == 1:
            tensors = rows[0]["saved_tensors_per_block"]
            yield table(tensors, _BLOCK, (0, -1), "saved by one block")
    if "time" in rows[0]:
        title = f"predicted time on {query['device']}"
        yield table(rows, _TIME | each(rows, _shares, text.percent, "0 %"), title=title)
    if "training" in rows[0]:
        yield table(rows, _TRAINING, (0, -1), "training")
    if "recipe" in rows[0]:
        yield _recipe(rows)


_FACTORS = {"longer": "largest_seq", "larger": "largest_batch"}


def _checkpointing(rows: Sequence[Json]) -> str:
    """Compares the checkpointing choices of each model with its first one."""
    compared = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        for row in own:
            factors = {
                name: row[size] / own[0][size] if own[0][size] else None
                for name, size in _FACTORS.items()
            }
            compared.append({**row, **factors})
    title = f"checkpointing, {rows[0]['precision']} {rows[0]['mode']}"
    return table(compared, _CHECKPOINTS, title=title)


def _step(row: Json) -> tuple[str, str]:
    return row["precision"], row["mode"]


def render(document: Json) -> str:
    """Formats a plan: a table for each precision, mode and checkpointing."""
    query, rows = document["query"], document["rows"]
    head = f"batch {query['batch']}, seq {query['seq']}, device memory "
    head += text.size(query["device_memory_bytes"])
    if "tokens" in query:
        head += f", training on {query['tokens']:,} tokens"
    parts = [head]
    # The same widths in all tables make them easy to compare.
    top, *lines = table(rows, _COST).splitlines()
    size = len(query["models"])
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        title = " ".join(_step(group[0]))
        if "checkpoints" in query:
            title += f", checkpoint {group[0]['checkpoint']}"
        if "recipe" in group[0]:
            title += ", of this suite, without shards"
        parts.append("\n".join([title, top, *lines[start : start + size]]))
        parts += _details(group, query)
    # Parameters are the same for every precision and mode.
    first = rows[:size]
    parameters = _MODEL | each(first, itemgetter("params_by_component"), counted)
    parts.append(table(first, parameters, title="parameters by component"))
    if "checkpoints" in query:
        parts += [_checkpointing(list(group)) for _, group in groupby(rows, _step)]
        parts[-1] += f"\n{_CHECKPOINT_NOTES}"
    return "\n\n".join([*parts, _NOTES])

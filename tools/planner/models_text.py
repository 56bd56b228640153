# SPDX-License-Identifier: MIT
"""The memory and the cost of models, as text for a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from reports.results import text
from tools.planner.formulas import count
from tools.planner.recipes import TOTALS

Json = Mapping[str, Any]
Cells = list[str]
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
_HEAD = (
    *("model", "parameters", "weights", "gradients", "optimizer", "saved"),
    *("per block", "peak", "fits", "max seq", "TFLOP", "moved"),
)
_BYTES = (
    *("parameter_bytes", "gradient_bytes", "optimizer_bytes", "saved_bytes"),
    *("saved_bytes_per_block", "predicted_peak_bytes"),
)


def _yes(fits: bool) -> str:
    return "yes" if fits else "no"


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


def _table(title: str, lines: Sequence[Cells], left: Sequence[int]) -> str:
    return "\n".join([title, *text.columns(lines, left)])


def _cost(row: Json) -> Cells:
    return [
        row["model"],
        f"{row['params']:,}",
        *(text.size(row[key]) for key in _BYTES),
        _yes(row["fits"]),
        str(row["largest_seq"]),
        _teraflop(row["flops"]),
        text.size(row["bytes"]),
    ]


def _phases(rows: Sequence[Json]) -> str:
    lines = [["model", *(one["phase"] for one in rows[0]["moments"]), "peak at"]]
    for row in rows:
        highest = [text.size(one["bytes"]) for one in row["moments"]]
        lines.append([row["model"], *highest, row["predicted_peak_moment"]])
    return _table("highest point of each phase", lines, (0, -1))


def _tensors(rows: Sequence[Json]) -> str:
    lines = [["model", "residual", "logits", "largest", "largest tensor"]]
    for row in rows:
        largest = row["largest_tensor"]
        sizes = (row["residual_bytes"], row["logit_bytes"], largest["bytes"])
        name = f"{largest['name']}, {largest['component']}"
        lines.append([row["model"], *map(text.size, sizes), name])
    return _table("single tensors", lines, (0, -1))


def _by_component(
    title: str, rows: Sequence[Json], values: Callable[[Json], Mapping[str, str]]
) -> str:
    """A line for each row, a column for each component that a row has."""
    found = [values(row) for row in rows]
    names = list(dict.fromkeys(name for one in found for name in one))
    lines = [["model", *names]]
    for row, one in zip(rows, found, strict=True):
        lines.append([row["model"], *(one.get(name, "-") for name in names)])
    return _table(title, lines, (0,))


def _flops(row: Json) -> dict[str, str]:
    update = {"optimizer": row["adamw_flops"]} if row["adamw_flops"] else {}
    flops = row["flops_by_component"] | update
    return {name: _teraflop(value) for name, value in flops.items()}


def _saved(row: Json) -> dict[str, str]:
    saved = row["saved_by_component"].items()
    return {name: text.size(part["bytes"]) for name, part in saved}


def _parameters(row: Json) -> dict[str, str]:
    return {name: f"{value:,}" for name, value in row["params_by_component"].items()}


def _block(row: Json) -> str:
    lines = [["operator", "bytes", "shape", "dtype and component"]]
    for one in row["saved_tensors_per_block"]:
        what = f"{one['dtype']} {one['component']}"
        lines.append([one["operator"], text.size(one["bytes"]), one["shape"], what])
    return _table("saved by one block", lines, (0, -1))


def _training(rows: Sequence[Json]) -> str:
    lines = [["model", "steps", "time", "rate", "MFU", "at"]]
    for row in rows:
        time = row["training"]
        cells = ["-", "-"]
        if time["seconds"] is not None:
            rate = text.rate(time["flops_per_second"], "FLOP/s")
            cells = [_duration(time["seconds"]), rate]
        share = text.percent(time["mfu"]) if "mfu" in time else "-"
        lines.append([row["model"], count(time["steps"]), *cells, share, time["basis"]])
    return _table("training", lines, (0, -1))


def _time(rows: Sequence[Json], device: str) -> str:
    kinds = dict.fromkeys(kind for row in rows for kind in row["time"]["parts_us"])
    lines = [["model", "step", "90 %", "TFLOP/s", *kinds]]
    for row in rows:
        time = row["time"]
        us, parts = time["predicted_us"], time["parts_us"]
        ends = " to ".join(text.time(time[end]) for end in ("low_us", "high_us"))
        rate = text.significant(1e-6 * row["flops"] / us)
        shares = (text.percent(parts.get(kind, 0) / us) for kind in kinds)
        lines.append([row["model"], text.time(us), ends, rate, *shares])
    return _table(f"predicted time on {device}", lines, (0,))


def _recipe(rows: Sequence[Json]) -> str:
    """A line for each item, a column for each model."""
    lines = [["at", "item", *(row["model"] for row in rows)]]
    for part in ("static", "gradient", "peak", "reserved"):
        for item in dict.fromkeys(name for row in rows for name in row["recipe"][part]):
            sizes = (text.size(row["recipe"][part].get(item, 0)) for row in rows)
            lines.append([part, item, *sizes])
    for total in TOTALS:
        sizes = (text.size(row["recipe"][f"{total}_bytes"]) for row in rows)
        lines.append([total, "together", *sizes])
    lines.append(["peak", "fits", *(_yes(row["recipe"]["fits"]) for row in rows)])
    batches = [row["recipe"]["largest_batch"] for row in rows]
    if None not in batches:
        lines.append(["peak", "largest batch", *map(str, batches)])
    return _table(f"recipe {rows[0]['recipe']['name']}, on a rank", lines, (0, 1))


def _details(rows: Sequence[Json], query: Json) -> Iterator[str]:
    yield _phases(rows)
    yield _tensors(rows)
    yield _by_component("TFLOP by component", rows, _flops)
    if rows[0]["mode"] != "inference":
        yield _by_component("saved for the backward pass", rows, _saved)
        # For a single model there is room to list each tensor.
        if len(rows) == 1:
            yield _block(rows[0])
    if "time" in rows[0]:
        yield _time(rows, query["device"])
    if "training" in rows[0]:
        yield _training(rows)
    if "recipe" in rows[0]:
        yield _recipe(rows)


def _checkpointing(rows: Sequence[Json]) -> str:
    """Compares the checkpointing choices of each model with its first one."""

    def factor(row: Json, first: Json, key: str) -> str:
        return f"{row[key] / first[key]:.2f}" if first[key] else "-"

    sizes = ["max seq", "longer", "max batch", "larger"]
    last = ["TFLOP again", "of the step"]
    lines = [["model", "checkpoint", "saved", "peak", "fits", *sizes, *last]]
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        for row in own:
            cells = [model, row["checkpoint"]]
            cells += map(text.size, (row["saved_bytes"], row["predicted_peak_bytes"]))
            cells.append(_yes(row["fits"]))
            for key in ("largest_seq", "largest_batch"):
                cells += [str(row[key]), factor(row, own[0], key)]
            again = row["recomputed_flops"]
            cells += [_teraflop(again), text.percent(again / row["flops"])]
            lines.append(cells)
    title = f"checkpointing, {rows[0]['precision']} {rows[0]['mode']}"
    return _table(title, lines, (0,))


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
    top, *lines = text.columns([_HEAD, *map(_cost, rows)], (0,))
    size = len(query["models"])
    for first in range(0, len(rows), size):
        group = rows[first : first + size]
        title = " ".join(_step(group[0]))
        if "checkpoints" in query:
            title += f", checkpoint {group[0]['checkpoint']}"
        parts.append("\n".join([title, top, *lines[first : first + size]]))
        parts += _details(group, query)
    # Parameters are the same for every precision and mode.
    parts.append(_by_component("parameters by component", rows[:size], _parameters))
    if "checkpoints" in query:
        parts += [_checkpointing(list(group)) for _, group in groupby(rows, _step)]
        parts[-1] += f"\n{_CHECKPOINT_NOTES}"
    return "\n\n".join([*parts, _NOTES])

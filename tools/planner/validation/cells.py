# SPDX-License-Identifier: MIT
"""Measured jobs, of bytes or of times, and the cells of points.tsv."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from reports.results.text import Table
from tools.planner.recipes import read_table
from tools.planner.timing import NODE
from tools.planner.timing.step import Ranks

DATA = Path(__file__).resolve().parents[3] / "reports/reference/public"
Row = dict[str, str]
T = TypeVar("T")
SIZES = "layers,d,ff,heads(kv),vocab"
# Tokens of a micro-batch if the source does not give its size.
TOKENS = 4096


class Lacks(Exception):
    """Says why no job can express a measured point."""


@dataclass(frozen=True)
class MeasuredJob:
    """A measured job. If no job of the program can express it, `lacks` says why."""

    name: str
    gpu: str
    lacks: str = field(default="", kw_only=True)


M = TypeVar("M", bound=MeasuredJob)


def expressed(measured: M, with_job: Callable[[M, Row], M], row: Row) -> M:
    """Adds the job that the row describes, or why no job can express it."""
    try:
        return with_job(measured, row)
    except Lacks as lacks:
        return replace(measured, lacks=str(lacks))
    except (KeyError, ValueError, ZeroDivisionError) as error:
        return replace(measured, lacks=f"cells of a known form: {error}")


def judge(
    measured: Iterable[M],
    one: Callable[[M], T],
    errors: tuple[type[Exception], ...] = (Lacks,),
) -> tuple[list[T], list[M]]:
    """Judges each by `one`. Also returns those for which it raises one of the `errors`:
    no job can express them."""
    judged, lacking = [], []
    for each in measured:
        try:
            judged.append(one(each))
        except errors as lacks:
            lacking.append(replace(each, lacks=str(lacks)))
    return judged, lacking


def as_json(lacking: Iterable[MeasuredJob], **parts: object) -> str:
    """Formats the parts, and then what no job can express."""
    parts["lacking"] = [{"name": each.name, "lacks": each.lacks} for each in lacking]
    return json.dumps(parts, indent=2)


def counted(lacking: Iterable[MeasuredJob], what: str) -> Table:
    """Tabulates how many lack the same."""
    counts = Counter(each.lacks for each in lacking).most_common()
    return Table(("lacks", what), [[word, str(count)] for word, count in counts])


def table(
    path: Path, readers: Iterable[tuple[set[str], T]], allowed: str
) -> tuple[list[Row], T]:
    """Returns the rows of a file, and the first reader that needs no other columns. A
    missing cell is empty; a source `same` becomes the source of the row above. Raises
    ValueError if each reader needs another column; `allowed` names files with them."""
    rows = read_table(path)
    columns, source = list(rows[0]) if rows else [], ""
    for row in rows:
        row |= {key: cell or "" for key, cell in row.items()}
        if row.setdefault("source", "") == "same":
            row["source"] = source
        source = row["source"]
    for needed, read in readers:
        if needed.issubset(columns):
            return rows, read
    raise ValueError(
        f"{path} has the columns {', '.join(columns) or 'of no row'}; "
        f"allowed: the columns of {allowed}"
    )


@cache
def data(name: str) -> list[Row]:
    """Returns the rows of a committed table."""
    return read_table(DATA / name)


def named(kind: str, words: str) -> str | None:
    """Returns what the first pattern of this kind that matches means, or None."""
    for row in data("names.tsv"):
        if row["kind"] == kind and re.search(row["pattern"], words, re.IGNORECASE):
            return row["means"]
    return None


def fields(**values: object) -> str:
    """Formats a value of --model; empty fields are left out."""
    return ",".join(f"{key}={value}" for key, value in values.items() if value)


def architecture(row: Row) -> dict[str, str]:
    means = named("architecture", row["model"])
    if means is None:
        raise Lacks(f"a known architecture; there is {row['model']!r}")
    if not means:
        raise Lacks("a dense model")
    found = dict(setting.split("=") for setting in means.split(","))
    return found | {"context": row["seq"]} if "positions" in found else found


def sizes(row: Row) -> dict[str, Any]:
    """Returns the model's sizes, and whether its embeddings are tied, as GPT's always
    are. If the row leaves out the heads, each has 128 elements, as in Megatron."""
    cell = row[SIZES]
    if cell == "same":
        cell = named("sizes", row["model"]) or cell
    form = r"(\d+),(\d+),(\d+)(d?),(\d+|-)(?:\((\d+)\))?,(\d+)( tied)?"
    found = re.fullmatch(form, cell)
    if not found:
        raise Lacks(f"sizes of a known form; there is {cell!r}")
    d_model = int(found[2])
    is_tied = found[8] or architecture(row)["mlp"] == "gelu"
    return {
        "d_model": d_model,
        "d_ff": int(found[3]) * (d_model if found[4] else 1),
        "layers": int(found[1]),
        "heads": d_model // 128 if found[5] == "-" else int(found[5]),
        "kv_heads": int(found[6] or 0),
        "vocab": int(found[7]),
        "tied_embeddings": "true" if is_tied else "",
    }


def framework(row: Row) -> str:
    """Returns the recipe of the row's framework, PyTorch's if the source names none."""
    return named("recipe", row["source"]) or "pytorch"


def is_fused(row: Row) -> bool:
    """Whether the job is compiled, or uses the framework's own kernels."""
    has_own = framework(row) in ("megatron", "llm.c") or "TinyLlama" in row["source"]
    return has_own or bool(re.search("(?<!no )compile", row["parallelism"]))


def recomputed(row: Row) -> float:
    """The recomputed share of the blocks. Megatron's selective recomputation covers
    only unfused scores, other frameworks' every second product or block."""
    words = row["checkpointing"]
    if words in ("none", "n/s", "", "False"):
        return 0
    if re.fullmatch("full|True|full / .*", words):
        return 1
    if words.startswith("selective"):
        return 0 if framework(row) == "megatron" else 0.5
    raise Lacks(f"a known recomputation; there is {words!r}")


def arithmetic(row: Row) -> str:
    """The precision of matrix products: fp32, tf32, fp16 or bf16."""
    words = f"{row['precision']} {row['parallelism']}".lower()
    for kind in ("fp8", "float8", "fp4"):
        if kind in words:
            raise Lacks(kind)
    for kind in ("tf32", "fp32", "fp16", "bf16"):
        if kind in words:
            return kind
    raise Lacks(f"a known precision; there is {row['precision']!r}")


def _count(pattern: str, words: str, default: int = 1) -> int:
    found = re.search(pattern, words)
    return int(found[1]) if found else default


def batches(row: Row, of: Ranks, seq: int) -> tuple[int, int]:
    """Returns the batch of a micro-batch, and a rank's micro-batches per step."""
    words = re.sub(r"(?<=\d),(?=\d{3})", "", row["batch"])
    whole = re.search(r"gb (\d+)", words)
    own = re.search(r"^(?:mb )?(\d+)", words)
    if not whole:
        return int(own[1]) if own else max(TOKENS // seq, 1), 1
    of_rank = int(whole[1]) // of.data
    if not of_rank:
        raise Lacks(f"a sequence for each of {of.data} ranks; there is {words!r}")
    batch = int(own[1]) if own else min(max(TOKENS // seq, 1), of_rank)
    return batch, max(of_rank // batch, 1)


def ranks(row: Row) -> Ranks:
    words = row["parallelism"].partition(" / ")[0]  # of several measured ways
    for kind in ("CP", "EP"):
        if _count(rf"{kind} ?(\d+)", words) > 1:
            raise Lacks("context parallelism" if kind == "CP" else "experts")
    both = _count(r"model parallel (\d+)", words)  # tensor ranks within a node
    tensor = _count(r"TP ?(\d+)", words, min(both, NODE))
    pipeline = _count(r"PP ?(\d+)", words, max(both // NODE, 1))
    degrees = map(int, re.findall(r"[DTP]P ?(\d+)", words))
    gpus = int(row.get("n") or math.prod(degrees))
    return Ranks(
        tensor=tensor,
        pipeline=pipeline,
        chunks=_count(r"VP ?(\d+)", words),
        data=max(gpus // (tensor * pipeline), 1),
        shards_parameters=bool(re.search("[FH]SDP|ZeRO-3", words, re.IGNORECASE)),
        shards_optimizer=bool(re.search("optimizer|zero", words, re.IGNORECASE)),
        # The table in Megatron-LM's README.md and NVIDIA's recipes hide communication
        # among tensor ranks, which requires sequence parallelism.
        sequence_parallel="+SP" in words
        or bool(re.search("model_table|dgxc", row.get("source", ""))),
    )

# SPDX-License-Identifier: MIT
"""The rates of a device, which give the time of one operator.

A GPU's rates are rows of devices.tsv, each with its source. The share of the peak that
a matrix product reaches depends on its shape: it is the share that the nearest measured
products reach. Nothing is fitted to a step.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tools.planner.recipes import read_table
from tools.planner.timing import TABLE

if TYPE_CHECKING:
    from reports.results.rows import Result, Row

KERNELS = Path(__file__).resolve().parents[3] / "reports/reference/public/vidur_ops.tsv"
Floats = NDArray[np.float64]
_UNITS = {"TFLOP/s": 1e12, "TB/s": 1e12, "GB/s": 1e9, "GiB": 2**30}
_NEAREST = 5
# The sequence at which causal attention reaches half of its rate, and the backward
# pass's share of it: arXiv 2407.08608, figure 5; Dao-AILab/flash-attention#2688.
HALF_SEQ, BACKWARD = 300, 0.85
# Shares of the peak: arXiv 2307.08691, abstract. devices.tsv has their middle.
_ATTENTION = 0.50, 0.73
# Host time of an eager operator on a GPU: LibTorch's dispatcher and a launch.
_OPERATOR_US = 5.0
# The measured kernel that is most like an operator; all others are like an addition.
_LIKE = (
    (("norm",), "input_layernorm"),
    (("gelu", "silu", "swiglu", "relu"), "mlp_act"),
)


@dataclass(frozen=True)
class Shares:
    """The share of a peak that products reach, by the minimum times of their FLOPs and
    their bytes, which on any device describe a product's size and intensity."""

    least_us: Floats  # [product, 2]
    share: Floats

    def near(self, least_us: Floats, but: int | None = None) -> float:
        """The geometric mean of the nearest products' shares, without product `but`."""
        distances = (np.log(self.least_us / least_us) ** 2).sum(axis=1)
        if but is not None:
            distances[but] = math.inf
        nearest = np.argsort(distances)[:_NEAREST]
        return float(np.exp(np.log(self.share[nearest]).mean()))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The 5 % and 95 % quantiles of measured over predicted time, if each product
        is predicted from the others."""
        near = [self.near(us, but=i) for i, us in enumerate(self.least_us)]
        low, high = np.quantile(np.array(near) / self.share, (0.05, 0.95))
        return float(low), float(high)


@dataclass(frozen=True)
class Device:
    name: str
    peaks: Mapping[str, float]  # FLOP/s, bytes per second; devices.tsv names them
    shares: Mapping[str, Shares]  # of matrix products, by the name of their peak
    # By kernel: 5, 50 and 95 % quantiles of the share of memory's peak, over shapes.
    memory: Mapping[str, tuple[float, ...]]
    capacity: float | None  # bytes of its memory
    operator_us: float = _OPERATOR_US  # host time per operator
    is_host: bool = False  # a CPU: dispatch does not overlap computation

    def peak(self, name: str) -> float:
        """Raises ValueError if the device has no such peak."""
        if name not in self.peaks:
            known = ", ".join(self.peaks)
            raise ValueError(f"{self.name} has no rate of {name}; it has {known}")
        return self.peaks[name]

    def product_us(self, flops: float, bytes_: float, peak: str) -> float:
        least_s = np.array([flops / self.peak(peak), bytes_ / self.peak("memory")])
        us = 1e6 * least_s[0] / self.shares[peak].near(1e6 * least_s)
        if self.is_host:  # timed on operands in its cache, which a step must read
            return float(us + 1e6 * bytes_ / self.peak("read"))
        return float(max(us, 1e6 * least_s[1]))

    def memory_us(self, operator: str, bytes_: float) -> float:
        share = self.memory[_kernel_like(operator)][1]
        return 1e6 * bytes_ / (self.peak("memory") * share)

    def attention_us(
        self, kernel: str, flops: float, seq: int, is_backward: bool
    ) -> float:
        """Time of a fused kernel; short sequences and backward passes are slower."""
        share = seq / (seq + HALF_SEQ) * (BACKWARD if is_backward else 1)
        return 1e6 * flops / (self.peak(kernel) * share)

    def ends(self, kind: str, peak: str) -> tuple[float, float]:
        """Ends of the 90 % interval of a predicted time, as factors of that time."""
        if kind == "attention" and not self.is_host:
            middle = sum(_ATTENTION) / 2
            return middle / _ATTENTION[1], middle / _ATTENTION[0]
        if kind in ("memory", "optimizer"):
            low, middle, high = self.memory["mlp_act"]
            return middle / high, middle / low
        return self.shares[peak].ends


def _kernel_like(operator: str) -> str:
    for words, kernel in _LIKE:
        if any(word in operator for word in words):
            return kernel
    return "add"


def _products(row: Mapping[str, str]) -> Iterator[tuple[float, float, float]]:
    """Yields FLOPs, bytes and us of the four matrix products of a block in fp16."""
    columns = ("n_embd", "ff", "heads", "kv", "tp", "tokens")
    d_model, d_ff, heads, kv_heads, ranks, m = (int(row[key]) for key in columns)
    own, kv = heads // ranks, max(kv_heads // ranks, 1)
    width = d_model // heads
    for name, k, n in (
        ("attn_pre_proj", d_model, (own + 2 * kv) * width),
        ("attn_post_proj", own * width, d_model),
        ("mlp_up_proj", d_model, 2 * d_ff // ranks),
        ("mlp_down_proj", d_ff // ranks, d_model),
    ):
        us = 1e3 * float(row[f"{name}_ms"])
        yield 2.0 * m * k * n, 2.0 * (m * k + k * n + m * n), us


def _shares(rows: list[dict[str, str]], peaks: Mapping[str, float]) -> Shares:
    """Shares by the median time of each product. If the best one is above the sustained
    rate, the bursts ran at a higher clock than a step: all are scaled down to it."""
    times: dict[tuple[float, float], list[float]] = defaultdict(list)
    for row in rows:
        for flops, bytes_, us in _products(row):
            least = 1e6 * flops / peaks["bf16"], 1e6 * bytes_ / peaks["memory"]
            times[least].append(us)
    least_us = np.array(list(times))
    medians = np.array([np.median(found) for found in times.values()])
    share = least_us[:, 0] / medians
    lasting = peaks["lasting"] / peaks["bf16"]
    return Shares(least_us, share * min(lasting / share.max(), 1.0))


def _memory(rows: list[dict[str, str]], peak: float) -> dict[str, tuple[float, ...]]:
    """Shares of kernels on 4,096 tokens in fp16, mostly larger than a cache."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        tokens, d_model = int(row["tokens"]), int(row["n_embd"])
        for kernel, elements in (
            ("add", 3 * d_model),
            ("mlp_act", 3 * int(row["ff"]) // int(row["tp"])),
            ("input_layernorm", 2 * d_model),
        ):
            if tokens == 4096:
                rate = 2 * tokens * elements / (1e-3 * float(row[f"{kernel}_ms"]))
                found[kernel].append(rate / peak)
    return {
        kernel: tuple(np.quantile(shares, (0.05, 0.5, 0.95)).tolist())
        for kernel, shares in found.items()
    }


@cache
def devices() -> dict[str, Device]:
    """Reads devices.tsv. A device has the shares of the measured GPU that its row
    `like` names."""
    peaks: dict[str, dict[str, float]] = defaultdict(dict)
    like: dict[str, str] = {}
    for row in read_table(TABLE):
        if row["quantity"] == "like":
            like[row["device"]] = row["value"]
        else:
            value = float(row["value"]) * _UNITS[row["unit"]]
            peaks[row["device"]][row["quantity"]] = value
    kernels = read_table(KERNELS)
    found = {}
    for gpu in dict.fromkeys(like.values()):
        rows = [row for row in kernels if row["gpu"] == gpu.partition("-")[0]]
        shares = dict.fromkeys(("bf16", "tf32", "fp32"), _shares(rows, peaks[gpu]))
        memory = _memory(rows, peaks[gpu]["memory"])
        for name in (name for name, other in like.items() if other == gpu):
            bf16 = peaks[name]["bf16"]
            # On every tensor core since Ampere tf32 has half the peak of bf16.
            own = {"tf32": bf16 / 2, "mfu": bf16} | peaks[name]
            capacity = own.pop("capacity")
            found[name] = Device(name, own, shares, memory, capacity)
    return found


def of_result(result: "Result") -> Device:
    """Returns the CPU that a result was measured on, from its rows of `peak`. Raises
    ValueError if it lacks them."""
    rows = result.of("peak")

    def rates(unit: str, *begins: str) -> "list[tuple[Row, float]]":
        names = tuple(f"peak/{begin}/" for begin in begins)
        return [
            (row, row[unit])
            for row in rows
            if row.name.startswith(names) and row.get(unit)
        ]

    by_kind = {
        "fp32": rates("flops_per_second", "matmul/fp32", "linear/fp32/mkl"),
        "fp32 fused": rates("flops_per_second", "linear/fp32/onednn"),
        "bf16": rates("flops_per_second", "matmul/bf16"),
    }
    streams = rates("bytes_per_second", "stream")
    reads = rates("bytes_per_second", "stream/read")
    # Bytes per second that LibTorch's operators reach.
    moved = rates("bytes_per_second", "copy", "update")
    overhead = [row for row in rows if row.name.startswith("peak/op_overhead/")]
    stated = result.context.get("memory_bytes")
    capacity = float(stated) if stated else None
    suite = result.context.get("suite")
    run = f"the {suite} run on {result.context.get('device')}"
    if not (by_kind["fp32"] and reads and moved and overhead):
        raise ValueError(f"{run} lacks rows of peak; allowed: a full run on a CPU")
    if suite == "smoke":
        raise ValueError(f"{run} has buffers that fit into caches; allowed: a full run")
    memory = max(rate for _, rate in streams)
    peaks, shares = {"memory": memory, "read": max(rate for _, rate in reads)}, {}
    for kind, found in by_kind.items():
        if not found:
            continue
        if len(found) <= _NEAREST:  # not one can be predicted from the others
            products = f"{len(found)} products of {kind}"
            raise ValueError(f"{run} has only {products}; allowed: a full run")
        peaks[kind] = max(rate for _, rate in found)
        least_us = [
            [1e6 * row["flops"] / peaks[kind], 1e6 * row["bytes"] / memory]
            for row, _ in found
        ]
        share = np.array([rate / peaks[kind] for _, rate in found])
        shares[kind] = Shares(np.array(least_us), share)
    peaks["attention"] = peaks["fp32"]
    ends = tuple(np.quantile([rate / memory for _, rate in moved], (0.05, 0.5, 0.95)))
    kernels = dict.fromkeys(("add", "mlp_act", "input_layernorm"), ends)
    operator_us = overhead[0].time_us / overhead[0].numbers["ops"]
    name = str(result.context["device"])
    return Device(name, peaks, shares, kernels, capacity, operator_us, is_host=True)

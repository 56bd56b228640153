# SPDX-License-Identifier: MIT
"""Predicts the time of a training step on a device from the operators of its dry run.

The device runs them one after another, each at its own rate, and waits where the host
needs longer to launch them. Collectives of data ranks overlap with the passes, and
collectives of tensor ranks do not; a pipeline idles while it fills and drains.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tools.planner.arguments import Link
from tools.planner.recipes import OF_STREAM, Job, Plan
from tools.planner.timing import NODE
from tools.planner.timing.mesh import Network
from tools.planner.timing.rates import Device

Row = Mapping[str, Any]
Parts = Mapping[str, float]  # us, by kind of work
CALL_US = 30.0  # latency of a small collective: Vidur's all-reduces
_ATTENTION = ("attention", "flash")  # fused: skips what a causal mask hides


@dataclass(frozen=True)
class TimedJob(Job):
    """A micro-batch of one rank, and how ranks divide the job."""

    pipeline: int = 1  # ranks; `model` is one of their stages
    data: int = 1
    shards_parameters: bool = False  # as FSDP does
    shards_optimizer: bool = False
    sequence_parallel: bool = False  # tensor ranks divide the residual stream
    chunks: int = 1  # of a pipeline's stage, for interleaved 1F1B
    micro_batches: int = 1  # per rank and step
    attention: str = "attention"  # the device's rate of fused attention


@dataclass(frozen=True)
class StepTime:
    parts: Parts
    low_us: float  # the ends of the 90 % interval
    high_us: float

    @property
    def us(self) -> float:
        return sum(self.parts.values())


def step_time(device: Device, job: TimedJob, plan: Plan) -> StepTime:
    row = plan(job)
    parts = _parts(device, job, row)
    if job.recomputed:
        every = replace(job, model=f"{job.model},checkpoint=every_1", recomputed=0)
        for kind, us in _parts(device, every, plan(every)).items():
            parts[kind] += job.recomputed * (us - parts[kind])
    return StepTime(
        {kind: us for kind, us in parts.items() if us},
        *_ends(parts, lambda kind: device.ends(kind, _peak(device, row))),
    )


def _ends(
    parts: Parts, ends_of: Callable[[str], tuple[float, float]]
) -> tuple[float, float]:
    """Returns the ends of the step's interval. Errors of parts with the same rate add
    up; errors of different rates are independent, so their squares do."""
    by_rate: dict[tuple[float, float], float] = defaultdict(float)
    for kind, us in parts.items():
        by_rate[ends_of(kind)] += us
    below, above = (
        math.hypot(*(us * (ends[end] - 1) for ends, us in by_rate.items()))
        for end in (0, 1)
    )
    us = sum(parts.values())
    return us - below, us + above


def _parts(device: Device, job: TimedJob, row: Row) -> dict[str, float]:
    phases = _phases(device, job, row)
    computed = {phase: sum(parts.values()) for phase, parts in phases.items()}
    parts: dict[str, float] = defaultdict(float)
    for phase in ("forward", "backward"):
        for kind, us in phases[phase].items():
            parts[kind] += job.micro_batches * us
    tensor_us = _tensor_us(device, job, row)
    parts["tensor ranks"] = job.micro_batches * tensor_us
    # A pipeline fills and drains through stages without a head.
    stage_us = (computed["forward"] + computed["backward"]) * (1 - head_share(row))
    parts["pipeline"] = (job.pipeline - 1) * (stage_us + tensor_us) / job.chunks
    parts["data ranks"] = _exposed_us(device, job, row, computed)
    shards = job.data if job.shards_parameters or job.shards_optimizer else 1
    parts["optimizer"] = computed["optimizer"] / shards
    return parts


def head_share(row: Row) -> float:
    """The head's share of the FLOPs; only a pipeline's last stage has it."""
    return float(row["flops_by_component"].get("lm_head", 0) / row["flops"])


def _phases(device: Device, job: TimedJob, row: Row) -> dict[str, Parts]:
    """Times of one micro-batch, by phase. The loss belongs to the forward pass."""
    found: dict[str, dict[str, float]] = {
        phase: defaultdict(float) for phase in ("forward", "backward", "optimizer")
    }
    host = Counter[str]()
    peak = _peak(device, row)
    for called in row["operators"]:
        if not called["bytes"] and not device.is_host:
            continue  # a view launches nothing
        phase = called["phase"] if called["phase"] in found else "forward"
        kind, us = _kind_and_us(device, job, peak, called)
        found[phase][kind] += called["calls"] * us
        host[phase] += called["calls"] * device.operator_us
    for phase, parts in found.items():
        computed = 0.0 if device.is_host else sum(parts.values())
        parts["host"] = max(host[phase] - computed, 0.0)
    return dict(found)


def _peak(device: Device, row: Row) -> str:
    """Name of the device's peak for the step's matrix products."""
    precision = str(row["precision"]).partition("_")[0]  # bf16_autocast: bf16
    own = f"{precision} {row['implementation']}"
    return own if own in device.peaks else precision


def _kind_and_us(
    device: Device, job: TimedJob, peak: str, called: Row
) -> tuple[str, float]:
    flops, bytes_ = called["flops"], called["bytes"]
    if job.sequence_parallel and called["component"] in OF_STREAM:
        bytes_ /= job.tensor
    memory_us = device.memory_us(called["operator"], bytes_)
    if not flops:
        return "memory", memory_us
    if any(word in called["operator"] for word in _ATTENTION):
        # The phase backward also has recomputed forward kernels.
        is_backward = "backward" in called["operator"]
        us = device.attention_us(job.attention, flops / 2, job.seq, is_backward)
        # The device's rate of attention is for bf16.
        return "attention", max(us, memory_us, 1e6 * flops / 2 / device.peak(peak))
    return "products", device.product_us(flops, bytes_, peak)


def links_of(device: Device) -> tuple[Link, Link]:
    """The links inside a node, and between nodes. Raises ValueError without them."""
    inside, between = (
        Link(name, device.peak(name) / 1e9, CALL_US) for name in ("nvlink", "network")
    )
    return inside, between


def _ring_us(
    device: Device, job: TimedJob, ranks: int, apart: int, bytes_: float
) -> float:
    """Time of an all-gather or a reduce-scatter among ranks that are `apart` places
    apart."""
    if ranks == 1:
        return 0.0
    every = job.tensor * job.pipeline * job.data
    us, us_per_byte = Network(NODE, *links_of(device)).ring(ranks, apart, every)
    return us + us_per_byte * bytes_ * (ranks - 1) / ranks


def _tensor_us(device: Device, job: TimedJob, row: Row) -> float:
    """Time of the all-reduces: per block two in each pass, two more if recomputed;
    recomputed attention alone sends nothing."""
    passes = 1 if row["mode"] in ("inference", "forward") else 2
    passes += row["checkpoint"].startswith("every") and passes > 1
    calls = 2 * passes * row["layers"]
    bytes_ = _element_bytes(row) * job.batch * job.seq * row["d_model"]
    # An all-reduce is a reduce-scatter and an all-gather.
    return float(calls * _ring_us(device, job, job.tensor, 1, 2 * bytes_))


def _element_bytes(row: Row) -> int:
    """Bytes of an element that ranks exchange."""
    return 4 if row["precision"] in ("fp32", "tf32") else 2


def _exposed_us(device: Device, job: TimedJob, row: Row, computed: Parts) -> float:
    """Time of a step's collectives that no pass hides. Sharded parameters are gathered
    in both passes; gradients are reduced in every backward pass, whole ones once."""
    apart, bytes_ = job.tensor * job.pipeline, _element_bytes(row) * row["params"]
    if row["precision"] == "bf16_autocast" and not job.shards_parameters:
        bytes_ = 4 * row["params"]  # gradients have the type of the weights
    once = _ring_us(device, job, job.data, apart, bytes_)
    twice = _ring_us(device, job, job.data, apart, 2 * bytes_)
    backward = max(twice - computed["backward"], 0.0)
    if not job.shards_parameters:
        return backward
    return job.micro_batches * (max(once - computed["forward"], 0.0) + backward)

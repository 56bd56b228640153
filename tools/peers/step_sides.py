# SPDX-License-Identifier: MIT
"""The sides of tools/peers/step_table.py: each is a process that times one step."""

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from tools.peers.pytorch_model import MODELS, TransformerLM, cross_entropy

ROOT = Path(__file__).resolve().parents[2]
# The experiments of our sides.
_EXPERIMENTS = {
    "textbook": "model_size",
    "library": "implementations/library",
    "fused": "implementations/fused",
    "aoti": "compiled/aoti",
}
PYTORCH = ("eager", "compile")
MODES = ("inference", "forward", "forward_backward", "train_step")
# With these, glibc never returns memory to the system.
KEEP_PAGES = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
# Processes of later rounds reuse the compiled code.
COMPILED = {"TORCHINDUCTOR_CACHE_DIR": str(ROOT / "build/inductor")}


@dataclass(frozen=True)
class Case:
    name: str  # in this suite
    flags: list[str]  # for which our program has the case


@dataclass(frozen=True)
class Outcome:
    """One process of one side."""

    us: float  # median of its calls
    peak_bytes: float  # most bytes of tensors alive at once
    page_faults: float  # mean per call


def sides_of(mode: str) -> tuple[str, ...]:
    ours = (side for side in _EXPERIMENTS if (side, mode) != ("aoti", "forward"))
    return (*ours, *PYTORCH)


def case_of(side: str, a: argparse.Namespace) -> Case:
    """The case of our program for this side."""
    keys = ("mode", "precision", "batch", "seq", "device")
    flags = [f"--models={a.model}", *(f"--{key}={getattr(a, key)}" for key in keys)]
    step = f"{a.model}/{a.precision}/{a.mode}/batch:{a.batch}/seq:{a.seq}"
    return Case(f"{_EXPERIMENTS[side]}/{step}", flags)


def outcome_of(row: dict[str, Any]) -> Outcome:
    return Outcome(row["real_time"], row["peak_bytes"], row.get("page_faults", 0.0))


@dataclass(frozen=True)
class Step:
    """One call, and the tensors that outlive it."""

    run: Callable[[], Tensor]  # the loss, or the logits of a forward mode
    kept: Callable[[], list[Tensor]]


def make_step(arguments: argparse.Namespace, compiled: bool = False) -> Step:
    """The step in eager PyTorch, or with its forward pass and loss compiled. It is the
    forward pass, the loss, the backward pass and the release of the gradients."""
    torch.manual_seed(0)
    device = torch.device(arguments.device)
    config = MODELS[arguments.model]
    with device:
        model = TransformerLM(config)
        tokens, targets = torch.randint(
            0, config.vocab, (2, arguments.batch, arguments.seq)
        )
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    autocast = torch.autocast(
        device.type, torch.bfloat16, enabled=arguments.precision == "bf16_autocast"
    )
    has_loss = arguments.mode in ("forward_backward", "train_step")

    def forward(tokens: Tensor, targets: Tensor) -> Tensor:
        logits: Tensor = model(tokens)
        return cross_entropy(logits, targets) if has_loss else logits

    if compiled:
        forward = torch.compile(forward)

    def step() -> Tensor:
        with autocast, torch.set_grad_enabled(arguments.mode != "inference"):
            result = forward(tokens, targets)
        if has_loss:
            result.backward()
            if arguments.mode == "train_step":
                optimizer.step()
            model.zero_grad(set_to_none=True)
        return result.detach()

    def kept() -> list[Tensor]:
        moments = (t for state in optimizer.state.values() for t in state.values())
        return [*model.parameters(), *model.buffers(), *moments, tokens, targets]

    return Step(step, kept)


def _us(call: Callable[[], object], device: str) -> float:
    """The time of one call, on a GPU between events on an idle stream, like ours."""
    if device == "cuda":
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        return 1e3 * float(begin.elapsed_time(end))
    start = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - start)


def timed(call: Callable[[], object], count: int, device: str) -> list[float]:
    """The times of `count` calls in us."""
    return [_us(call, device) for _ in range(count)]


def peak_bytes(step: Step, device: str) -> int:
    """The most bytes of tensors alive during one call, including the kept ones."""
    kept = sum(t.numel() * t.element_size() for t in step.kept())
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        step.run()
        peak, held = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
        torch._C._cuda_clearCublasWorkspaces()  # no tensors
        return peak - (held - torch.cuda.memory_allocated())
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as traced:
        step.run()
    assert traced.profiler is not None and traced.profiler.kineto_results is not None
    events = traced.profiler.kineto_results.events()
    live = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return kept + peak


def check_equal(step: Step, a: argparse.Namespace) -> None:
    """Exits unless a first call of the step has eager PyTorch's result."""
    actual, expected = step.run().double(), make_step(a).run().double()
    error = ((actual - expected).norm() / expected.norm()).item()
    if not error <= 3e-2:
        sys.exit(f"the compiled step is wrong by {error:.3g}, relative to eager's")


def _page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def work(a: argparse.Namespace) -> Outcome:
    """Times the step in this process of PyTorch."""
    torch.set_num_threads(a.threads)
    step = make_step(a, compiled=a.worker == "compile")
    if a.worker == "compile":
        check_equal(step, a)
    timed(step.run, a.warmups, a.device)
    before = _page_faults()
    times = timed(step.run, a.samples, a.device)
    faults = (_page_faults() - before) / len(times)
    return Outcome(statistics.median(times), peak_bytes(step, a.device), faults)

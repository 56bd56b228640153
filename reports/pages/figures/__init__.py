# SPDX-License-Identifier: MIT
"""The plots of each experiment."""

from collections.abc import Callable

from reports.pages.figures import (
    attention,
    breakdown,
    collectives,
    memory,
    models,
    parallel,
    precision,
    rates,
    softmax,
    warmup,
)
from reports.pages.plotting.figure import Figure
from reports.results.rows import Result

# Each returns no plot if the result lacks the rows that it needs.
FIGURES: dict[str, Callable[[Result], list[Figure]]] = {
    "model_size": models.model_size,
    "breakdown": breakdown.breakdown,
    "memory": memory.memory,
    "precision": precision.precision,
    "attention_scaling": attention.attention_scaling,
    "softmax_vs_matmul": softmax.softmax_vs_matmul,
    "optimizer": models.optimizer,
    "warmup": warmup.warmup,
    "peak": rates.peak,
    "transfer": rates.transfer,
    "all_reduce": collectives.all_reduce,
    "ddp": parallel.ddp,
    "sharded_optimizer": parallel.sharded_optimizer,
}

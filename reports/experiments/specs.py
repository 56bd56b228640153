# SPDX-License-Identifier: MIT
"""How each experiment of benchmarks/ is reported, in reading order."""

from collections.abc import Iterable

from reports.experiments.spec import (
    Axis,
    Bars,
    Column,
    Extreme,
    Growth,
    Lines,
    Onset,
    Phases,
    Settles,
    Spec,
    Spread,
    Values,
    Versus,
)

CHECKPOINT = Axis("checkpoint", "none")
PRECISION = Axis("precision", "fp32")
IMPLEMENTATION = Axis("implementation", "textbook")
OVER_LIBRARY = Axis("implementation", "library")
LAUNCH = Axis("launch", "eager")
RUNTIME = Axis("runtime", "eager")
_SPLIT = "precision phase batch d_head"
FORWARD = {"phase": "forward"}
FUSED = {"implementation": "fused"}
PART = Axis("part", "qk")
KIND = Axis("kind", "textbook")
STRATEGY = Axis("strategy bucket_mb", "per_parameter")
SHARDING = Axis("sharding", "replicated")
SHARDED = Axis("sharded reshard prefetch", "optimizer reshard:0 prefetch:0")
RANKS = Axis("ranks", "ranks:1")
SUM = Column("sum", digits=6)
TENSORS = ("parameters", "fc1", "relu", "layer_norm", "logits", "loss", "gradients")

SPECS = {
    "model_size": Spec(
        columns=("flops_per_second", "mfu_measured"),
        phases="first",
        sentence=(
            Spread("p50_us", {"mode": "train_step"}),
            Extreme("mfu_measured"),
            Spread(Column("backward_us", per="forward_us"), {"mode": "train_step"}),
            Spread(Column("optimizer_us", per="p50_us"), {"mode": "train_step"}),
        ),
        plots=(Phases({"mode": "train_step"}),),
    ),
    "breakdown": Spec(plots=()),
    "memory": Spec(
        columns=(
            *("own_peak_bytes", "predicted_peak_bytes", "prediction_error"),
            *("largest_allocation_bytes", "residual_bytes", "logit_bytes", "peak_at"),
        ),
        sentence=(
            Spread("prediction_error"),
            Extreme("own_peak_bytes", also=("peak_at",)),
            Extreme("largest_allocation_bytes", also=("largest",)),
        ),
        plots=(),
    ),
    "checkpointing": Spec(
        columns=(
            "peak_ratio",
            Column(
                "peak_bytes", "peak / predicted", per="predicted_peak_bytes", digits=6
            ),
            Column("recomputed_flops", "FLOPs again", per="flops"),
            *("mfu_measured", "hfu_measured", "largest_batch", "largest_seq"),
        ),
        axis=CHECKPOINT,
        sentence=(Versus(CHECKPOINT, also=("largest_batch", "largest_seq")),),
        plots=(Bars(versus=CHECKPOINT), Bars("peak_bytes", CHECKPOINT)),
    ),
    "precision": Spec(
        columns=("peak_ratio", "logits_error", "gradient_error", "mfu_measured"),
        axis=PRECISION,
        phases="last",
        sentence=(Versus(PRECISION, also=("logits_error",)),),
        plots=(Bars(versus=PRECISION), Bars("peak_bytes", PRECISION)),
    ),
    "implementations": Spec(
        columns=("peak_ratio", "mfu_measured"),
        axis=IMPLEMENTATION,
        phases="last",
        sentence=(Versus(IMPLEMENTATION),),
        plots=(Bars(versus=IMPLEMENTATION), Bars("peak_bytes", IMPLEMENTATION)),
    ),
    "cuda_graph": Spec(
        columns=(
            *("peak_ratio", "replay_error", "capture_us"),
            *("nodes_per_step", "pool_bytes"),
            Column("capture_us", "capture / replay", per="p50_us"),
        ),
        axis=LAUNCH,
        sentence=(Versus(LAUNCH), Spread("replay_error")),
        plots=(Bars(versus=LAUNCH),),
    ),
    "compiled": Spec(
        columns=("peak_ratio", "textbook_error", "compile_seconds"),
        axis=RUNTIME,
        sentence=(Versus(RUNTIME), Spread("textbook_error")),
        plots=(Bars(versus=RUNTIME),),
    ),
    "attention_scaling": Spec(
        across="seq",
        cells=("p50_us", "saved_bytes", "peak_bytes"),
        sentence=(Growth("seq", ("p50_us", "saved_bytes"), FORWARD),),
        plots=(
            Lines("seq", split=_SPLIT),
            Lines("seq", "saved_bytes", _SPLIT, FORWARD),  # each phase has the same
        ),
    ),
    "flash_attention": Spec(
        across="seq",
        cells=("p50_us", "kernel_flops_per_second"),
        sentence=(
            Versus(Axis("variant", "sdpa_flash"), also=("kernel_flops_per_second",)),
        ),
        plots=(
            Lines("seq", "kernel_flops_per_second", "precision phase heads d_head"),
        ),
    ),
    "softmax_vs_matmul": Spec(
        columns=("flop_ratio", "byte_ratio", "flops_per_second", "bytes_per_second"),
        axis=PART,
        sentence=(Versus(PART, also=("flop_ratio", "byte_ratio")),),
        plots=(Bars(versus=PART),),
    ),
    "fused_ops": Spec(
        columns=("bytes_per_second", "bandwidth_share"),
        axis=IMPLEMENTATION,
        sentence=(
            Spread("time over textbook", FUSED, versus=IMPLEMENTATION),
            Spread("time over library", FUSED, versus=OVER_LIBRARY),
            Spread("bandwidth_share", FUSED),
        ),
        plots=(Bars(versus=IMPLEMENTATION, split="model precision"),),
    ),
    "optimizer": Spec(
        columns=("bytes", "bytes_per_second", "bandwidth_share", "ops_per_step"),
        axis=KIND,
        sentence=(Versus(KIND, also=("bytes_per_second", "bandwidth_share")),),
        plots=(Bars(versus=KIND),),
    ),
    "warmup": Spec(
        columns=(
            *("mean_us", "stddev_us", "first_call_us", "first_ratio", "steady_ratio"),
        ),
        phases="last",
        sentence=(
            Spread(Column("first_ratio", "first call over a steady one")),
            Values(("steady_ratio",)),
            Settles("steady_ratio", along="calls", near=0.05),
        ),
        plots=(Bars("steady_ratio"),),
    ),
    "peak": Spec(
        columns=("flops_per_second", "bytes_per_second", "op_us"),
        sentence=(
            Extreme("flops_per_second", each="precision"),
            Extreme("bytes_per_second"),
            Extreme("op_us", least=True),
        ),
        plots=(Bars("flops_per_second"), Bars("bytes_per_second")),
    ),
    "transfer": Spec(
        columns=("bytes_per_second",),
        sentence=(Extreme("bytes_per_second", among="direction host_memory"),),
        plots=(Lines("size", "bytes_per_second"),),
    ),
    "all_reduce": Spec(
        columns=(
            *("algbw_bytes_per_second", "busbw_bytes_per_second", "rank_spread"),
            "threads_per_rank",
        ),
        plots=(),
    ),
    "ddp": Spec(
        columns=(
            *("predicted_us", "exposed_us", "collectives_us", "overlap_share"),
            *("communication_calls", "scaling_efficiency", "bucket_bytes"),
            Column("communication_us", per="p50_us"),
        ),
        axis=STRATEGY,
        phases="last",
        sentence=(
            Extreme(
                "p50_us",
                least=True,
                among=STRATEGY.word,
                also=("exposed_us", "overlap_share", "optimal_bucket_mb"),
                needs="exposed_us",
            ),
            Values(("p50_us",), {"strategy": "side_by_side"}),
            Spread("scaling_efficiency", needs="exposed_us"),
            Spread(Column("p50_us", per="predicted_us")),
        ),
        plots=(Phases(),),
    ),
    "ddp_equivalence": Spec(
        columns=("*_max_difference", "*_mean_difference", "loss_difference", "losses*"),
        sentence=(
            Spread("max_difference"),
            Spread("mean_difference"),
            Spread("loss_difference"),
        ),
    ),
    "sharded_optimizer": Spec(
        columns=(
            *("optimizer_us", "communication_us", "init_peak_bytes"),
            *("before_step_peak_bytes", "step_peak_bytes", "predicted_peak_bytes"),
            *("sent_bytes", "predicted_sent_bytes", "state_bytes"),
        ),
        axis=SHARDING,
        sentence=(Versus(SHARDING, also=("optimizer_us", "communication_us")),),
        plots=(Phases(), Bars("peak_bytes")),
    ),
    "fsdp": Spec(
        columns=(
            *("exposed_us", "overlap_share", "sent_bytes", "predicted_sent_bytes"),
            *("state_bytes", "predicted_peak_bytes"),
        ),
        axis=SHARDED,
        sentence=(Versus(SHARDED), Extreme("peak_bytes", True, SHARDED.word)),
        plots=(Phases(), Bars("peak_bytes")),
    ),
    "tensor_parallel": Spec(
        columns=(
            *("alone_us", "exposed_us", "communication_share", "sent_bytes"),
            *("predicted_sent_bytes", "predicted_peak_bytes"),
        ),
        axis=RANKS,
        sentence=(Versus(RANKS, also=("sent_bytes", "communication_share")),),
        plots=(Phases(), Bars("peak_bytes")),
    ),
    "accumulation": Spec(
        columns=(SUM, "absolute_error", "relative_error"),
        sentence=(Values((SUM,)), Extreme("absolute_error")),
        plots=(Bars("absolute_error"),),
    ),
    "autocast_dtypes": Spec(columns=TENSORS, sentence=(Values(TENSORS),), plots=()),
    "norm_precision": Spec(
        columns=("relative_error", "overflowed", "overflowed_rows_share"),
        sentence=(
            Onset("overflowed", along="magnitude"),
            Spread("relative_error", {"internals": "wide"}),
        ),
        plots=(),
    ),
    "harness": Spec(
        columns=(Column("p50_us", "time / true", "us", digits=5), "overhead_us"),
        sentence=(
            Values(("p50_us",), {"work": "empty"}),
            Spread(Column("p50_us", "time / true", "us", 5), {"work": "spin"}),
            Versus(Axis("allocator", "system")),
        ),
    ),
}


def ordered(names: Iterable[str]) -> list[str]:
    """Returns the distinct names: those with a spec first, in reading order."""
    places = {name: place for place, name in enumerate(SPECS)}
    return sorted(dict.fromkeys(names), key=lambda n: places.get(n, len(places)))


def spec_of(experiment: str) -> Spec:
    return SPECS.get(experiment, Spec())

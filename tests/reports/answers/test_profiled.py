# SPDX-License-Identifier: MIT
"""The tables of a profiled step, from a handmade profile."""

from typing import Any

import pytest

from advised import SHAPE, STEP, Entry, part
from golden import check_golden
from reports.answers.answer import answer_of
from reports.answers.headline import sentences
from reports.results.rows import Result
from results import parsed


def row(mode: str, phase: str, component: str, us: float, **counters: float) -> Entry:
    counters = {"share": us / 100, "matmul_share": 0.5, "half_width": 0.01} | counters
    return part(phase, component, us, STEP.replace("train_step", mode), **counters)


def statistics(mean: float) -> dict[str, float]:
    middle = {"mean": mean, "median": mean - mean * mean / 1e3, "stddev": 0.0}
    return {**middle, "min": mean - 1, "max": mean + 1}


def kernel(
    names: str, instances: int, us: float, totals: list[float] | None = None
) -> Entry:
    """`names` are phase, family and name. `totals` are the times in each pass, if they
    are not all equal."""
    total = us * instances
    times = {"total": total, "totals": totals or [total] * 6, **statistics(us)}
    named = zip(("phase", "family", "name"), names.split(maxsplit=2), strict=True)
    return {**dict(named), "instances": instances, "time_us": times}


def span(phase: str, name: str, instances: int, us: float) -> Entry:
    made = {"phase": phase, "range": name, "instances": instances}
    times = {"host_us": statistics(us), "instance_us": statistics(us / instances)}
    return {**made, **times}


COPY = {
    "phase": "forward",
    "component": "output_projection",
    "direction": "host to host",
    "name": "aten::copy_",
    "count": 3,
    "bytes": 6144,
    "time_us": 3,
    "bytes_per_second": 2.048e9,
}


def profile(mode: str, kernels: list[Entry], **others: Any) -> Entry:
    return {
        "case": f"breakdown/tiny/fp32/{mode}/step/all/{SHAPE}",
        "passes": 6,
        "of": "operators",
        "kernels": kernels,
        "ranges": [],
        "copies": [],
    } | others


def rows(mode: str) -> list[Entry]:
    return [
        row(mode, "forward", "ffn", 30),
        row(mode, "forward", "all", 30),
        row(mode, "step", "all", 100),
    ]


KERNELS = [
    kernel("forward gemm aten::mm", 10, 2),
    kernel("forward elementwise aten::mul", 20, 0.5),
    kernel("backward gemm aten::mm", 20, 2.5),
    kernel("backward elementwise aten::add_", 5, 1),
    kernel("optimizer optimizer aten::_fused_adamw_", 1, 15),
]
RANGES = [
    span("forward", "all", 1, 31),
    span("forward", "attention", 2, 12),
    span("forward", "layer_0", 1, 14),
    span("forward", "layer_1", 1, 14),
    span("forward", "layer_2", 1, 21),
    span("backward", "layer_0", 1, 28),
    span("step", "all", 1, 101),
]


def result(*profiles: Entry, mode: str = "train_step", **others: Any) -> Result:
    return parsed(*rows("inference"), *rows(mode), profiles=list(profiles), **others)


def printed(made: Result) -> str:
    answer = answer_of(made, "breakdown")
    return "\n\n".join(
        [answer.sentence, *(table.markdown() for table in answer.details)]
    )


def without_times(made: Entry) -> Entry:
    return {key: made[key] for key in made if not key.endswith(("_us", "_second"))}


def test_what_is_said_of_a_profile() -> None:
    """Covers kernels, which have long names, a device, which has two times, and a null
    GPU, which has none."""
    inference = profile("inference", KERNELS[:1])
    full = profile("train_step", KERNELS, ranges=RANGES, copies=[COPY])
    fill = "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>(int)"
    device = profile(
        "train_step",
        [kernel(f"forward fill {fill}", 1, 1)],
        of="kernels",
        ranges=[
            RANGES[0] | {"device_us": statistics(40), "instance_us": statistics(40)}
        ],
    )
    lists = ("kernels", "ranges", "copies")
    bare = full | {name: list(map(without_times, full[name])) for name in lists}
    untimed = [{**one, "real_time": 0} for one in rows("train_step")]
    null = parsed(*untimed, profiles=[bare], context={"device_kind": "null_cuda"})
    unprofiled = row("train_step", "step", "timed", 98, forward_us=25)
    beside = parsed(*rows("inference"), *rows("train_step"), unprofiled)
    check_golden(
        "profiled.txt",
        {
            "operators, ranges and copies": printed(result(full, inference)),
            "a device": printed(result(device)),
            "a null GPU": printed(null),
            "no forward pass": printed(result(profile("train_step", KERNELS[2:4]))),
            "a step with and without a profile": printed(beside),
            "a file of before": printed(parsed(*rows("train_step"))),
        },
    )


@pytest.mark.parametrize(
    ("totals", "where"),
    [
        (([20.0, 22, 18, 21, 20, 19], [19.0, 18, 20, 19, 18, 20]), ""),
        # Differences per pass are clear, although a slow pass increases both times.
        (
            ([20, 60, 21, 20, 40, 20], [19, 58, 20, 19, 38.6, 19]),
            ", mostly in `product_0`",
        ),
        (([20.0] * 6, [19.0] * 6, [9.0] * 6), ", most in `product_0`"),
    ],
)
def test_the_product_that_takes_most_of_the_products(
    totals: tuple[list[float], ...], where: str
) -> None:
    """`totals` are the products' times in the passes. The longest is no product."""
    kernels = [kernel("forward elementwise aten::mul", 10, 100)]
    for number, each in enumerate(totals):
        name = f"forward gemm product_{number}"
        kernels.append(kernel(name, 10, sum(each) / 60, each))
    (said,) = sentences(result(profile("train_step", kernels)))
    assert said.endswith(f"; matrix products 50 % (50 to 51 %){where}.")


def test_the_largest_part_is_most_of_a_step_only_above_half_of_it() -> None:
    most = "most of it, 60 % (59 to 61 %)"
    for us, words in ((60, most), (40, "the largest part, 40 %")):
        parts = [row("train_step", "forward", "norm", 10), *rows("train_step")[1:]]
        step = parsed(row("train_step", "forward", "ffn", us), *parts)
        (found,) = sentences(step)
        assert found.startswith(f"`ffn` takes {words}, `norm` 10 %;")

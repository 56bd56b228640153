# SPDX-License-Identifier: MIT
"""The tables of a profiled step, from a profile made by hand."""

from typing import Any

from reports.answers.answer import answer_of
from reports.answers.breakdown import sentence
from reports.pages.section import section
from reports.results.rows import Result, parse
from reports.results.text import Table
from results import document, entry

Entry = dict[str, Any]
SHAPE = "batch:4/seq:128"
STEP = "tiny fp32 train_step 4 x 128"


def row(mode: str, phase: str, component: str, us: float, **counters: float) -> Entry:
    words = f"model=tiny precision=fp32 mode={mode} phase={phase} component={component}"
    name = f"breakdown/tiny/fp32/{mode}/{phase}/{component}/{SHAPE}"
    if component != "timed":
        counters = {"share": us / 100, "matmul_share": 0.5} | counters
    counters = {"half_width": 0.01, "batch": 4, "seq": 128} | counters
    return entry(name, us, words, **counters)


def statistics(mean: float) -> dict[str, float]:
    return {
        "mean": mean,
        "median": mean,
        "min": mean - 1,
        "max": mean + 1,
        "stddev": 0.0,
    }


def kernel(
    phase: str,
    name: str,
    family: str,
    instances: int,
    us: float,
    totals: list[float] | None = None,
) -> Entry:
    """Of `totals` in the passes, if they are not all the same."""
    total = us * instances
    times = {"total": total, "totals": totals or [total] * 6, **statistics(us)}
    return {
        "phase": phase,
        "name": name,
        "family": family,
        "instances": instances,
        "time_us": times,
    }


def span(phase: str, name: str, instances: int, us: float) -> Entry:
    return {
        "phase": phase,
        "range": name,
        "instances": instances,
        "host_us": statistics(us),
    }


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
    kernel("forward", "aten::mm", "gemm", 10, 2),
    kernel("forward", "aten::mul", "elementwise", 20, 0.5),
    kernel("backward", "aten::mm", "gemm", 20, 2.5),
    kernel("backward", "aten::add_", "elementwise", 5, 1),
    kernel("optimizer", "aten::_fused_adamw_", "optimizer", 1, 15),
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
    return parse(
        document(*rows("inference"), *rows(mode), profiles=list(profiles), **others)
    )


def tables(made: Result) -> dict[str, Table]:
    return {table.title: table for table in answer_of(made, "breakdown").details}


def lines(made: Result, title: str) -> list[str]:
    return tables(made)[title].markdown().splitlines()[2:]


def test_the_kernels_are_listed_as_nsight_does() -> None:
    title = f"The operators of {STEP}, per step, mean of 6 passes"
    table = lines(result(profile("train_step", KERNELS)), title)
    assert table[0] == (
        "| operator | phase | family | instances | total | share | mean | median "
        "| min | max | std |"
    )
    assert table[2] == (
        "| aten::mm | backward | gemm | 20 | 50 us | 50 % | 2.5 us | 2.5 us | 1.5 us "
        "| 3.5 us | 0 ns |"
    )
    assert [line.split(" | ")[1] for line in table[3:5]] == ["forward", "optimizer"]


def test_the_names_of_kernels_are_short() -> None:
    fill = "void at::native::vectorized_elementwise_kernel<4, FillFunctor<float>>(int)"
    made = result(
        profile("train_step", [kernel("forward", fill, "fill", 1, 1)], of="kernels")
    )
    table = lines(made, f"The kernels of {STEP}, per step, mean of 6 passes")
    assert table[0].startswith("| kernel | ")
    assert table[2].startswith(
        "| vectorized_elementwise_kernel of FillFunctor, float | "
    )


def test_the_top_of_forward_backward_and_step_are_beside_each_other() -> None:
    made = result(profile("train_step", KERNELS))
    table = lines(
        made, f"The operators that take most of {STEP}, of all operators there"
    )
    assert table[0] == "|  | forward | forward and backward | step |"
    assert table[2] == (
        "| 1 | aten::mm: 67 %, 10 calls | aten::mm: 82 %, 30 calls "
        "| aten::mm: 70 %, 30 calls |"
    )
    assert table[3].endswith("| aten::_fused_adamw_: 15 %, 1 call |")


def test_the_sentence_says_whether_the_top_kernel_is_the_same() -> None:
    told = sentence(result(profile("train_step", KERNELS)))
    assert (
        "Of the operators of the forward pass, `aten::mm` (67 %, 10 calls) takes most; "
        "of forward and backward, the same one; of the step, the same one."
    ) in told


def two_kernels(mm: list[float], mul: list[float]) -> str:
    """The answer, where these are the times of two kernels in the passes."""
    kernels = [
        kernel("forward", "aten::mm", "gemm", 10, sum(mm) / 60, mm),
        kernel("forward", "aten::mul", "elementwise", 10, sum(mul) / 60, mul),
    ]
    told = sentence(result(profile("train_step", kernels)))
    return told


UNTOLD = (
    "Of the operators, which takes most cannot be told from this run: `aten::mm` "
    "(51 %, 10 calls) or `aten::mul` (49 %, 10 calls)."
)


def test_where_passes_vary_no_kernel_takes_most() -> None:
    assert UNTOLD in two_kernels([20, 22, 18, 21, 20, 19], [19, 18, 20, 19, 18, 20])


def test_a_slow_pass_lengthens_both_kernels() -> None:
    told = two_kernels([20, 60, 21, 20, 40, 20], [19, 58, 20, 19, 38.6, 19])
    assert "Of the operators, `aten::mm` (51 %, 10 calls) takes most." in told


def test_a_file_without_the_times_of_passes_cannot_tell() -> None:
    kernels = [
        kernel("forward", "aten::mm", "gemm", 10, 2.1),
        kernel("forward", "aten::mul", "elementwise", 10, 2),
    ]
    for one in kernels:
        del one["time_us"]["totals"]
    told = sentence(result(profile("train_step", kernels)))
    assert UNTOLD in told


def test_families_have_a_column_per_phase_and_one_for_inference() -> None:
    forward = profile("inference", KERNELS[:1])
    made = result(profile("train_step", KERNELS), forward)
    table = lines(
        made, f"The times of {STEP} by family of operators, per step, mean of 6 passes"
    )
    assert table[0] == (
        "| family | forward | backward | optimizer | step | inference |"
    )
    assert table[2] == (
        "| gemm | 20 us, 67 % | 50 us, 91 % | - | 70 us, 70 % | 20 us, 100 % |"
    )
    assert [line.split()[1] for line in table[2:]] == [
        "gemm",
        "elementwise",
        "optimizer",
    ]


def test_ranges_have_their_statistics_over_the_passes() -> None:
    made = result(profile("train_step", KERNELS, ranges=RANGES))
    table = lines(made, f"The ranges of {STEP}, per step, over 6 passes")
    assert table[0] == (
        "| range | phase | instances | each | host total | host median | host min "
        "| host max | host std |"
    )
    assert [line.split(" | ")[:3] for line in table[2:4]] == [
        ["| the whole", "step", "1"],
        ["| the whole", "forward", "1"],
    ]
    assert table[4].startswith("| attention | forward | 2 | 6 us | 12 us |")
    assert table[4].endswith("| 12 us | 12 us | 11 us | 13 us | 0 ns |")


def test_of_a_device_both_times_are_shown() -> None:
    both = RANGES[0] | {"device_us": statistics(40)}
    made = result(profile("train_step", KERNELS, ranges=[both]))
    (_, _, line) = lines(made, f"The ranges of {STEP}, per step, over 6 passes")
    assert line.startswith("| the whole | forward | 1 | 40 us | 40 us | 40 us | 39 us ")
    assert line.endswith("| 31 us | 31 us | 30 us | 32 us | 0 ns |")


def test_layers_stand_beside_the_median_layer() -> None:
    made = result(profile("train_step", KERNELS, ranges=RANGES))
    table = lines(made, f"The layers of {STEP}, per step")
    assert table[0].startswith("| layer | phase | total | median | ")
    assert "| 2 | forward | 21 us | 21 us | 20 us | 22 us | 0 ns | 1.5 |" in table


def test_copies_have_bytes_direction_and_component() -> None:
    made = result(profile("train_step", KERNELS, copies=[COPY]))
    assert lines(made, f"The copies and fills of {STEP}, per step") == [
        "| component | phase | direction | by | count | bytes | time | rate |",
        "|---|---|---|---|---:|---:|---:|---:|",
        "| output_projection | forward | host to host | aten::copy_ | 3 | 6 KiB | 3 us "
        "| 2.05 GB/s |",
    ]


def test_the_profiled_forward_pass_stands_beside_the_timed_one() -> None:
    timed = row("train_step", "step", "timed", 98, forward_us=25)
    made = parse(document(*rows("inference"), *rows("train_step"), timed))
    assert lines(made, "The forward pass of each step with and without a profile") == [
        "| step | profiled | timed | profiled over timed | difference |",
        "|---|---:|---:|---:|---:|",
        f"| {STEP} | 30 us ± 1 % | 25 us ± 1 % | 1.2 (1.18 to 1.22) | 5 us |",
    ]


def test_a_file_of_before_has_none_of_these_tables() -> None:
    assert answer_of(parse(document(*rows("train_step"))), "breakdown").details == []
    assert answer_of(parse(document()), "breakdown").details == []


def without_times(made: Entry) -> Entry:
    return {key: made[key] for key in made if not key.endswith(("_us", "_second"))}


def test_of_a_null_gpu_names_and_counts_are_shown() -> None:
    bare = profile(
        "train_step",
        list(map(without_times, KERNELS)),
        ranges=list(map(without_times, RANGES)),
        copies=[without_times(COPY)],
    )
    untimed = [
        {**one, "real_time": 0} for one in (*rows("inference"), *rows("train_step"))
    ]
    made = parse(
        document(*untimed, profiles=[bare], context={"device_kind": "null_cuda"})
    )
    assert answer_of(made, "breakdown").sentence == ""
    found = tables(made)
    assert list(found) == [
        f"The operators that take most of {STEP}, of all operators there",
        f"The instances of {STEP} by family of operators, per step",
        f"The operators of {STEP}, per step",
        f"The ranges of {STEP}, per step",
        f"The copies and fills of {STEP}, per step",
    ]
    for table in found.values():
        assert " us" not in table.markdown()
        assert "%" not in table.markdown()
    assert lines(made, f"The operators of {STEP}, per step")[2:4] == [
        "| aten::mul | forward | elementwise | 20 |",
        "| aten::mm | backward | gemm | 20 |",
    ]


def test_the_page_has_the_tables() -> None:
    made = result(profile("train_step", KERNELS))
    title = f"The operators of {STEP}, per step, mean of 6 passes"
    assert title in [table.title for table in section(made, "breakdown").details]

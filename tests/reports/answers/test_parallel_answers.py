# SPDX-License-Identifier: MIT
"""The answers of distributed experiments, from rows made by hand."""

from typing import Any

import pytest

from reports.answers.collectives import all_reduce
from reports.answers.equivalence import ddp_equivalence
from reports.answers.parallel import ddp
from reports.answers.sharded import sharded_optimizer
from reports.results.rows import Result, parse
from results import document, entry

KEYS = {
    "all_reduce": ["backend"],
    "ddp": ["strategy", "model", "precision"],
    "ddp_equivalence": ["strategy"],
    "sharded_optimizer": ["sharding", "model"],
}


def made(name: str, counters: dict[str, float]) -> dict[str, Any]:
    """The parameters of a row are those of its name."""
    experiment, *parts = name.split("/")
    words = [part for part in parts if ":" not in part]
    texts = " ".join(map("=".join, zip(KEYS[experiment], words, strict=True)))
    numbers = (part.split(":") for part in parts if ":" in part)
    values = {key: int(number) for key, number in numbers}
    return entry(name, counters.get("p50_us", 1), texts, **(values | counters))


def result(*rows: tuple[str, dict[str, float]]) -> Result:
    return parse(document(*(made(*row) for row in rows)))


def reduced(backend: str, ranks: int, size: int, us: float, **more: float) -> Any:
    name = f"all_reduce/{backend}/ranks:{ranks}/bytes:{size}"
    return name, {"p50_us": us, "half_width": 0.01} | more


def test_all_reduce_names_the_law_of_each_backend_and_ranks() -> None:
    # 50 us and 2 GB/s, 20 us and 100 GB/s: half rate from 100 kB and 2 MB on.
    sizes = (1 << 24, 1 << 10, 1 << 17)
    answer = all_reduce(
        result(
            *(reduced("gloo", 2, size, 50 + size / 2e3) for size in sizes),
            *(reduced("nccl", 4, size, 20 + size / 1e5) for size in sizes),
            reduced("gloo", 4, 1 << 10, 7),  # one size has no law
        )
    )
    assert answer is not None
    assert answer[0] == (
        "gloo, 2 ranks: t(S) = 50 us + S / (2 GB/s), half of that rate from 97.7 KiB "
        "on (± 0.95 %); nccl, 4 ranks: t(S) = 20 us + S / (100 GB/s), half of that "
        "rate from 1.91 MiB on (± 1.1 %)."
    )
    lines = answer[1].markdown().splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:5]] == [
        "gloo, 2 ranks: 1 KiB",
        "gloo, 2 ranks: 128 KiB",
        "gloo, 2 ranks: 16 MiB",
    ]
    assert lines[-1] == "| gloo, 4 ranks: 1 KiB | 7 us | - | - | - | - |"


def test_all_reduce_shows_bandwidths_and_spread() -> None:
    answer = all_reduce(
        result(
            reduced(
                *("gloo", 2, 1024, 10.0),
                algbw_bytes_per_second=1.5e9,
                busbw_bytes_per_second=2e9,
                rank_spread=0.25,
                threads_per_rank=3,
            ),
            reduced("gloo", 2, 2048, 10.0),
        )
    )
    assert answer is not None
    assert answer[0].startswith("gloo, 2 ranks: t(S) = 10 us, whatever S (± ")
    assert "| 10 us | 1.5 GB/s | 2 GB/s | 25 % | 3 |" in answer[1].markdown()


def test_all_reduce_without_a_fixed_cost() -> None:
    answer = all_reduce(result(*(reduced("gloo", 2, s, s) for s in (1000, 2000))))
    assert answer is not None
    assert "S / (0.001 GB/s), at that rate from the first byte on (± " in answer[0]


@pytest.mark.parametrize("half_width", [0.9, float("inf")])
def test_noise_alone_has_no_law(half_width: float) -> None:
    rows = [
        reduced("gloo", 2, size, 50 + size / 2e3, half_width=half_width)
        for size in (1 << 10, 1 << 17, 1 << 24)
    ]
    if half_width == float("inf"):
        for _, counters in rows:
            del counters["half_width"]
    answer = all_reduce(result(*rows))
    assert answer is not None
    assert answer[0].startswith("gloo, 2 ranks: t(S) cannot be told from this run: ")
    assert " runs would " in answer[0]


def step(strategy: str, us: float, bucket: str = "", **more: float) -> Any:
    name = f"ddp/{strategy}/small/fp32/ranks:2{bucket}/batch:4/seq:128"
    return name, {"p50_us": us, "half_width": 0.01} | more


ALONE = (
    "ddp/alone/small/fp32/ranks:1/as_one_of:2/batch:4/seq:128",
    {"p50_us": 50.0, "half_width": 0.01},
)


def test_ddp_compares_the_fastest_with_the_plainest() -> None:
    answer = ddp(
        result(
            # Another setting, which the sentence leaves alone.
            ("ddp/flat/tiny/fp32/ranks:2/batch:4/seq:128", {"p50_us": 1.0}),
            ALONE,
            step("per_parameter", 150, communication_calls=108),
            step("reducer", 120, overlap_share=-0.5),
            step(
                *("overlap_bucketed", 100, "/bucket_mb:25"),
                overlap_share=0.8,
                optimal_bucket_mb=2,
                scaling_efficiency=0.5,
                communication_bytes=2**20,
                exposed_us=50,
            ),
        )
    )
    assert answer is not None
    assert answer[0] == (
        "With small fp32, 2 ranks, 4 x 128 the fastest is overlap_bucketed 25 MiB: 100 "
        "us ± 1 %; `per_parameter` takes 1.5 (1.48 to 1.52) times as long as "
        "overlap_bucketed 25 MiB; `reducer` takes 1.2 (1.18 to 1.22) times as long as "
        "overlap_bucketed 25 MiB; the best bucket by the formula has 2 MiB; the "
        "scaling efficiency of overlap_bucketed 25 MiB is 50 % (49 % to 51 %)."
    )
    tiny, alone, plain, reducer, best = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in answer[1].markdown().splitlines()[2:]
    )
    headings = list(answer[1].headings)
    assert tiny[0].startswith("flat, tiny") and plain[0].startswith("per_parameter,")
    assert alone[0] == "alone, small fp32, 2 ranks, 4 x 128"
    assert alone[1] == "50 us" and set(alone[2:]) == {"-"}
    assert dict(zip(headings, plain, strict=True))["calls"] == "108"
    assert dict(zip(headings, reducer, strict=True))["hidden"] == "none"
    cells_of_best = dict(zip(headings, best, strict=True))
    assert cells_of_best["efficiency"] == "50 %" and cells_of_best["hidden"] == "80 %"
    assert cells_of_best["exposed"] == "50 us" and cells_of_best["predicted"] == "-"


BESIDE = (
    "ddp/side_by_side/small/fp32/ranks:2/batch:4/seq:128",
    {"p50_us": 60.0, "half_width": 0.01, "communication_calls": 0},
)
WHOLE = (
    "ddp/whole_batch/small/fp32/ranks:1/instead_of:2/batch:8/seq:128",
    {"p50_us": 80.0, "half_width": 0.01},
)


def test_ddp_is_compared_with_what_exchanges_nothing() -> None:
    answer = ddp(result(ALONE, BESIDE, WHOLE, step("flat", 100)))
    assert answer is not None
    assert (
        "the fastest is flat: 100 us ± 1 %; the scaling efficiency of flat is 50 % "
        "(49 % to 51 %); ranks that compute side by side take 1.2 (1.18 to 1.22) times "
        "as long as one by itself; one process with the whole batch takes 0.8 (0.789 "
        "to 0.811) times as long as flat."
    ) in answer[0]
    names = [line[0] for line in answer[1].lines]
    assert names == [
        f"{name}, small fp32, 2 ranks, 4 x 128"
        for name in ("alone", "side_by_side", "whole_batch", "flat")
    ]
    assert ddp(result(ALONE, BESIDE, WHOLE)) is None, "there is no exchange"


def test_the_predicted_bucket_is_compared_with_the_fastest() -> None:
    predicted = step(
        *("overlap_predicted_bucket", 110),
        bucket_bytes=3 << 20,
        optimal_bucket_mb=2.5,
    )
    answer = ddp(result(step("flat", 100, optimal_bucket_mb=2.75), predicted))
    assert answer is not None
    assert (
        "; the best bucket by the formula has 2.75 MiB; `overlap_predicted_bucket of "
        "3 MiB`, the predicted best, takes 1.1 (1.08 to 1.12) times as long as flat."
    ) in answer[0]
    faster = ddp(result(step("flat", 120), predicted))
    assert faster is not None
    assert "the fastest is overlap_predicted_bucket of 3 MiB" in faster[0]
    assert "the predicted best" not in faster[0]


def test_what_is_exposed_is_told_with_its_interval() -> None:
    answer = ddp(
        result(
            step("flat", 1, exposed_us=5, exposed_low_us=-2, exposed_high_us=9),
            step("reducer", 1, exposed_us=7),
            step(
                *("overlap_bucketed", 1, "/bucket_mb:1"),
                overlap_share=0.5,
                overlap_share_low=0.25,
                overlap_share_high=0.75,
            ),
        )
    )
    assert answer is not None
    flat, reducer, bucketed = (
        dict(zip(answer[1].headings, line, strict=True)) for line in answer[1].lines
    )
    assert flat["exposed"] == "5 us (-2 us to 9 us)"
    assert reducer["exposed"] == "7 us"
    assert bucketed["hidden"] == "50 % (25 % to 75 %)" and bucketed["exposed"] == "-"


def test_ddp_leaves_out_what_was_not_measured() -> None:
    answer = ddp(result(step("per_parameter", 150)))
    assert answer is not None
    assert answer[0] == (
        "With small fp32, 2 ranks, 4 x 128 the fastest is per_parameter: 150 us ± 1 %."
    )


def test_noise_alone_makes_no_strategy_the_fastest() -> None:
    answer = ddp(
        result(
            step("overlap_bucketed", 97.4, "/bucket_mb:100", half_width=0.05),
            step("reducer", 98.3, half_width=0.15),
            step("per_parameter", 216),
        )
    )
    assert answer is not None
    assert (
        "which is the fastest cannot be told from this run: overlap_bucketed 100 MiB "
        "takes 97.4 us ± 5 %, 1 of the other 2 may take less" in answer[0]
    )
    assert "`reducer` takes 1.01 (0.862 to 1.18) times" in answer[0]
    assert "more or less cannot be told from this run: not even 100 " in answer[0]
    assert "`per_parameter` takes 2.22 (2.11 to 2.33) times as long" in answer[0]


@pytest.mark.parametrize(
    ("half_width", "measured", "told"),
    [
        (
            0.01,
            (105, 95),
            "The prediction holds within 15 %: measured are 0.95 to",
        ),
        (
            0.01,
            (216, 110),
            "The prediction fails on 1 of 2 rows, where it is too low",
        ),
        (0.9, (216, 110), "Whether the prediction holds cannot be told from this run"),
    ],
)
def test_the_prediction_is_judged(
    half_width: float, measured: tuple[float, float], told: str
) -> None:
    rows = [
        step(name, us, predicted_us=100, half_width=half_width)
        for name, us in zip(("flat", "reducer"), measured, strict=True)
    ]
    answer = ddp(result(*rows))
    assert answer is not None and told in answer[0]


def equivalent(strategy: str, largest: float) -> Any:
    return (
        f"ddp_equivalence/{strategy}/ranks:2/steps:5",
        {
            **{"max_difference": largest, "mean_difference": largest / 10},
            **{"fc1_weight_max_difference": largest},
            **{"fc1_weight_mean_difference": largest / 10},
            **{"norm_bias_max_difference": 0.0, "norm_bias_mean_difference": 0.0},
            **{"loss": 1.5, "loss_alone": 1.5, "loss_difference": largest / 100},
        },
    )


def test_the_ranks_model_is_compared_parameter_by_parameter() -> None:
    names = ("flat", "reducer")
    rows = [equivalent(name, 3e-8 * (i + 1)) for i, name in enumerate(names)]
    entries = [
        entry(name, 1, f"strategy={word}", **counters)
        for word, (name, counters) in zip(names, rows, strict=True)
    ]
    answer = ddp_equivalence(parse(document(*entries)))
    assert answer is not None
    assert answer[0] == (
        "The parameters differ from those of one process with flat, 2 ranks, after 5 "
        "steps, by at most 3e-08, 3e-09 on average and with reducer, 2 ranks, after 5 "
        "steps, by at most 6e-08, 6e-09 on average; no loss differs by more than 6e-10."
    )
    assert answer[1].lines == [
        ["flat, 2 ranks: fc1_weight", "3e-08", "3e-09"],
        ["flat, 2 ranks: norm_bias", "0", "0"],
        ["reducer, 2 ranks: fc1_weight", "6e-08", "6e-09"],
        ["reducer, 2 ranks: norm_bias", "0", "0"],
        ["flat, 2 ranks: last loss 1.5", "3e-10", "-"],
        ["reducer, 2 ranks: last loss 1.5", "6e-10", "-"],
    ]


def sharded(kind: str, model: str, us: float, **more: float) -> Any:
    name = f"sharded_optimizer/{kind}/{model}/ranks:2/batch:4/seq:128"
    return name, {"p50_us": us, "half_width": 0.01} | more


def test_sharding_is_compared_with_replication() -> None:
    answer = sharded_optimizer(
        result(
            sharded("replicated", "tiny", 1),
            sharded("sharded", "tiny", 1),
            sharded("replicated", "small", 100, peak_bytes=4 * 2**30),
            sharded(
                *("sharded", "small", 110),
                peak_bytes=3 * 2**30,
                init_peak_bytes=2**20,
                before_step_peak_bytes=2**21,
                step_peak_bytes=2**22,
                predicted_peak_bytes=2**23,
            ),
            sharded("broadcast", "small", 130),
        )
    )
    assert answer is not None
    assert answer[0] == (
        "Sharding the optimizer of `small` over 2 ranks, 4 x 128, takes 1.1 (1.08 to "
        "1.12) times the time of replicating it and 75 % of the peak memory, 3 GiB "
        "instead of 4 GiB."
    )
    lines = answer[1].markdown().splitlines()
    assert lines[5] == (
        "| sharded, small, 2 ranks, 4 x 128 | 110 us | - | - | 1 MiB | 2 MiB | 4 MiB "
        "| 3 GiB | 8 MiB |"
    )
    assert lines[6].startswith("| broadcast, small, 2 ranks, 4 x 128 | 130 us | - |")


def test_the_update_and_the_exchange_of_shards_are_told_apart() -> None:
    answer = sharded_optimizer(
        result(
            sharded("replicated", "tiny", 100, optimizer_us=50, communication_us=25),
            sharded("sharded", "tiny", 100, optimizer_us=25, communication_us=25),
        )
    )
    assert answer is not None
    told = answer[0].partition(". Of it, ")[2]
    update, exchange = told.split(" and the exchange takes ")
    assert update == "the update takes 0.5 (0.493 to 0.507) times as long"
    assert exchange.startswith("1 (0.986 to 1.01) times as long (more or less cannot")


def test_sharding_without_memory_compares_the_time_alone() -> None:
    answer = sharded_optimizer(
        result(sharded("sharded", "tiny", 3), sharded("replicated", "tiny", 2))
    )
    assert answer is not None
    assert answer[0].endswith(
        "takes 1.5 (1.48 to 1.52) times the time of replicating it."
    )
    # Noise alone makes neither dearer.
    answer = sharded_optimizer(
        result(
            sharded("replicated", "tiny", 90.6, half_width=0.076),
            sharded("sharded", "tiny", 106, half_width=0.18),
        )
    )
    assert answer is not None and "more or less cannot be told" in answer[0]


@pytest.mark.parametrize(
    "summarize", [all_reduce, ddp, ddp_equivalence, sharded_optimizer]
)
def test_without_what_is_compared_there_is_no_answer(summarize: Any) -> None:
    assert summarize(result()) is None
    lonely = (reduced("gloo", 2, 8, 1), ALONE, sharded("sharded", "a", 1))
    assert summarize(result(*lonely)) is None

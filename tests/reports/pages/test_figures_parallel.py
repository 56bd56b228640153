# SPDX-License-Identifier: MIT
"""The plots of distributed experiments, from rows made by hand."""

from typing import Any

import pytest

from figures import gids, markers, texts
from reports.pages.figures.collectives import all_reduce
from reports.pages.figures.parallel import ddp, sharded_optimizer
from reports.results.rows import Row, Turns, load
from results import REFERENCE, result_of, within


def reduced(backend: str, ranks: int, size: float, us: float) -> Row:
    counters = {"ranks": float(ranks), "bytes": size, "p50_us": us}
    name = f"all_reduce/{backend}/ranks:{ranks}/bytes:{int(size)}"
    return Row(name, us, {"backend": backend}, {}, counters)


def test_the_legend_of_all_reduce_has_the_fitted_laws() -> None:
    sizes = (1 << 10, 1 << 17, 1 << 24)
    rows = [reduced("gloo", 2, size, 50 + size / 2e3) for size in sizes]
    rows += [reduced("nccl", 4, size, 20 + size / 1e5) for size in sizes]
    rows += [reduced("nccl", 6, 1 << 10, 7)]  # one size has no law
    figures = all_reduce(result_of(*rows))
    assert [figure.title for figure in figures] == [
        "All-reduce: time over size",
        "All-reduce: bandwidth over size",
    ]
    for figure in figures:
        labels = texts(figure.svg)
        assert "gloo, 2 ranks: 50 us + S / (2 GB/s)" in labels
        assert "nccl, 4 ranks: 20 us + S / (100 GB/s)" in labels
        assert "nccl, 6 ranks" in labels
        assert {"1 KiB", "32 KiB", "1 MiB"} <= set(labels)
        assert "50 us + S / (2 GB/s)" in figure.description


def test_a_transfer_whose_size_costs_nothing() -> None:
    figure, _ = all_reduce(
        result_of(reduced("gloo", 2, 1e3, 10), reduced("gloo", 2, 2e3, 10))
    )
    assert "gloo, 2 ranks: 10 us, whatever S" in texts(figure.svg)


def step(strategy: str, us: float, ranks: int = 2, **more: Any) -> Row:
    words = {"strategy": strategy, "model": "tiny", "precision": "fp32"}
    words |= {key: more.pop(key) for key in ("model", "precision") if key in more}
    counters: dict[str, Any] = {"ranks": ranks, "batch": 4, "seq": 128}
    counters |= within(more.pop("half_width", 0.01), p50_us=us) | more
    turns = Turns("ddp", (1,))
    return Row(f"ddp/{strategy}", us, words, {}, counters, turns=turns)


ALONE = step("alone", 90, ranks=1, as_one_of=2)


def test_ddp_divides_each_step_into_what_adds_up_to_it() -> None:
    (figure,) = ddp(
        result_of(
            ALONE,
            step("flat", 150, alone_us=100, exposed_us=50, collectives_us=40),
            step(
                *("overlap_bucketed", 120),
                bucket_mb=25,
                alone_us=100,
                exposed_us=20,
                collectives_us=50,
                predicted_us=110,
            ),
        )
    )
    assert figure.title == "Data parallelism: tiny fp32, 4 x 128"
    assert gids(figure.svg, "bar-") == [
        "bar-0-step-alone",
        "bar-1-step-alone",
        "bar-1-exposed-communication",
        "bar-2-step-alone",
        "bar-2-communication-it-hides",
        "bar-2-exposed-communication",
    ]
    labels = texts(figure.svg)
    assert {"2 ranks", "alone", "flat", "overlap_bucketed 25 MiB"} <= set(labels)
    assert {"90 us", "150 us", "120 us", "predicted"} <= set(labels)
    assert markers(figure.svg, "marks") == 1
    told = "With 2 ranks: The fastest is overlap_bucketed 25 MiB: 120 us ± 1 %."
    assert told in figure.description


def test_processes_that_exchange_nothing_stand_beside_the_strategies() -> None:
    (figure,) = ddp(
        result_of(
            ALONE,
            step("side_by_side", 100, communication_calls=0),
            step("whole_batch", 160, ranks=1, instead_of=2, batch=8),
            step("overlap_predicted_bucket", 120, bucket_bytes=3 << 20),
        )
    )
    assert gids(figure.svg, "bar-") == [
        "bar-0-step-alone",
        "bar-1-step-alone",
        "bar-2-step",
        "bar-3-step",
    ]
    labels = set(texts(figure.svg))
    assert {"side_by_side", "whole_batch", "overlap_predicted_bucket 3 MiB"} <= labels
    told = "With 2 ranks: The fastest is overlap_predicted_bucket 3 MiB: 120 us ± 1 %."
    assert figure.description.endswith(told)


def test_noise_makes_no_strategy_the_fastest_in_a_figure() -> None:
    rows = (step("flat", 98, half_width=0.1), step("reducer", 97, half_width=0.1))
    (figure,) = ddp(result_of(*rows))
    assert "Which is the fastest cannot be told from this run" in figure.description


def test_a_step_that_is_faster_with_communication_has_none_exposed() -> None:
    row = step("flat", 95, alone_us=100, exposed_us=-5, collectives_us=30)
    (figure,) = ddp(result_of(row))
    assert gids(figure.svg, "bar-") == [
        "bar-0-step-alone",
        "bar-0-communication-it-hides",
    ]
    undivided = ddp(result_of(step("flat", 95)))[0]
    assert gids(undivided.svg, "bar-") == ["bar-0-step"]


def test_ranks_share_a_figure_and_settings_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reports.pages.figures.parallel.MOST_SETTINGS", 2)
    rows = [step("flat", 10.0, ranks=ranks) for ranks in (4, 2)]
    rows += [step("flat", 10.0, model=model) for model in "abc"]
    figures = ddp(result_of(*rows))
    titles = [figure.title.split(",")[0] for figure in figures]
    assert titles == ["Data parallelism: b fp32", "Data parallelism: c fp32"]
    assert figures[0].description.endswith("2 smaller settings are not drawn.")
    assert "not drawn" not in figures[1].description
    labels = texts(ddp(result_of(*rows[:2]))[0].svg)
    assert labels.index("2 ranks") < labels.index("4 ranks")


def sharded(kind: str, us: float, **more: float) -> Row:
    counters = {"p50_us": us, "ranks": 2.0, "batch": 4.0, "seq": 128.0} | more
    words = {"sharding": kind, "model": "small"}
    return Row(f"sharded_optimizer/{kind}", us, words, {}, counters)


def test_sharding_shows_time_and_memory_side_by_side() -> None:
    (figure,) = sharded_optimizer(
        result_of(
            sharded("replicated", 100, peak_bytes=4 * 2**30, state_bytes=2**30),
            sharded(
                *("sharded", 110),
                communication_us=30,
                optimizer_us=10,
                peak_bytes=3 * 2**30,
                state_bytes=2**29,
                predicted_peak_bytes=3 * 2**30,
            ),
        )
    )
    labels = set(texts(figure.svg))
    assert {"time of a step", "peak memory of a rank", "optimizer state"} <= labels
    assert {"replicated", "100 us", "4 GiB", "sharded", "110 us", "3 GiB"} <= set(
        labels
    )
    # Each bar to the left has one to the right.
    assert gids(figure.svg, "bar-") == [
        "bar-0-forward,-loss,-backward",
        "bar-1-forward,-loss,-backward",
        "bar-1-communication",
        "bar-1-optimizer",
        "bar-0-optimizer-state",
        "bar-0-everything-else",
        "bar-1-optimizer-state",
        "bar-1-everything-else",
    ]
    assert "sharded (2 ranks) 110 us and 3 GiB" in figure.description


@pytest.mark.parametrize("plot", [all_reduce, ddp, sharded_optimizer])
def test_without_rows_there_is_no_figure(plot: Any) -> None:
    assert plot(result_of()) == []
    assert plot(result_of(ALONE, reduced("gloo", 2, 8, 1))) == []


@pytest.mark.parametrize("plot", [all_reduce, ddp, sharded_optimizer])
def test_the_reference_run_is_drawn(plot: Any) -> None:
    figures = plot(load(REFERENCE))
    assert figures
    assert all(len(figure.svg) < 100_000 for figure in figures)

# SPDX-License-Identifier: MIT
"""The answer and the plot of ranks that share a model, from rows made by hand."""

from typing import Any

from answered import answered
from figures import gids
from reports.experiments.tensor_parallel import answer, figures
from reports.results.rows import parse
from results import document, entry


def step(ranks: int, us: float, data: int = 1, **more: float) -> dict[str, Any]:
    name = f"tensor_parallel/tiny/fp32/ranks:{ranks}/data:{data}/batch:4/seq:128"
    shape = {"ranks": ranks, "data": data, "batch": 4, "seq": 128}
    counters = shape | {"p50_us": us, "half_width": 0.01} | more
    return entry(name, us, "model=tiny precision=fp32", **counters)


ALONE = step(1, 100, peak_bytes=4 * 2**20)
PAIR = step(
    *(2, 110),
    alone_us=99,
    exposed_us=11,
    communication_share=0.1,
    communication_share_low=0.08,
    communication_share_high=0.12,
    sent_bytes=2**20,
    predicted_sent_bytes=2**20,
    peak_bytes=3 * 2**20,
    predicted_peak_bytes=3 * 2**20,
)


def test_ranks_are_compared_with_one_process() -> None:
    sentence, table = answered(
        "tensor_parallel", ALONE, PAIR, step(4, 200, 2, peak_bytes=4 * 2**20)
    )
    assert sentence == (
        "Shared by 2 ranks, a step of `tiny fp32 4 x 128` takes 1.1 (1.08 to 1.12) "
        "times the time of one process and 75 % of its peak memory, 3 MiB instead of "
        "4 MiB. A rank sends 1 MiB, which takes 10 % (8 % to 12 %) of the step."
    )
    cells = {
        ranks: [cell.strip() for cell in line.split("|")[2:-1]]
        for line in table.splitlines()
        for ranks in ("1 rank", "2 ranks", "2 replicas")
        if f"{ranks} |" in line
    }
    assert cells["1 rank"] == ["100 us (99 us to 101 us)", *5 * ["-"], "4 MiB", "-"]
    assert cells["2 ranks"] == [
        *("110 us (109 us to 111 us)", "99 us", "11 us", "10 % (8 % to 12 %)"),
        *("1 MiB", "1 MiB", "3 MiB", "3 MiB"),
    ]
    assert cells["2 replicas"][0] == "200 us (198 us to 202 us)"


def test_what_was_not_measured_is_left_out() -> None:
    sentence, _ = answered("tensor_parallel", step(1, 100), step(2, 200))
    assert sentence == (
        "Shared by 2 ranks, a step of `tiny fp32 4 x 128` takes 2 (1.97 to 2.03) "
        "times the time of one process."
    )


def test_without_one_process_there_is_no_answer() -> None:
    for rows in ((), (PAIR,), (ALONE,), (ALONE, step(4, 9, 2))):
        assert answer(parse(document(*rows))) is None


def test_the_plot_shows_what_the_exchange_adds() -> None:
    rows = (
        step(4, 90, 2, exposed_us=20, peak_bytes=3 * 2**20),
        ALONE,
        step(2, 110, exposed_us=-5, peak_bytes=2**20),  # noise
    )
    (figure,) = figures(parse(document(*rows)))
    assert figure.title == "Tensor parallelism: tiny fp32, 4 x 128"
    assert figure.description == (
        "1 rank 100 us and 4 MiB, 2 ranks 110 us and 1 MiB, 4 ranks, 2 replicas 90 us "
        "and 3 MiB."
    )
    bars = [gid for gid in gids(figure.svg, "bar-") if "optimizer-state" not in gid]
    assert bars == [
        "bar-0-step-alone",
        "bar-1-step-alone",
        "bar-2-step-alone",
        "bar-2-exposed-communication",
        "bar-0-everything-else",
        "bar-1-everything-else",
        "bar-2-everything-else",
    ]
    assert figures(parse(document())) == []

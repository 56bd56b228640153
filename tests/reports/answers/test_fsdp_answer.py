# SPDX-License-Identifier: MIT
"""The answer of fully sharded training, from rows made by hand."""

from typing import Any

from reports.answers.fsdp import fsdp
from reports.results.rows import Result, parse
from results import document, entry


def step(sharded: str, us: float, peak: float, ranks: int = 2, **more: float) -> Any:
    flags = {"reshard": 0.0, "prefetch": 0.0} | more
    name = (
        f"fsdp/{sharded}/tiny/fp32/reshard:{flags['reshard']:g}"
        f"/prefetch:{flags['prefetch']:g}/ranks:{ranks}/batch:1/seq:128"
    )
    words = f"sharded={sharded} model=tiny precision=fp32"
    values = {"ranks": float(ranks), "batch": 1.0, "seq": 128.0, "half_width": 0.01}
    return entry(name, us, words, p50_us=us, peak_bytes=peak, **values | flags)


def result(*rows: Any) -> Result:
    return parse(document(*rows))


REPLICAS = (step("nothing", 100, 4 << 20), step("optimizer", 100, 3 << 20))


def test_the_lowest_peak_and_the_times_are_told() -> None:
    answer = fsdp(
        result(
            *REPLICAS,
            step("everything", 110, 2.5 * (1 << 20)),
            step("everything", 150, 2 << 20, reshard=1.0, prefetch=1.0),
        )
    )
    assert answer is not None
    sentence, table = answer
    assert sentence.startswith(
        "With tiny fp32, 2 ranks, 1 x 128 `everything, resharded, prefetched` has the "
        "lowest peak, 2 MiB per rank instead of 4 MiB; `everything` takes 1.1"
    )
    assert "`everything, resharded, prefetched` takes 1.5" in sentence
    assert sentence.endswith("times the time of a sharded optimizer.")
    lines = table.markdown().splitlines()[2:]
    assert [line.split("|")[1].split(": ")[1].strip() for line in lines] == [
        "nothing",
        "optimizer",
        "everything",
        "everything, resharded, prefetched",
    ]


def test_bytes_are_shown_beside_the_formula() -> None:
    counters = {"sent_bytes": 3.0 * (1 << 20), "predicted_sent_bytes": 3.0 * (1 << 20)}
    row = step("everything", 110, 1 << 20, ranks=2, **counters)
    answer = fsdp(result(*REPLICAS, row))
    assert answer is not None
    assert "| 3 MiB | 3 MiB |" in answer[1].markdown()


def test_without_replicas_nothing_is_said() -> None:
    assert fsdp(result()) is None
    assert fsdp(result(step("everything", 110, 1 << 20))) is None
    other_ranks = step("everything", 110, 1 << 20, ranks=4)
    assert fsdp(result(*REPLICAS, other_ranks)) is None

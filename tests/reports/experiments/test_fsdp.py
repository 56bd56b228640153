# SPDX-License-Identifier: MIT
"""The answer and the plots of fully sharded training, from rows made by hand."""

from typing import Any

from figures import gids, texts
from reports.experiments.fsdp import answer, figures
from reports.results.rows import Result, Row, parse
from results import document, entry, result_of


def measured(
    sharded: str, us: float, peak: float, ranks: int = 2, **more: float
) -> Any:
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


REPLICAS = (measured("nothing", 100, 4 << 20), measured("optimizer", 100, 3 << 20))


def test_the_lowest_peak_and_the_times_are_told() -> None:
    told = answer(
        result(
            *REPLICAS,
            measured("everything", 110, 2.5 * (1 << 20)),
            measured("everything", 150, 2 << 20, reshard=1.0, prefetch=1.0),
        )
    )
    assert told is not None
    sentence, table = told
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
    row = measured("everything", 110, 1 << 20, ranks=2, **counters)
    told = answer(result(*REPLICAS, row))
    assert told is not None
    assert "| 3 MiB | 3 MiB |" in told[1].markdown()


def test_what_communication_hides_has_its_interval() -> None:
    row = measured(
        *("everything", 110, 1 << 20),
        exposed_us=28.0,
        exposed_low_us=17.0,
        exposed_high_us=36.0,
        overlap_share=-1.3,
        overlap_share_low=-2.8,
        overlap_share_high=0.3,
    )
    told = answer(result(*REPLICAS, row))
    assert told is not None
    cells = (
        "| 110 us (109 us to 111 us) | 28 us (17 us to 36 us) | none (none to 30 %) |"
    )
    assert cells in told[1].markdown()


def test_without_replicas_nothing_is_said() -> None:
    assert answer(result()) is None
    assert answer(result(measured("everything", 110, 1 << 20))) is None
    other_ranks = measured("everything", 110, 1 << 20, ranks=4)
    assert answer(result(*REPLICAS, other_ranks)) is None


def step(sharded: str, ranks: int = 2, reshard: int = 0, **more: float) -> Row:
    words = {"sharded": sharded, "model": "tiny", "precision": "fp32"}
    counters = {
        "p50_us": 100.0,
        "communication_us": 20.0,
        "optimizer_us": 10.0,
        "peak_bytes": 8.0 * (1 << 20) / ranks,
        "predicted_peak_bytes": 8.0 * (1 << 20) / ranks,
        "state_bytes": 2.0 * (1 << 20) / ranks,
        "ranks": float(ranks),
        "reshard": float(reshard),
        "prefetch": 0.0,
        "batch": 4.0,
        "seq": 128.0,
    }
    return Row(f"fsdp/{sharded}", 100.0, words, {}, counters | more)


def test_time_and_memory_of_each_variant_stand_side_by_side() -> None:
    (figure,) = figures(
        result_of(step("nothing"), step("everything"), step("everything", reshard=1))
    )
    assert figure.title == "Fully sharded: tiny fp32, 4 x 128"
    labels = set(texts(figure.svg))
    assert {"nothing", "everything", "everything, resharded", "4 MiB"} <= labels
    assert "everything, resharded (2 ranks) 100 us and 4 MiB" in figure.description


def test_several_numbers_of_ranks_have_a_plot_of_their_own() -> None:
    rows = [step(s, ranks) for s in ("nothing", "everything") for ranks in (2, 4, 8)]
    bars, peaks = figures(result_of(*rows))
    assert bars.title.startswith("Fully sharded")
    assert peaks.title == "Peak of a rank over ranks: tiny fp32, 4 x 128"
    assert gids(peaks.svg, "peaks-") == ["peaks-0", "peaks-1"]
    assert {"2", "4", "8", "1 MiB", "4 MiB", "everything"} <= set(texts(peaks.svg))
    assert peaks.description.endswith("nothing 1 MiB, everything 1 MiB.")


def test_rows_without_memory_have_no_plot_of_it() -> None:
    rows = [step("everything", ranks, peak_bytes=0.0) for ranks in (2, 4)]
    (figure,) = figures(result_of(*rows))
    assert figure.title.startswith("Fully sharded")
    assert figures(result_of()) == []

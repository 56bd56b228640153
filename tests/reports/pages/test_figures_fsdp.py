# SPDX-License-Identifier: MIT
"""The plots of fully sharded training, from rows made by hand."""

from figures import gids, texts
from reports.pages.figures.fsdp import fsdp
from reports.results.rows import Row
from results import result_of


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
    (figure,) = fsdp(
        result_of(step("nothing"), step("everything"), step("everything", reshard=1))
    )
    assert figure.title == "Fully sharded: tiny fp32, 4 x 128"
    labels = set(texts(figure.svg))
    assert {"nothing", "everything", "everything, resharded", "4 MiB"} <= labels
    assert "everything, resharded (2 ranks) 100 us and 4 MiB" in figure.description


def test_several_numbers_of_ranks_have_a_plot_of_their_own() -> None:
    rows = [step(s, ranks) for s in ("nothing", "everything") for ranks in (2, 4, 8)]
    bars, peaks = fsdp(result_of(*rows))
    assert bars.title.startswith("Fully sharded")
    assert peaks.title == "Peak of a rank over ranks: tiny fp32, 4 x 128"
    assert gids(peaks.svg, "peaks-") == ["peaks-0", "peaks-1"]
    assert {"2", "4", "8", "1 MiB", "4 MiB", "everything"} <= set(texts(peaks.svg))
    assert peaks.description.endswith("nothing 1 MiB, everything 1 MiB.")


def test_rows_without_memory_have_no_plot_of_it() -> None:
    rows = [step("everything", ranks, peak_bytes=0.0) for ranks in (2, 4)]
    (figure,) = fsdp(result_of(*rows))
    assert figure.title.startswith("Fully sharded")
    assert fsdp(result_of()) == []

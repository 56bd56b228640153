# SPDX-License-Identifier: MIT
"""The plots of distributed experiments, from handmade rows."""

from figures import texts
from reports.pages.figures.collectives import all_reduce
from reports.results.rows import Row
from results import result_of


def reduced(backend: str, ranks: int, size: float, us: float) -> Row:
    counters = {"ranks": float(ranks), "bytes": size, "p50_us": us}
    name = f"all_reduce/{backend}/ranks:{ranks}/bytes:{int(size)}"
    return Row(name, us, {"backend": backend}, {}, counters)


def test_the_legend_of_all_reduce_has_the_fitted_laws() -> None:
    sizes = (1 << 10, 1 << 17, 1 << 24)
    rows = [reduced("gloo", 2, size, 50 + size / 2e3) for size in sizes]
    rows += [reduced("gloo", 3, size, 10) for size in sizes]
    rows += [reduced("nccl", 4, size, 20 + size / 1e5) for size in sizes]
    rows += [reduced("nccl", 6, 1 << 10, 7)]  # one size gives no fit
    laws = {
        "gloo, 2 ranks: 50 us + S / (2 GB/s)",
        "gloo, 3 ranks: 10 us, whatever S",
        "nccl, 4 ranks: 20 us + S / (100 GB/s)",
        "nccl, 6 ranks",
    }
    figures = all_reduce(result_of(*rows))
    assert len(figures) == 2
    for figure in figures:
        assert laws <= set(texts(figure.svg))

# SPDX-License-Identifier: MIT
"""The plots of rows that the committed run lacks; its page has all other parts."""

import html
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from advised import BF16_PEAK, PEAKS, SHAPE, Entry, product, timed
from golden import check_golden
from reports.experiments.spec import Axis, Bars, Lines, Phases, Plot
from reports.pages.figures.breakdown import MOST_STEPS, breakdown
from reports.pages.figures.collectives import all_reduce
from reports.pages.figures.memory import memory
from reports.pages.figures.roofline import roofline
from reports.pages.plot import MOST, figures
from reports.pages.plotting.canvas import Figure
from reports.pages.sections import roofline_section
from reports.results.rows import TIME, NotAResult, Row
from results import entry, parsed, result_of


def texts(svg: str) -> list[str]:
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [html.unescape(text).strip() for text in found]


def gids(svg: str, start: str) -> list[str]:
    """Returns the names of the parts that begin with `start`."""
    return re.findall(rf'<g class="({start}[^"]*)"', svg)


def outline(figures: Sequence[Figure]) -> str:
    """Lists the title, the description, the texts and the named parts of each."""
    lines = []
    for figure in figures:
        parts = Counter(gids(figure.svg, "")).items()
        lines += [figure.title, figure.description, " | ".join(texts(figure.svg))]
        lines.append(" | ".join(f"{count} {name}" for name, count in parts))
    return "\n".join(lines)


def profiled(
    shares: dict[str, dict[str, float]],
    model: str = "tiny",
    mode: str = "train_step",
    lost: float = 0,
) -> list[Entry]:
    """Returns a step of 1 s with these shares per phase. `lost` is the unattributed
    share of the forward pass."""
    step = f"model={model} precision=fp32 mode={mode}"
    every = {"step": {"all": 1.0}} | shares
    return [
        timed(
            *("breakdown", share * 1e6, f"{step} phase={phase} component={component}"),
            SHAPE,
            share=share,
            unattributed_share=lost if phase == "forward" else 0,
        )
        for phase, components in every.items()
        for component, share in components.items()
    ]


STEP = {
    "forward": {"projections": 0.1, "ffn": 0.15, "all": 0.3, "block": 0.25},
    "backward": {"ffn": 0.6, "novel": 0.05, "all": 0.66},
    "optimizer": {"optimizer": 0.04, "all": 0.04},
}


def test_plots_of_a_breakdown() -> None:
    def drawn(*rows: Entry) -> str:
        return outline(breakdown(parsed(*rows)))

    inference = {"forward": {"ffn": 1.0, "all": 1.0}}
    found = {
        # Medians: the parts of the backward pass add up to less than all of it.
        "an unknown component": drawn(*profiled(STEP, lost=1 / 6)),
        "inference alone": drawn(*profiled(inference, mode="inference")),
        "no parts": drawn(*profiled({})),
        "parts alone": drawn(*profiled(STEP)[1:]),
    }
    check_golden("figures/breakdown.txt", found)
    many = [row for n in range(20) for row in profiled(STEP, f"model{n}")]
    _, components = breakdown(parsed(*many))
    assert components.description.startswith(f"The components of {MOST_STEPS} of 20")


def step(mode: str, seq: int, moment: str, error: float, *mib: float) -> Row:
    """`mib`: parameters, gradients, optimizer, saved tensors, and predicted peak."""
    keys = ("parameter", "gradient", "optimizer", "saved", "peak")
    counters = {
        f"predicted_{key}_bytes": size * 2**20
        for key, size in zip(keys, mib, strict=True)
    }
    counters["own_peak_bytes"] = counters["predicted_peak_bytes"] * (1 + error)
    counters |= {"prediction_error": error, "batch": 4.0, "seq": float(seq)}
    words = {"model": "tiny", "precision": "fp32", "mode": mode}
    findings = {"predicted_peak_at": moment}
    return Row(f"memory/{mode}/{seq}", 1, words, findings, counters)


IN_FORWARD = "aten::mm in forward, lm_head"
IN_HEAD = "aten::new_zeros (GatherBackward0) in backward, cross_entropy"
AT_END = "aten::zeros (EmbeddingBackward0) in backward, embedding"
IN_BLOCK = "aten::mm (MmBackward0) in backward, ffn of layer 3"


def test_plots_of_memory() -> None:
    cases: dict[str, tuple[Row, ...]] = {
        "the moments of peaks": (
            step("inference", 1, IN_FORWARD, 0, 10, 0, 0, 0, 14),
            step("train_step", 2, IN_HEAD, 0, 10, 10, 20, 30, 80),
            step("train_step", 3, AT_END, 0, 10, 10, 20, 30, 40),
            step("train_step", 4, IN_BLOCK, 0, 10, 10, 20, 9, 50),
        )
    }
    errors = enumerate((0, -0.0123, 1e-9, 0.0123), start=128)
    cases["predictions that are not exact"] = tuple(
        step("forward", seq, IN_FORWARD, error, 10, 0, 0, 5, 16)
        for seq, error in errors
    )
    found = {name: outline(memory(result_of(*rows))) for name, rows in cases.items()}
    check_golden("figures/memory.txt", found)


def reduced(backend: str, ranks: int, size: float, us: float) -> Row:
    counters = {"ranks": float(ranks), "bytes": size, "p50_us": us}
    name = f"all_reduce/{backend}/ranks:{ranks}/bytes:{int(size)}"
    return Row(name, us, {"backend": backend}, {}, counters)


def test_the_legend_of_all_reduce_has_the_fitted_laws() -> None:
    sizes = (1 << 10, 1 << 17, 1 << 24)
    rows = [reduced("gloo", 2, size, 50 + size / 2e3) for size in sizes]
    rows += [reduced("gloo", 3, size, 10) for size in sizes]
    rows += [reduced("nccl", 6, 1 << 10, 7)]  # one size gives no fit
    laws = {
        "gloo, 2 ranks: 50 us + S / (2 GB/s)",
        "gloo, 3 ranks: 10 us, whatever S",
        "nccl, 6 ranks",
    }
    drawn = all_reduce(result_of(*rows))
    assert len(drawn) == 2
    assert all(laws <= set(texts(figure.svg)) for figure in drawn)


def row(
    name: str, rate: float, intensity: float = 1, words: str = "fp32", **more: float
) -> Entry:
    """`words` are the precision and, after a bar, findings."""
    work = {"flops": 1e9, "bytes": 1e9 / intensity, "flops_per_second": rate}
    return entry(name, 1, f"precision={words}", **work | more)


def above(name: str, what: str, intensity: float) -> Entry:
    text = f"1.5 times the fastest {what}: later rows are compared with this one"
    return row(name, 1.2e12, intensity, f"fp32 | above_peak={text}")


def test_rooflines() -> None:
    """And their table. The roof is 1 TFLOP/s and 20 GB/s, which intersect at 50
    FLOP/B."""
    cases = {
        "rows above the roof": (
            row("softmax/a", 30e9, 1),  # the memory's limit is 20
            row("softmax/b", 20.1e9, 1),  # within noise
            row("softmax/c", 3e12, 100),  # the products' limit is 1 TFLOP/s
            row("softmax/d", 30e9, 2),  # below
            row("ddp/a", 1e12, ranks=2),  # left out
            product("fp32", 9e11, 2),  # slower than another
        ),
        "rows above all peaks": (
            *(BF16_PEAK, above("softmax/a", "product", 100)),
            above("softmax/b", "pass over memory", 4),
            row("precision/tiny/bf16/seq:8", 1e12, 100, "bf16"),
        ),
        "a roof for each measured precision": (
            *(BF16_PEAK, row("precision/tiny/fp32/seq:8", 1e9)),
            row("precision/tiny/bf16/seq:8", 700e9, 100, "bf16"),
            row("precision/tiny/bf16/seq:9", 500e9, 90, "bf16_autocast"),
        ),
        "the best of three processes": (
            *(PEAKS[0], product("fp32", 2e12), row("softmax/a", 1e9)),
        ),
        "a precision of unknown peak": (
            row("precision/tiny/bf16/seq:8", 1.5e12, 100, "bf16_autocast"),
            row("precision/tiny/bf16/seq:9", 30e9, 1, "bf16"),
        ),
    }
    found = {}
    for name, rows in cases.items():
        run = parsed(*PEAKS, *rows, context={"processes": "3"})
        (section,) = roofline_section(run)
        (table,) = section.tables
        found[name] = f"{table.markdown()}\n\n{outline(section.figures)}"
    check_golden("figures/roofline.txt", found)


def test_the_size_of_a_cache_is_a_number() -> None:
    rows = (*PEAKS, above("softmax/b", "pass over memory", 4))
    run = parsed(*rows, context={"last_level_cache_bytes": "32 MiB"})
    with pytest.raises(NotAResult, match="bytes is '32 MiB'; allowed: a number"):
        roofline(run)


def case(n: int) -> Any:
    return entry(f"made/a/n:{n}", n, "kind=a", half_width=0.1)


def drawn(plot: Plot, *rows: Any) -> list[Figure]:
    return figures(parsed(*rows), "made", [plot])


@pytest.mark.parametrize("plot", [Bars(), Lines("n"), Phases(), Bars("x_bytes")])
def test_without_rows_there_is_no_plot(plot: Plot) -> None:
    assert drawn(plot) == []
    if not (isinstance(plot, Bars) and plot.counter == TIME):
        assert drawn(plot, case(1)) == []


@pytest.mark.parametrize(
    ("plot", "others"),
    [(Bars(), 44), (Phases(), 44), (Bars(versus=Axis("kind", "a")), 2)],
)
def test_the_last_cases_of_too_many_are_shown(plot: Plot, others: int) -> None:
    rows = [
        entry(f"made/{kind}/n:{n}", 1, f"kind={kind}", forward_us=1)
        for n in range(MOST + 2)
        for kind in ("a", "b")
    ]
    (figure,) = drawn(plot, *rows)
    assert figure.description.endswith(f" {others} further cases are not shown.")
    assert f"n:{MOST + 1}<" in figure.svg and "n:1<" not in figure.svg


def test_an_axis_of_a_few_percent_has_numbers() -> None:
    """No 1, 2 or 5 times a power of ten is between them."""
    rows = [reduced("gloo", 2, size, us) for size, us in ((1024, 300), (2048, 400))]
    time_over_size, _ = all_reduce(result_of(*rows))
    assert {"300 us", "350 us", "400 us"} <= set(texts(time_over_size.svg))


def test_an_interval_may_reach_0_on_a_logarithmic_axis() -> None:
    noisy = {"speedup": 30, "speedup_low": 0, "speedup_high": 60}
    rows = [entry("made/a", 1, **noisy), entry("made/b", 1, speedup=1)]
    (figure,) = drawn(Bars("speedup"), *rows)
    assert "interval-0" in gids(figure.svg, "interval")


@pytest.mark.parametrize(
    "rows", [[], [row("memory/a", 1e9)], [*PEAKS[1:], row("memory/a", 1e9)]]
)
def test_without_peaks_or_rows_there_is_no_roofline(rows: list[Entry]) -> None:
    assert roofline(parsed(*rows)) == breakdown(parsed(*rows)) == []

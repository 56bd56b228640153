# SPDX-License-Identifier: MIT
"""The plots of single experiments show their rows."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from figures import SVG, boxes, fill, texts
from reports.experiments import known
from reports.pages.figures.plain import MOST, plain
from reports.pages.plotting.figure import Figure, draw
from reports.results.rows import parse
from results import document, entry


def drawn(experiment: str, *rows: Any, **context: str) -> list[Figure]:
    figures = known()[experiment].figures
    assert figures is not None
    return figures(parse(document(*rows, context=context)))


def height_of(figure: Figure, text: str) -> float:
    """How far below the top the text stands."""
    root = ElementTree.fromstring(figure.svg)
    (found,) = (label for label in root.iter(f"{SVG}text") if label.text == text)
    return float(found.get("y", "nan"))


def top_of_bars(figure: Figure, colour: str) -> float:
    paths = ElementTree.fromstring(figure.svg).iter(f"{SVG}path")
    bars = [p for p in paths if p.get("clip-path") and colour in p.get("style", "")]
    return min(
        float(y)
        for bar in bars
        for y in re.findall(r"[ML] [\d.]+ ([\d.]+)", bar.get("d", ""))
    )


def step(model: str, mode: str, seq: int = 128, **counters: float) -> Any:
    return entry(
        f"model_size/{model}/fp32/{mode}/batch:1/seq:{seq}",
        sum(value for key, value in counters.items() if key.endswith("_us")),
        f"model={model} precision=fp32 mode={mode}",
        batch=1,
        seq=seq,
        **counters,
    )


def test_speed_ups_stand_beside_fp32() -> None:
    def case(precision: str, mode: str, **counters: float) -> Any:
        return entry(
            f"precision/tiny/{precision}/{mode}/batch:4/seq:128",
            10,
            f"model=tiny precision={precision} mode={mode}",
            **counters,
        )

    speed, memory = drawn(
        "precision",
        case("fp32", "train_step"),
        case("fp32", "forward"),
        case("bf16_autocast", "train_step", speedup=2, peak_ratio=0.6),
        case("bf16_autocast", "forward", speedup=4, peak_ratio=1.02),
        case("bf16", "train_step", speedup=3, peak_ratio=0.5),
    )
    labels = texts(speed.svg)
    # In the order of the run, a name for each group.
    assert labels.index("tiny train_step") < labels.index("tiny forward")
    assert {"2", "3", "4", "fp32", "bf16_autocast", "bf16"} <= set(labels)
    slow, fast = boxes(speed, fill(1))
    assert fast / slow == pytest.approx(2, rel=0.01)
    assert len(boxes(speed, fill(2))) == 1
    assert {"0.6", "1.02", "0.5"} <= set(texts(memory.svg))


def warm(calls: int, mean: float, model: str = "tiny", mode: str = "forward") -> Any:
    return entry(
        f"warmup/{model}/fp32/{mode}/calls:{calls}",
        10,
        f"model={model} precision=fp32 mode={mode}",
        calls=calls,
        mean_us=mean,
        stddev_us=1,
        steady_us=10,
    )


def attention(variant: str, seq: int, phase: str = "forward", d: int = 64) -> Any:
    power = 2 if variant == "naive" else 1.5
    return entry(
        f"attention_scaling/{variant}/fp32/{phase}/batch:8/seq:{seq}/d_head:{d}",
        3e-4 * seq**power,
        f"variant={variant} precision=fp32 phase={phase}",
        batch=8,
        seq=seq,
        d_head=d,
        saved_bytes=100.0 * seq,
        peak_bytes=7.0 * seq**power,
    )


def test_attention_is_drawn_with_its_fitted_exponents() -> None:
    figures = drawn(
        "attention_scaling",
        *(
            attention(variant, seq, phase, d)
            for variant in ("naive", "sdpa_flash")
            for phase in ("forward", "backward")
            for seq in (256, 512, 1024)
            for d in (64, 128)
            if (variant, seq) != ("naive", 1024)  # skipped
        ),
    )
    assert [figure.title for figure in figures] == [
        "Time of the forward pass, in fp32, batch 8, d 64",
        "Time of the backward pass, in fp32, batch 8, d 64",
        "Saved for the backward pass, in fp32, batch 8, d 64",
        "Peak memory of both passes, in fp32, batch 8, d 64",
    ]
    for figure in (figures[0], figures[1], figures[3]):
        labels = set(texts(figure.svg))
        assert {"naive: T^2.00", "sdpa_flash: T^1.50", "256", "512", "1024"} <= labels
    assert {"naive: T^1.00", "sdpa_flash: T^1.00"} <= set(texts(figures[2].svg))


def test_peaks_are_bars_with_their_rates() -> None:
    products, moves = drawn(
        "peak",
        entry(
            *("peak/matmul/fp32", 1, "work=matmul precision=fp32"),
            **{"m": 64, "n": 32, "k": 16, "flops_per_second": 2e11},
        ),
        entry("peak/copy", 1, "work=copy", size=1 << 20, bytes_per_second=1e10),
        entry("peak/update", 1, "work=update", size=1 << 30, bytes_per_second=3e10),
    )
    assert {"fp32 64 x 32 x 16", "200 GFLOP/s"} <= set(texts(products.svg))
    assert {"copy 1 MiB", "update 1 GiB", "10 GB/s", "30 GB/s"} <= set(texts(moves.svg))
    slow, fast = boxes(moves, fill(0))
    assert fast / slow == pytest.approx(3, rel=0.01)


def test_transfers_are_drawn_over_their_size() -> None:
    rows = [
        entry(
            f"transfer/h2d/{memory}/size:{size}",
            size / 1e3,
            f"direction=h2d host_memory={memory}",
            size=size,
            bytes_per_second=1e9,
        )
        for memory in ("pinned", "pageable")
        for size in (1024, 65536)
    ]
    cpu = {"device_kind": "cpu", "last_level_cache_bytes": "4096"}
    rate, time = drawn("transfer", *rows, **cpu)
    for figure in (rate, time):
        assert {"h2d pinned", "h2d pageable", "last-level cache"} <= set(
            texts(figure.svg)
        )
        assert "size of the buffer" in texts(figure.svg)
    rate, _ = drawn("transfer", *rows, **cpu | {"device_kind": "cuda"})
    assert "last-level cache" not in texts(rate.svg)
    assert drawn("transfer", *rows[::2]) == []  # one size


@pytest.mark.parametrize(
    "experiment", [name for name, one in known().items() if one.figures]
)
def test_without_rows_there_is_no_plot(experiment: str) -> None:
    assert drawn(experiment) == []


def test_an_experiment_without_a_module_has_the_times_of_its_cases() -> None:
    rows = [
        entry("mine/a/seq:8", 10.0, half_width=0.1),
        entry("mine/b/seq:8", 40.0),
        entry("other/c", 5.0),
    ]
    (figure,) = plain(parse(document(*rows)), "mine")
    assert {"a/seq:8", "b/seq:8"} <= set(texts(figure.svg))
    assert "c" not in texts(figure.svg)
    assert "a/seq:8 10 us" in figure.description
    many = [entry(f"mine/n:{n}", 1.0 + n) for n in range(MOST + 1)]
    (figure,) = plain(parse(document(*many)), "mine")
    assert f"first {MOST} cases" in figure.title
    assert f"n:{MOST}" not in texts(figure.svg)
    assert plain(parse(document()), "mine") == []


def test_a_plot_has_no_foreign_style_and_its_own_ids() -> None:
    def paint(axes: Any) -> None:
        axes.plot([1, 2], [3, 4], "o", label="$a_{ <b>")
        axes.legend()

    figure, other = draw("One & all", 'A "plot"', paint), draw("Other", "b", paint)
    assert "$a_{ &lt;b&gt;" in figure.svg  # neither formula nor tag
    assert "<style" not in figure.svg and "font-family" not in figure.svg
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (figure.svg, other.svg)]
    assert all(name.startswith("one-all-") for name in ids[0])
    assert ids[0] and ids[1] and not ids[0] & ids[1]
    assert draw("One & all", 'A "plot"', paint) == figure
    assert 'aria-label="A &quot;plot&quot;"' in figure.svg


def test_a_name_given_twice_is_there_once() -> None:
    def paint(axes: Any) -> None:
        for value in (1, 2, 3):
            axes.plot([1, value], [value, 2])[0].set_gid("mine")

    ids = re.findall(r'\bid="([^"]+)"', draw("A", "b", paint).svg)
    assert [name for name in ids if "mine" in name] == [
        "a-mine",
        "a-mine-2",
        "a-mine-3",
    ]


def test_a_plot_alone_is_a_document_of_its_own_size() -> None:
    figure = draw("A", "b", lambda axes: None, (5, 3))
    root = ElementTree.fromstring(figure.document())
    assert (root.get("width"), root.get("height")) == ("360pt", "216pt")
    assert root[0].get("fill") == "white"
    assert "font-family" in root.get("style", "")
    assert "max-width: 360pt" in figure.svg  # within a page

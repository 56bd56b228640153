# SPDX-License-Identifier: MIT
"""The rates of attention kernels, from rows made by hand."""

from typing import Any

from answered import answered
from reports.answers import answers
from reports.results.rows import parse
from results import document, entry


def case(
    variant: str,
    us: float,
    phase: str = "forward",
    seq: int = 1024,
    precision: str = "fp32",
    d_head: int = 64,
) -> dict[str, Any]:
    flops = 2.0 * seq**2 * d_head
    return entry(
        f"flash_attention/{variant}/{precision}/{phase}/heads:1/seq:{seq}"
        f"/d_head:{d_head}",
        us,
        f"variant={variant} precision={precision} phase={phase}",
        **{"heads": 1, "seq": seq, "d_head": d_head, "half_width": 0.01},
        **{"flops": 2 * flops, "kernel_flops_per_second": flops / us * 1e6},
    )


def test_ours_stand_beside_the_librarys_in_the_largest_shape() -> None:
    sentence, table = answered(
        "flash_attention",
        case("sdpa_flash", 10),
        case("own", 5),
        case("naive", 1, seq=2048),
        case("sdpa_efficient", 100, seq=2048),
        case("sdpa_flash", 50, seq=2048),
        case("own", 25, seq=2048),
        case("sdpa_flash", 100, "backward", seq=2048),
        case("own", 100, "backward", seq=2048),
        case("own", 1e3, seq=4096),  # nothing beside it
        case("sdpa_flash", 40, precision="bf16"),
        case("own", 80, precision="bf16"),
    )
    assert sentence == (
        "Ours in fp32 at T 2048, 1 head, d 64: forward 21.5 TFLOP/s ± 1 %, 0.5 (0.493 "
        "to 0.507) times sdpa_flash's time; backward 5.37 TFLOP/s ± 1 %, 1 (0.986 "
        "to 1.01) times sdpa_flash's time (more or less cannot be told from this "
        "run: not even 100 runs would tell). Ours in bf16 at T 1024, 1 head, d 64: "
        "forward 1.68 TFLOP/s ± 1 %, 2 (1.97 to 2.03) times sdpa_flash's time."
    )
    assert "| FLOP/s of kernels | T 1024 | T 2048 | T 4096 |" in table
    assert (
        "| own fp32 forward, 1 head, d 64 | 26.8 TFLOP/s ± 1 % | 21.5 TFLOP/s ± 1 % | "
        "2.15 TFLOP/s ± 1 % |"
    ) in table
    assert "| naive fp32 forward, 1 head, d 64 | - | 537 TFLOP/s ± 1 % | - |" in table


def test_without_a_kernel_of_the_library_there_is_no_answer() -> None:
    rows = (case("own", 5), case("naive", 50), case("sdpa_flash", 5, "backward"))
    assert answers(parse(document(*rows))) == []

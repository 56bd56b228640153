# SPDX-License-Identifier: MIT
"""The rates of attention kernels, from rows made by hand."""

from answered import answered
from implementation_rows import attention
from reports.answers import answers
from reports.results.rows import parse
from results import document


def test_ours_stand_beside_the_librarys_in_the_largest_shape() -> None:
    sentence, table = answered(
        "flash_attention",
        attention("sdpa_flash", 10),
        attention("own", 5),
        attention("naive", 1, seq=2048),
        attention("sdpa_efficient", 100, seq=2048),
        attention("sdpa_flash", 50, seq=2048),
        attention("own", 25, seq=2048),
        attention("sdpa_flash", 100, "backward", seq=2048),
        attention("own", 100, "backward", seq=2048),
        attention("own", 1e3, seq=4096),  # nothing beside it
        attention("sdpa_flash", 40, precision="bf16"),
        attention("own", 80, precision="bf16"),
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
    rows = (
        attention("own", 5),
        attention("naive", 50),
        attention("sdpa_flash", 5, "backward"),
    )
    assert answers(parse(document(*rows))) == []

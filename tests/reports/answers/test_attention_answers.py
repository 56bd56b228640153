# SPDX-License-Identifier: MIT
"""Growth of attention, and its softmax against a product, from rows made by hand."""

from typing import Any

import pytest

from answered import answered
from results import entry


def case(
    variant: str, seq: int, half_width: float = 0.001, batch: int = 8, **more: float
) -> dict[str, Any]:
    sizes = f"batch:{batch}/seq:{seq}/d_head:64"
    return entry(
        f"attention_scaling/{variant}/fp32/forward/{sizes}",
        3e-4 * seq**2,
        f"variant={variant} precision=fp32 phase=forward",
        **(
            {
                "batch": batch,
                "seq": seq,
                "d_head": 64,
                "half_width": half_width,
                "saved_bytes": 100.0 * seq,
                "peak_bytes": 7.0 * seq,
            }
            | more
        ),
    )


def test_the_fitted_exponents_have_the_intervals_of_the_rows() -> None:
    rows = [case("naive", seq) for seq in (256, 512, 1024)]
    sentence, table = answered("attention_scaling", *rows)
    assert sentence == (
        "Forward in fp32, batch 8, d 64, T 256 to 1024: naive's time grows as T^2.00 "
        "(2.00 to 2.00), its saved bytes as T^1.00."
    )
    assert "| T 256 | T 512 | T 1024 |" in table
    assert "| naive fp32 forward, batch 8, d 64 | 19.7 us ± 0.1 % |" in table
    assert "| 100 KiB | 7 KiB | 2.00 (2.00 to 2.00) | 1.00 | 1.00 |" in table


@pytest.mark.parametrize("half_width", [0.6, float("inf")])
def test_noise_alone_tells_no_growth(half_width: float) -> None:
    rows = [case("naive", seq, half_width) for seq in (256, 512, 1024)]
    sentence, _ = answered("attention_scaling", *rows)
    assert "how naive's time grows cannot be told from this run (" in sentence
    assert "runs would " in sentence and "T^2" not in sentence


def test_sizes_are_compared_at_one_length_and_batch_only() -> None:
    sentence, table = answered(
        "attention_scaling",
        *(case("naive", seq) for seq in (256, 512)),
        *(case("sdpa_flash", seq) for seq in (256, 512, 1024)),
        *(case("naive", seq, batch=1) for seq in (2048, 4096)),
    )
    assert "| naive fp32 forward, batch 8, d 64 | 19.7 us ± 0.1 % |" in table
    assert "| - | - | - | 2.00" in table.splitlines()[2]
    assert sentence.count("naive") == 1 and "batch 8" in sentence


def part(
    name: str, us: float, half_width: float = 0.01, seq: int = 512, **ratios: float
) -> dict[str, Any]:
    return entry(
        f"softmax_vs_matmul/{name}/fp32/batch:4/heads:12/seq:{seq}/d_head:64",
        us,
        f"part={name} precision=fp32",
        batch=4,
        heads=12,
        seq=seq,
        d_head=64,
        half_width=half_width,
        flops_per_second=1e9,
        bytes_per_second=1e9,
        **ratios,
    )


RATIOS: dict[str, Any] = {"flop_ratio": 0.039, "byte_ratio": 6.4}


def test_softmax_states_its_shape_and_is_explained_by_bytes() -> None:
    sentence, table = answered(
        "softmax_vs_matmul",
        part("qk", 5),
        part("softmax_naive", 7.5, time_ratio=1.5, **RATIOS),
    )
    assert sentence.startswith(
        "At 4 x 512, 12 heads, d 64 in fp32 the naive softmax has 3.9 % of the FLOPs "
    )
    assert "6.4 times its bytes and takes 1.5 (1.48 to 1.52) times its time" in sentence
    assert sentence.endswith("it is bytes, not FLOPs, that it spends its time on.")
    assert "| softmax_naive fp32, 4 x 512, 12 heads, d 64 |" in table


def test_a_row_that_something_slowed_down_shows_nothing_of_the_kind() -> None:
    sentence, _ = answered(
        "softmax_vs_matmul", part("qk", 5), part("softmax_naive", 4175, **RATIOS)
    )
    assert sentence.endswith("its bytes do not explain that.")


def test_noise_alone_explains_nothing() -> None:
    sentence, _ = answered(
        "softmax_vs_matmul", part("qk", 5, 3), part("softmax_naive", 7.5, 3, **RATIOS)
    )
    assert "more or less cannot be told from this run" in sentence
    assert sentence.endswith(
        "whether its bytes explain that cannot be told from this run."
    )


def test_softmax_is_never_set_against_a_product_of_another_length() -> None:
    rows = (
        part("qk", 5, seq=128),
        part("softmax_naive", 9, seq=128, **RATIOS),
        part("softmax_naive", 900, seq=512, **RATIOS),
    )
    sentence, _ = answered("softmax_vs_matmul", *rows)
    assert sentence.startswith("At 4 x 128,") and "takes 1.8 (" in sentence

# SPDX-License-Identifier: MIT
"""What a page says of its numbers, where the committed run has no example."""

from typing import Any

from reports.pages.across import roofline_section
from results import entry, parsed


def test_the_largest_gap_is_shown_where_it_is_clear() -> None:
    """Considers every experiment, not only steps."""

    def row(name: str, rate: float) -> dict[str, Any]:
        sizes = {"flops": 1e12, "bytes": 1e6, "flops_per_second": rate}
        return entry(name, 5, "precision=fp32", half_width=0.01, **sizes)

    peaks = (
        entry("peak/matmul/fp32/m:1", 5, "precision=fp32", flops_per_second=2e12),
        entry("peak/copy/size:1", 5, "work=copy", bytes_per_second=1e11),
    )
    rows = (row("model_size/tiny", 1e12), row("other/rms_norm", 1e11))
    (made,) = roofline_section(parsed(*peaks, *rows))
    assert (
        "`other/rms_norm` reaches 5 % ± 1 % of what the measured peaks allow"
        in made.sentence
    )

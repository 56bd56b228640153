# SPDX-License-Identifier: MIT
"""Short names of kernels."""

from reports.results.kernel_names import bare, shortened
from results import FILL, PRODUCT


def test_names_are_shortened_to_what_tells_them_apart() -> None:
    assert bare(FILL) == "vectorized_elementwise_kernel"
    assert shortened(FILL) == "vectorized_elementwise_kernel of FillFunctor, float"
    assert shortened(PRODUCT) == PRODUCT
    assert bare("void (anonymous namespace)::softmax<float>(float*)") == "softmax"
    copy = "Memcpy HtoD (Pageable -> Device)"
    assert shortened(copy) == copy

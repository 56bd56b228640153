# SPDX-License-Identifier: MIT
"""A case of the name of a small one that is in no machine's memory."""

# Instead of NANO's model, of the same name.
HUGE = "--model=name=nano,d_model=65536,d_ff=32,layers=1,heads=2,vocab=16777216"
# With HUGE the first is skipped and the others are measured.
FORWARD_AND_HARNESS = "--benchmark_filter=^(model_size/nano/fp32/forward/|harness/)"

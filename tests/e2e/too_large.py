# SPDX-License-Identifier: MIT
"""A case with the name of a small one that needs more memory than any machine has."""

# Replaces NANO's model, under the same name.
HUGE = "--model=name=nano,d_model=65536,d_ff=32,layers=1,heads=2,vocab=16777216"
# With HUGE the first case is skipped and the others are measured.
FORWARD_AND_HARNESS = "--benchmark_filter=^(model_size/nano/fp32/forward/|harness/)"

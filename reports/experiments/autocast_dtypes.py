# SPDX-License-Identifier: MIT
"""benchmarks/autocast_dtypes.cc: what is said of it."""

from reports.experiments.spec import Spec, Values

TENSORS = (*("parameters", "fc1", "relu", "layer_norm", "logits", "loss", "gradients"),)
SPEC = Spec(place=160, columns=TENSORS, sentence=(Values(TENSORS),), plots=())

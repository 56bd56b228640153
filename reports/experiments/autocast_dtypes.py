# SPDX-License-Identifier: MIT
"""How benchmarks/autocast_dtypes.cc is reported."""

from reports.experiments.spec import Spec, Values

TENSORS = (*("parameters", "fc1", "relu", "layer_norm", "logits", "loss", "gradients"),)
SPEC = Spec(place=160, columns=TENSORS, sentence=(Values(TENSORS),), plots=())

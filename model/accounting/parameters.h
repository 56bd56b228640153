// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARAMETERS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "model/spec/component.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"

namespace trainbench {

// Elements in the matrices of one block: four d x d projections, of which those
// of keys and values are narrower where they have fewer heads, d x kv, and m
// d x ff matrices of the feed-forward layer, 3 with a gate, 2 without:
// 2 d^2 + 2 d kv + m d ff.
int64_t BlockMatrixParameters(const ModelConfig& config);

// Elements of a norm: d, and as many in its bias.
int64_t NormParameters(const ModelConfig& config);

// Elements in one block: its matrices, their biases, of an element for each
// row, and two norms.
int64_t BlockParameters(const ModelConfig& config);

// All parameters: input and output embedding of V d each, or one that both
// share, learned positions of C d, the blocks and the last norm. Without biases
// and learned positions 2 V d + L (2 d^2 + 2 d kv + m d ff + 2 d) + d.
int64_t ParameterCount(const ModelConfig& config);

// Bytes of all parameters: 4 each, in bf16 2.
int64_t ParameterBytes(const ModelConfig& config, Precision precision);

// Parameter tensors: of a block its matrices, 7 with a gate, 6 without, its 2
// norms and all biases; the embeddings and the last norm.
int64_t ParameterTensorCount(const ModelConfig& config);

struct ComponentParameters {
  Component component;
  int64_t elements = 0;
  // Of these the ones in matrices that multiply each token.
  int64_t multiplied = 0;
};

// In the order of kComponents, those that have parameters; together all.
std::vector<ComponentParameters> ParametersByComponent(
    const ModelConfig& config);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARAMETERS_H_

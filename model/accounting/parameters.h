// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARAMETERS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "model/spec/component.h"
#include "model/spec/config.h"
#include "model/spec/precision.h"

namespace trainbench {

// Elements in the matrices of one block: 2 d q + 2 d kv + m d ff. Queries and
// output have d x q projections (q is d unless the model is a rank's part),
// keys and values d x kv (narrower with fewer heads); the feed-forward layer
// has m d x ff matrices, 3 with a gate, 2 without.
int64_t BlockMatrixParameters(const ModelConfig& config);

// Elements of a norm: d, and another d if it has a bias.
int64_t NormParameters(const ModelConfig& config);

// Elements in one block: its matrices, their biases (one element per row), and
// two norms.
int64_t BlockParameters(const ModelConfig& config);

// All parameters: input and output embedding of V d each, or one that both
// share, learned positions of C d, the blocks and the last norm. Without biases
// and learned positions: 2 V d + L (2 d^2 + 2 d kv + m d ff + 2 d) + d.
int64_t ParameterCount(const ModelConfig& config);

// Bytes of all parameters: 2 each in bf16, otherwise 4.
int64_t ParameterBytes(const ModelConfig& config, Precision precision);

// Parameter tensors: per block its matrices (7 with a gate, 6 without), 2 norms
// and all biases; the embeddings and the last norm.
int64_t ParameterTensorCount(const ModelConfig& config);

struct ComponentParameters {
  Component component;
  int64_t elements = 0;
  // The elements of matrices that multiply each token.
  int64_t multiplied = 0;
  int64_t tensors = 0;
};

// The components with parameters, in the order of kComponents; in sum, all.
std::vector<ComponentParameters> ParametersByComponent(
    const ModelConfig& config);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARAMETERS_H_

// SPDX-License-Identifier: MIT

#include "model/accounting/parameters.h"

namespace trainbench {

int64_t BlockMatrixParameters(const ModelConfig& config) {
  return 4 * config.d_model * config.d_model + 3 * config.d_model * config.d_ff;
}

int64_t BlockParameters(const ModelConfig& config) {
  return BlockMatrixParameters(config) + 2 * config.d_model;
}

int64_t ParameterCount(const ModelConfig& config) {
  return 2 * config.vocab * config.d_model +
         config.layers * BlockParameters(config) + config.d_model;
}

int64_t ParameterTensorCount(const ModelConfig& config) {
  return 9 * config.layers + 3;
}

}  // namespace trainbench

// SPDX-License-Identifier: MIT
// Sets the arithmetic of matrix products, as RAII: every exit path, including
// exceptions, restores the previous state.

#ifndef TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_
#define TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_

#include <ATen/Context.h>

#include "model/spec/precision.h"

namespace trainbench {

// Sets how fp32 matmuls are computed: on CUDA in TF32 for kTf32 and in IEEE
// fp32 otherwise, in oneDNN always in IEEE fp32. The setting is process-wide:
// do not overlap two scopes of different precision in different threads.
class MatmulScope {
 public:
  explicit MatmulScope(Precision precision);
  ~MatmulScope();
  MatmulScope(const MatmulScope&) = delete;
  MatmulScope& operator=(const MatmulScope&) = delete;

 private:
  at::Float32Precision saved_cuda_;
  at::Float32Precision saved_mkldnn_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_TRAINING_PRECISION_SCOPE_H_

// SPDX-License-Identifier: MIT

#include "model/training/precision_scope.h"

namespace trainbench {
namespace {

using at::Float32Backend;
using at::Float32Op;
using at::Float32Precision;

Float32Precision Get(Float32Backend backend) {
  return at::globalContext().float32Precision(backend, Float32Op::MATMUL);
}

void Set(Float32Backend backend, Float32Precision precision) {
  at::globalContext().setFloat32Precision(backend, Float32Op::MATMUL,
                                          precision);
}

}  // namespace

MatmulScope::MatmulScope(Precision precision)
    : saved_cuda_(Get(Float32Backend::CUDA)),
      saved_mkldnn_(Get(Float32Backend::MKLDNN)) {
  Set(Float32Backend::CUDA, precision == Precision::kTf32
                                ? Float32Precision::TF32
                                : Float32Precision::IEEE);
  Set(Float32Backend::MKLDNN, Float32Precision::IEEE);
}

MatmulScope::~MatmulScope() {
  Set(Float32Backend::CUDA, saved_cuda_);
  Set(Float32Backend::MKLDNN, saved_mkldnn_);
}

}  // namespace trainbench

// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_PRODUCT_H_
#define TRAINBENCH_MODEL_FUSED_PRODUCT_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainbench {

// Uninitialized matrices with `columns` columns and the given rows, adjacent in
// one storage, so that JoinedProduct uses them as one matrix without a copy.
std::vector<at::Tensor> AdjacentMatrices(const std::vector<int64_t>& rows,
                                         int64_t columns,
                                         const at::TensorOptions& options);

// x [..., in] times the transpose of `weight` [out, in], plus `bias` [out] if
// it is defined: [..., out]. Like at::linear, but in fp32 on a CPU with the
// faster library (mm.h).
at::Tensor LinearProduct(const at::Tensor& x, const at::Tensor& weight,
                         const at::Tensor& bias = {});

// x [..., in] times the transpose of each weight [out_i, in], plus its bias
// [out_i], concatenated: [..., sum of out_i], as one product. There are as many
// biases as weights, or none.
//
// Computed in the weights' dtype or, under autocast, in autocast's. In the
// latter case this call makes one bf16 copy of all weights and keeps it for the
// backward pass. Otherwise adjacent weights are used in place, and others are
// copied into one matrix. The weights' gradients are views of one tensor.
at::Tensor JoinedProduct(const at::Tensor& x, at::TensorList weights,
                         at::TensorList biases = {});

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_PRODUCT_H_

// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_FUSED_PRODUCT_H_
#define TRAINBENCH_MODEL_FUSED_PRODUCT_H_

#include <ATen/core/Tensor.h>

#include <vector>

namespace trainbench {

// Uninitialised matrices with `columns` columns and the given rows, one after
// another in one storage: JoinedProduct takes them as one without a copy.
std::vector<at::Tensor> AdjacentMatrices(const std::vector<int64_t>& rows,
                                         int64_t columns,
                                         const at::TensorOptions& options);

// x [..., in] times the transpose of `weight` [out, in], plus `bias` [out], if
// it is defined: [..., out]. As at::linear, but in fp32 on a CPU by the faster
// library (mm.h).
at::Tensor LinearProduct(const at::Tensor& x, const at::Tensor& weight,
                         const at::Tensor& bias = {});

// x [..., in] times the transpose of each weight [out_i, in], plus its bias
// [out_i], side by side: [..., sum of out_i], as one product. There are as many
// biases as weights, or none.
//
// In the dtype of the weights, under autocast in autocast's. Then one bf16 copy
// of all weights is made, here, and kept for the backward pass. Otherwise the
// weights are taken as they lie, if they are adjacent, or copied into one.
// Their gradients are views of one tensor.
at::Tensor JoinedProduct(const at::Tensor& x, at::TensorList weights,
                         at::TensorList biases = {});

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_PRODUCT_H_

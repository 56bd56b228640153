// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_KERNELS_HEAD_STRIDES_H_
#define TRAINBENCH_MODEL_KERNELS_HEAD_STRIDES_H_

#include <cstdint>

namespace trainbench::kernels {

// Strides in elements of a tensor [batch, heads, seq, d_head] with contiguous
// channels.
struct HeadStrides {
  int64_t batch;
  int64_t head;
  int64_t token;
};

// A tensor with its strides.
template <class Pointer>
struct HeadTensor {
  Pointer data;
  HeadStrides strides;
};
using HeadInput = HeadTensor<const void*>;
using HeadOutput = HeadTensor<void*>;

// Whether vectors of `wide` elements are aligned in all rows if in one.
inline bool KeepAlignment(const HeadStrides& strides, int64_t wide) {
  return strides.batch % wide == 0 && strides.head % wide == 0 &&
         strides.token % wide == 0;
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_HEAD_STRIDES_H_

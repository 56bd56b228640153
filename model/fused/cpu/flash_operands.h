// SPDX-License-Identifier: MIT
// Operands of small matrix products in the layouts that oneDNN's batch-reduce
// GEMM requires, and the product.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_OPERANDS_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_OPERANDS_H_

#include <ATen/native/CPUBlas.h>
#include <c10/util/BFloat16.h>

#include <cstdint>
#include <type_traits>

namespace trainbench {

// Rows of a tensor that is contiguous in its last dimension.
template <typename T>
struct Rows {
  T* data = nullptr;
  int64_t stride = 0;  // elements from row to row
  int64_t count = 0;
  int64_t width = 0;

  T* operator[](int64_t row) const { return data + row * stride; }
};

// C [m, n] = A [m, k] B [k, n], or C += A B. A is row-major. B is row-major in
// float; in bf16 two rows are interleaved, [k / 2, n, 2], and k is even.
template <typename Operand>
void Multiply(int64_t m, int64_t n, int64_t k, const Operand* a,
              int64_t a_stride, const Operand* b, int64_t b_stride, float* c,
              int64_t c_stride, bool add) {
  at::native::cpublas::brgemm(m, n, k, a_stride, b_stride, c_stride, add, a, b,
                              c, !std::is_same_v<Operand, float>);
}

// Packs a left operand: [rows.count, to_stride], with zeros from column
// rows.width on.
template <typename T, typename Operand>
void PackPlain(const Rows<T>& rows, Operand* to, int64_t to_stride) {
  for (int64_t r = 0; r < rows.count; ++r) {
    const T* const from = rows[r];
    Operand* const row = to + r * to_stride;
    for (int64_t i = 0; i < rows.width; ++i) row[i] = Operand(from[i]);
    for (int64_t i = rows.width; i < to_stride; ++i) row[i] = Operand(0);
  }
}

// Packs a transposed left operand: [rows.width, to_stride], with zeros from
// column rows.count on.
template <typename T, typename Operand>
void PackTransposed(const Rows<T>& rows, Operand* to, int64_t to_stride) {
  for (int64_t i = 0; i < rows.width; ++i) {
    Operand* const row = to + i * to_stride;
    for (int64_t r = 0; r < rows.count; ++r) row[r] = Operand(rows[r][i]);
    for (int64_t r = rows.count; r < to_stride; ++r) row[r] = Operand(0);
  }
}

// Packs a right operand: [height, to_stride], with zeros from row rows.count on
// and from column rows.width on.
template <typename T, typename Operand>
void PackRight(const Rows<T>& rows, int64_t height, Operand* to,
               int64_t to_stride) {
  constexpr int64_t kPair = std::is_same_v<Operand, float> ? 1 : 2;
  for (int64_t r = 0; r < height; ++r) {
    Operand* const row = to + r / kPair * kPair * to_stride + r % kPair;
    const int64_t width = r < rows.count ? rows.width : 0;
    const T* const from = rows.data + r * rows.stride;
    for (int64_t i = 0; i < width; ++i) row[i * kPair] = Operand(from[i]);
    for (int64_t i = width; i < to_stride; ++i) row[i * kPair] = Operand(0);
  }
}

// Packs a transposed right operand: [height, to_stride], with zeros from row
// rows.width and from column rows.count on.
template <typename T, typename Operand>
void PackRightTransposed(const Rows<T>& rows, int64_t height, Operand* to,
                         int64_t to_stride) {
  constexpr int64_t kPair = std::is_same_v<Operand, float> ? 1 : 2;
  for (int64_t i = 0; i < height; ++i) {
    Operand* const row = to + i / kPair * kPair * to_stride + i % kPair;
    const int64_t count = i < rows.width ? rows.count : 0;
    for (int64_t r = 0; r < count; ++r) row[r * kPair] = Operand(rows[r][i]);
    for (int64_t r = count; r < to_stride; ++r) row[r * kPair] = Operand(0);
  }
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_FLASH_OPERANDS_H_

// SPDX-License-Identifier: MIT
// The elementwise work on a tile of scores between its matrix products, for
// each instruction set. A tile is transposed, with one row per key and one
// column per query, so that 16 queries fill the lanes of a vector and no sum
// crosses lanes.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_SCORES_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_SCORES_H_

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace trainbench {

struct ScoreTile {
  float* scores;    // [keys, stride]: unscaled Q K^T
  int64_t keys;     // rows in use
  int64_t queries;  // columns in use, rounded up to 16
  int64_t stride;   // floats between rows
  float scale;      // 1 / sqrt(d)
};

// Online softmax (Milakov and Gimelshein 2018): updates the maximum and the sum
// of each query, and overwrites the scores with weights. The query's previous
// sum and output must be multiplied by factors[r]. Returns whether any factor
// is not 1.
//
// Operand float: weights [keys, stride]. BFloat16: two rows are interleaved,
// [keys / 2, stride, 2], the last with a row of zeros if keys is odd; stride is
// unchanged in 32-bit words.
template <typename Operand>
bool UpdateSoftmax(const ScoreTile& tile, float* maxima, float* sums,
                   float* factors);

// Multiplies column r of [rows, stride] by factors[r].
void ScaleColumns(float* matrix, int64_t rows, int64_t columns, int64_t stride,
                  const float* factors);

struct GradientTile {
  ScoreTile tile;
  float* gradients;          // [keys, stride]: weight gradients, dO V^T
  const float* log_sum_exp;  // per query
  const float* means;        // sum of output times its gradient, per query
};

// Recomputes the weights and the scores' gradient (Dao 2023, algorithm 2).
// Operand float: scores becomes the weights, gradients the scores' gradient;
// `rows` is not used. BFloat16: scores becomes the weights, [keys, 2 stride] in
// bf16; gradients becomes the scores' gradient with two rows interleaved as
// above; `rows` becomes the same without interleaving, [keys, stride].
template <typename Operand>
void ComputeGradients(const GradientTile& tile, Operand* rows);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_FLASH_SCORES_H_

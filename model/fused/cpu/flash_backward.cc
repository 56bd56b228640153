// SPDX-License-Identifier: MIT
// Tiles are transposed as in the forward pass: the scores K Q^T, their
// gradients, and q's gradient K^T dS^T. So every product uses a tile of scores
// directly as its left or right operand.

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "model/fused/cpu/flash_common.h"
#include "model/fused/cpu/flash_scores.h"
#include "model/fused/cpu/operations.h"
#include "model/fused/cpu/parallel.h"

namespace trainbench {
namespace {

// Shared state of a backward pass.
struct Pass {
  const FlashInputs& inputs;
  const FlashResult& result;
  const at::Tensor& gradient;
  const FlashShape& shape;
  int64_t splits;
  at::Tensor means;        // [batch heads, seq]: sum of output times gradient
  at::Tensor q_gradients;  // [batch heads, splits, tiles, width, rows]
  FlashGradients to;
};

// A part of a sequence's keys, processed in groups of tiles.
template <typename T, typename Operand>
class KeyGroups {
 public:
  KeyGroups(const Pass& pass, float* scratch)
      : p_(pass), s_(pass.shape), t_(pass.shape.tiles) {
    const int64_t group = std::min(CpuFlashTiles::kBackwardGroup, t_.tiles);
    const auto take = [&](int64_t floats) {
      return std::exchange(scratch, scratch + floats);
    };
    for (float** const of_group :
         {&k_, &k_transposed_, &v_, &k_gradient_, &v_gradient_}) {
      *of_group = take(group * t_.keys * t_.width);
    }
    for (float** const of_tile :
         {&q_, &q_transposed_, &gradient_, &gradient_transposed_}) {
      *of_tile = take(t_.rows * t_.width);
    }
    log_sum_exp_ = take(t_.rows);
    means_ = take(t_.rows);
    scores_ = take(t_.keys * t_.rows);
    score_gradients_ = take(t_.keys * t_.rows);
    score_gradient_rows_ = take(t_.keys * t_.rows);
  }

  void Compute(int64_t sequence, int64_t split) {
    sequence_ = sequence;
    q_gradient_ = p_.q_gradients.template data_ptr<float>() +
                  (sequence * p_.splits + split) * t_.QueryGradientFloats();
    std::fill_n(q_gradient_, t_.QueryGradientFloats(), 0.0F);
    const int64_t group = CpuFlashTiles::kBackwardGroup;
    for (int64_t first = split * group; first < t_.tiles;
         first += p_.splits * group) {
      ComputeGroup(first, std::min(group, t_.tiles - first));
    }
  }

 private:
  void ComputeGroup(int64_t first, int64_t count) {
    for (int64_t j = 0; j < count; ++j) PackKeys(j, (first + j) * t_.keys);
    const int64_t floats = count * t_.keys * t_.width;
    std::fill_n(k_gradient_, floats, 0.0F);
    std::fill_n(v_gradient_, floats, 0.0F);
    for (int64_t i = first; i < t_.tiles; ++i) {
      PackQueries(i * t_.rows);
      for (int64_t j = 0; j <= std::min(i - first, count - 1); ++j) {
        AddTile(j, (first + j) * t_.keys, i);
      }
    }
    for (int64_t j = 0; j < count; ++j) Finish(j, (first + j) * t_.keys);
  }

  Operand* Packed(float* buffer) const {
    return reinterpret_cast<Operand*>(buffer);
  }
  float* Of(float* buffer, int64_t j) const {
    return buffer + j * t_.keys * t_.width;
  }

  void PackKeys(int64_t j, int64_t key) {
    const Rows<T> k = RowsOf<T>(p_.inputs.k, sequence_, key, t_.keys);
    PackPlain(k, Packed(Of(k_, j)), t_.width);
    PackTransposed(k, Packed(Of(k_transposed_, j)), t_.keys);
    PackPlain(RowsOf<T>(p_.inputs.v, sequence_, key, t_.keys),
              Packed(Of(v_, j)), t_.width);
  }

  void PackQueries(int64_t query) {
    const Rows<T> q = RowsOf<T>(p_.inputs.q, sequence_, query, t_.rows);
    PackRightTransposed(q, t_.width, Packed(q_transposed_), t_.rows);
    PackRight(q, t_.rows, Packed(q_), t_.width);
    const Rows<T> g = RowsOf<T>(p_.gradient, sequence_, query, t_.rows);
    PackRightTransposed(g, t_.width, Packed(gradient_transposed_), t_.rows);
    PackRight(g, t_.rows, Packed(gradient_), t_.width);
    const int64_t at = sequence_ * s_.seq + query;
    const float* const log_sum_exp =
        p_.result.log_sum_exp.template data_ptr<float>();
    const float* const means = p_.means.template data_ptr<float>();
    for (int64_t r = 0; r < t_.rows; ++r) {
      // Rows without a query get weights of 0.
      log_sum_exp_[r] = r < q.count ? log_sum_exp[at + r] : 1e30F;
      means_[r] = r < q.count ? means[at + r] : 0;
    }
  }

  void AddTile(int64_t j, int64_t key, int64_t i) {
    const int64_t rows = t_.rows, width = t_.width;
    const int64_t keys = std::min(t_.keys, s_.seq - key);
    Multiply(keys, rows, width, Packed(Of(k_, j)), width, Packed(q_transposed_),
             rows, scores_, rows, false);
    if (key == i * rows) HideLaterKeys(keys);
    Multiply(keys, rows, width, Packed(Of(v_, j)), width,
             Packed(gradient_transposed_), rows, score_gradients_, rows, false);
    ComputeGradients({.tile = {scores_, keys, rows, rows, s_.scale},
                      .gradients = score_gradients_,
                      .log_sum_exp = log_sum_exp_,
                      .means = means_},
                     Packed(score_gradient_rows_));
    constexpr bool kIsFloat = std::is_same_v<Operand, float>;
    Multiply(keys, width, rows, Packed(scores_), kIsFloat ? rows : 2 * rows,
             Packed(gradient_), width, Of(v_gradient_, j), width, true);
    Multiply(keys, width, rows,
             Packed(kIsFloat ? score_gradients_ : score_gradient_rows_), rows,
             Packed(q_), width, Of(k_gradient_, j), width, true);
    Multiply(s_.d_head, rows, CpuFlashTiles::RoundUp(keys, kIsFloat ? 1 : 2),
             Packed(Of(k_transposed_, j)), t_.keys, Packed(score_gradients_),
             rows, q_gradient_ + i * width * rows, rows, true);
  }

  // On the diagonal tile, key c comes after queries 0 .. c-1.
  void HideLaterKeys(int64_t keys) {
    for (int64_t c = 1; c < keys; ++c) {
      std::fill_n(scores_ + c * t_.rows, c,
                  -std::numeric_limits<float>::infinity());
    }
  }

  void Finish(int64_t j, int64_t key) {
    const auto write = [&](const float* from, const at::Tensor& to) {
      const Rows<T> rows = RowsOf<T>(to, sequence_, key, t_.keys);
      for (int64_t r = 0; r < rows.count; ++r) {
        T* const row = rows[r];
        for (int64_t k = 0; k < s_.d_head; ++k) {
          row[k] = T(from[r * t_.width + k]);
        }
      }
    };
    write(Of(k_gradient_, j), p_.to.k);
    write(Of(v_gradient_, j), p_.to.v);
  }

  const Pass& p_;
  const FlashShape& s_;
  const CpuFlashTiles& t_;
  int64_t sequence_ = 0;
  float* q_gradient_ = nullptr;
  float *k_, *k_transposed_, *v_, *k_gradient_, *v_gradient_;
  float *q_, *q_transposed_, *gradient_, *gradient_transposed_;
  float *log_sum_exp_, *means_, *scores_, *score_gradients_,
      *score_gradient_rows_;
};

// For each query, the mean of the weights' gradients, weighted by the weights
// (Dao 2023, algorithm 2, line 4).
template <typename T>
void ComputeMeans(const Pass& pass) {
  const FlashShape& s = pass.shape;
  float* const means = pass.means.data_ptr<float>();
  const int64_t rows = s.sequences() * s.seq;
  ForRows(rows, s.d_head, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Rows<T> a = RowsOf<T>(pass.result.output, r / s.seq, r % s.seq, 1);
      const Rows<T> b = RowsOf<T>(pass.gradient, r / s.seq, r % s.seq, 1);
      float sum = 0;
      for (int64_t k = 0; k < s.d_head; ++k) {
        sum += static_cast<float>(a.data[k]) * static_cast<float>(b.data[k]);
      }
      means[r] = sum;
    }
  });
}

// Sums the contributions of the key parts to q's gradient, in fixed order.
template <typename T>
void SumQueryGradients(const Pass& pass) {
  const FlashShape& s = pass.shape;
  const CpuFlashTiles& t = s.tiles;
  const int64_t tiles = s.sequences() * t.tiles;
  ForRows(tiles, t.rows * t.width, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t sequence = tile / t.tiles, i = tile % t.tiles;
      const Rows<T> to = RowsOf<T>(pass.to.q, sequence, i * t.rows, t.rows);
      const float* const first =
          pass.q_gradients.data_ptr<float>() +
          (sequence * pass.splits * t.tiles + i) * t.width * t.rows;
      for (int64_t r = 0; r < to.count; ++r) {
        for (int64_t k = 0; k < s.d_head; ++k) {
          float sum = 0;
          for (int64_t split = 0; split < pass.splits; ++split) {
            sum += first[split * t.QueryGradientFloats() + k * t.rows + r];
          }
          to[r][k] = T(sum);
        }
      }
    }
  });
}

}  // namespace

FlashGradients CpuFlashBackward(const FlashInputs& inputs,
                                const FlashResult& result,
                                const at::Tensor& gradient) {
  const FlashShape s(inputs.q);
  const int64_t threads = at::get_num_threads();
  const int64_t splits = s.tiles.Splits(s.sequences(), threads);
  const Pass pass = {
      .inputs = inputs,
      .result = result,
      .gradient = gradient,
      .shape = s,
      .splits = splits,
      .means = at::empty({s.sequences(), s.seq}, at::kFloat),
      .q_gradients = at::empty(
          {s.sequences(), splits, s.tiles.QueryGradientFloats()}, at::kFloat),
      .to = FlashGradients::EmptyFor(inputs)};
  const at::Tensor scratch =
      at::empty({threads, s.tiles.BackwardFloats()}, at::kFloat);
  WithTypes(inputs.q.scalar_type(), [&](auto t, auto operand) {
    using T = decltype(t);
    ComputeMeans<T>(pass);
    ForEachItem(
        s.sequences() * splits, threads, [&](int64_t item, int64_t slot) {
          KeyGroups<T, decltype(operand)> work(
              pass, scratch.data_ptr<float>() + slot * scratch.stride(0));
          work.Compute(item / splits, item % splits);
        });
    SumQueryGradients<T>(pass);
  });
  return pass.to;
}

}  // namespace trainbench

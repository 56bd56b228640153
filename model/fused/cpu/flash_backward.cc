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
#include "model/fused/cpu/flash_tiles.h"
#include "model/fused/cpu/launchers.h"
#include "model/fused/cpu/parallel.h"

namespace trainbench {
namespace {

// Shared state of a backward pass.
struct Pass {
  const kernels::FlashBackwardArgs& args;
  const CpuFlashTiles& tiles;
  int64_t splits;
  float* q_gradients;  // [batch heads, splits, tiles, width, rows]
};

// A part of a sequence's keys, processed in groups of tiles.
template <typename T, typename Operand>
class KeyGroups {
 public:
  KeyGroups(const Pass& pass, float* scratch)
      : p_(pass), a_(pass.args), s_(pass.args.shape), t_(pass.tiles) {
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
    q_gradient_ = p_.q_gradients +
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
    const auto k = RowsOf<const T>(a_.k, s_, sequence_, key, t_.keys);
    PackPlain(k, Packed(Of(k_, j)), t_.width);
    PackTransposed(k, Packed(Of(k_transposed_, j)), t_.keys);
    const auto v = RowsOf<const T>(a_.v, s_, sequence_, key, t_.keys);
    PackPlain(v, Packed(Of(v_, j)), t_.width);
  }

  void PackQueries(int64_t query) {
    const auto q = RowsOf<const T>(a_.q, s_, sequence_, query, t_.rows);
    PackRightTransposed(q, t_.width, Packed(q_transposed_), t_.rows);
    PackRight(q, t_.rows, Packed(q_), t_.width);
    const auto g = RowsOf<const T>(a_.grad_o, s_, sequence_, query, t_.rows);
    PackRightTransposed(g, t_.width, Packed(gradient_transposed_), t_.rows);
    PackRight(g, t_.rows, Packed(gradient_), t_.width);
    const int64_t at = sequence_ * s_.seq + query;
    for (int64_t r = 0; r < t_.rows; ++r) {
      // Rows without a query get weights of 0.
      log_sum_exp_[r] = r < q.count ? a_.log_sum[at + r] : 1e30F;
      means_[r] = r < q.count ? a_.delta[at + r] : 0;
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
    const auto write = [&](const float* from, const kernels::HeadOutput& to) {
      const auto rows = RowsOf<T>(to, s_, sequence_, key, t_.keys);
      for (int64_t r = 0; r < rows.count; ++r) {
        T* const row = rows[r];
        for (int64_t k = 0; k < s_.d_head; ++k) {
          row[k] = T(from[r * t_.width + k]);
        }
      }
    };
    write(Of(k_gradient_, j), a_.grad_k);
    write(Of(v_gradient_, j), a_.grad_v);
  }

  const Pass& p_;
  const kernels::FlashBackwardArgs& a_;
  const kernels::FlashShape& s_;
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
void ComputeMeans(const kernels::FlashBackwardArgs& args) {
  const kernels::FlashShape& s = args.shape;
  const int64_t rows = Sequences(s) * s.seq;
  ForRows(rows, s.d_head, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t sequence = r / s.seq, query = r % s.seq;
      const auto o = RowsOf<const T>(args.o, s, sequence, query, 1);
      const auto g = RowsOf<const T>(args.grad_o, s, sequence, query, 1);
      float sum = 0;
      for (int64_t k = 0; k < s.d_head; ++k) {
        sum += static_cast<float>(o.data[k]) * static_cast<float>(g.data[k]);
      }
      args.delta[r] = sum;
    }
  });
}

// Sums the contributions of the key parts to q's gradient, in fixed order.
template <typename T>
void SumQueryGradients(const Pass& pass) {
  const kernels::FlashShape& s = pass.args.shape;
  const CpuFlashTiles& t = pass.tiles;
  const int64_t tiles = Sequences(s) * t.tiles;
  ForRows(tiles, t.rows * t.width, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t sequence = tile / t.tiles, i = tile % t.tiles;
      const auto to =
          RowsOf<T>(pass.args.grad_q, s, sequence, i * t.rows, t.rows);
      const float* const first =
          pass.q_gradients +
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

void LaunchOnCpu(const kernels::FlashBackwardArgs& args) {
  const CpuFlashTiles t(args.shape.seq, args.shape.d_head);
  const int64_t sequences = Sequences(args.shape);
  const int64_t threads = at::get_num_threads();
  const int64_t splits = t.Splits(sequences, threads);
  const at::Tensor q_gradients =
      at::empty({sequences, splits, t.QueryGradientFloats()}, at::kFloat);
  const at::Tensor scratch =
      at::empty({threads, t.BackwardFloats()}, at::kFloat);
  const Pass pass = {.args = args,
                     .tiles = t,
                     .splits = splits,
                     .q_gradients = q_gradients.data_ptr<float>()};
  WithTypes(args.shape.dtype, [&](auto element, auto operand) {
    using T = decltype(element);
    ComputeMeans<T>(args);
    ForEachItem(sequences * splits, threads, [&](int64_t item, int64_t slot) {
      KeyGroups<T, decltype(operand)> work(
          pass, scratch.data_ptr<float>() + slot * scratch.stride(0));
      work.Compute(item / splits, item % splits);
    });
    SumQueryGradients<T>(pass);
  });
}

}  // namespace trainbench

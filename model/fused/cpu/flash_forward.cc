// SPDX-License-Identifier: MIT
// All tiles are transposed, one column per query: Q^T, the scores K Q^T, and
// the output V^T P^T. So q is packed once, k and v are left operands, and
// softmax works on whole vectors of queries.

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/fused/cpu/flash_common.h"
#include "model/fused/cpu/flash_scores.h"
#include "model/fused/cpu/flash_tiles.h"
#include "model/fused/cpu/launchers.h"

namespace trainbench {
namespace {

// A group of query tiles of one sequence that share the packed keys.
template <typename T, typename Operand>
class QueryGroup {
 public:
  QueryGroup(const kernels::FlashForwardArgs& args, const CpuFlashTiles& tiles,
             float* scratch)
      : a_(args), s_(args.shape), t_(tiles) {
    const int64_t group = std::min(CpuFlashTiles::kForwardGroup, t_.tiles);
    const auto take = [&](int64_t floats) {
      return std::exchange(scratch, scratch + floats);
    };
    q_ = take(group * t_.rows * t_.width);
    output_ = take(group * t_.rows * t_.width);
    maxima_ = take(group * t_.rows);
    sums_ = take(group * t_.rows);
    k_ = take(t_.keys * t_.width);
    v_ = take(t_.keys * t_.width);
    scores_ = take(t_.keys * t_.rows);
    factors_ = take(t_.rows);
  }

  void Compute(int64_t sequence, int64_t first_tile, int64_t tile_count) {
    sequence_ = sequence;
    first_ = first_tile * t_.rows;
    count_ = tile_count;
    for (int64_t i = 0; i < count_; ++i) Begin(i);
    const int64_t seen = std::min(s_.seq, first_ + count_ * t_.rows);
    for (int64_t key = 0; key < seen; key += t_.keys) {
      PackKeys(key);
      for (int64_t i = 0; i < count_; ++i) AddKeys(i, key);
    }
    for (int64_t i = 0; i < count_; ++i) Finish(i);
  }

 private:
  int64_t FirstOf(int64_t i) const { return first_ + i * t_.rows; }
  // A tile's part of a buffer with `floats` floats per query.
  float* Of(float* buffer, int64_t i, int64_t floats) const {
    return buffer + i * t_.rows * floats;
  }
  Operand* Packed(float* buffer) const {
    return reinterpret_cast<Operand*>(buffer);
  }
  int64_t Queries(int64_t i) const {
    return CpuFlashTiles::RoundUp(std::min(t_.rows, s_.seq - FirstOf(i)),
                                  CpuFlashTiles::kLanes);
  }

  void Begin(int64_t i) {
    const auto q = RowsOf<const T>(a_.q, s_, sequence_, FirstOf(i), t_.rows);
    PackRightTransposed(q, t_.width, Packed(Of(q_, i, t_.width)), t_.rows);
    std::fill_n(Of(output_, i, t_.width), t_.rows * t_.width, 0.0F);
    std::fill_n(Of(maxima_, i, 1), t_.rows,
                -std::numeric_limits<float>::infinity());
    std::fill_n(Of(sums_, i, 1), t_.rows, 0.0F);
  }

  void PackKeys(int64_t key) {
    const auto k = RowsOf<const T>(a_.k, s_, sequence_, key, t_.keys);
    PackPlain(k, Packed(k_), t_.width);
    const auto v = RowsOf<const T>(a_.v, s_, sequence_, key, t_.keys);
    PackTransposed(v, Packed(v_), t_.keys);
  }

  void AddKeys(int64_t i, int64_t key) {
    const int64_t query = FirstOf(i), queries = Queries(i);
    const int64_t keys =
        std::min({t_.keys, s_.seq - key, query + t_.rows - key});
    if (keys <= 0) return;
    Multiply(keys, queries, t_.width, Packed(k_), t_.width,
             Packed(Of(q_, i, t_.width)), t_.rows, scores_, t_.rows, false);
    HideLaterKeys(key, keys, query, queries);
    const ScoreTile tile = {scores_, keys, queries, t_.rows, s_.scale};
    float* const output = Of(output_, i, t_.width);
    if (UpdateSoftmax<Operand>(tile, Of(maxima_, i, 1), Of(sums_, i, 1),
                               factors_)) {
      ScaleColumns(output, s_.d_head, queries, t_.rows, factors_);
    }
    // In bf16 an odd last key is paired with a row of zeros.
    constexpr int64_t kPair = std::is_same_v<Operand, float> ? 1 : 2;
    Multiply(s_.d_head, queries, CpuFlashTiles::RoundUp(keys, kPair),
             Packed(v_), t_.keys, Packed(scores_), t_.rows, output, t_.rows,
             true);
  }

  void HideLaterKeys(int64_t key, int64_t keys, int64_t query,
                     int64_t queries) {
    for (int64_t c = std::max<int64_t>(0, query + 1 - key); c < keys; ++c) {
      std::fill_n(scores_ + c * t_.rows, std::min(queries, key + c - query),
                  -std::numeric_limits<float>::infinity());
    }
  }

  void Finish(int64_t i) {
    const auto to = RowsOf<T>(a_.o, s_, sequence_, FirstOf(i), t_.rows);
    float* const log_sum = a_.log_sum + sequence_ * s_.seq + FirstOf(i);
    const float* const output = Of(output_, i, t_.width);
    for (int64_t r = 0; r < to.count; ++r) {
      const float sum = Of(sums_, i, 1)[r], factor = 1 / sum;
      T* const row = to[r];
      for (int64_t k = 0; k < s_.d_head; ++k) {
        row[k] = T(output[k * t_.rows + r] * factor);
      }
      log_sum[r] = Of(maxima_, i, 1)[r] + std::log(sum);
    }
  }

  const kernels::FlashForwardArgs& a_;
  const kernels::FlashShape& s_;
  const CpuFlashTiles& t_;
  int64_t sequence_ = 0, first_ = 0, count_ = 0;
  float *q_, *output_, *maxima_, *sums_, *k_, *v_, *scores_, *factors_;
};

}  // namespace

void LaunchOnCpu(const kernels::FlashForwardArgs& args) {
  const CpuFlashTiles t(args.shape.seq, args.shape.d_head);
  const int64_t sequences = Sequences(args.shape);
  const int64_t threads = at::get_num_threads();
  // Larger groups pack keys less often, smaller ones keep more threads busy.
  int64_t group = std::min(CpuFlashTiles::kForwardGroup, t.tiles);
  const auto groups = [&] { return (t.tiles + group - 1) / group; };
  while (group > 1 && sequences * groups() < 4 * threads) --group;
  const at::Tensor scratch =
      at::empty({threads, t.ForwardFloats()}, at::kFloat);
  WithTypes(args.shape.dtype, [&](auto element, auto operand) {
    ForEachItem(sequences * groups(), threads, [&](int64_t item, int64_t slot) {
      QueryGroup<decltype(element), decltype(operand)> work(
          args, t, scratch.data_ptr<float>() + slot * scratch.stride(0));
      // The last groups have the most keys, so they start first.
      const int64_t first = (groups() - 1 - item / sequences) * group;
      work.Compute(item % sequences, first, std::min(group, t.tiles - first));
    });
  });
}

}  // namespace trainbench

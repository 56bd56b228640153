// SPDX-License-Identifier: MIT
// LibTorch's fused attention. q, k and v are [batch, heads, seq, d_head].

#include <ATen/ATen.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/dry_run/operators.h"

namespace trainbench::dry {
namespace {

using at::Tensor;
using torch::jit::Stack;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return CeilDiv(value, multiple) * multiple;
}

// Products of [seq, d_head] and [d_head, seq], including masked parts. The
// forward pass has two, the backward pass five; one of these recomputes a
// product of the forward pass.
KernelWork Multiply(const Tensor& q, const Tensor& k, int products,
                    int64_t scratch_bytes = 0) {
  // Each CPU thread multiplies for one head.
  const int64_t heads =
      std::min<int64_t>(q.size(0) * q.size(1), at::get_num_threads());
  return {
      .flops = 2.0 * products * static_cast<double>(q.numel()) *
               static_cast<double>(k.size(-2)),
      .scratch_bytes = scratch_bytes,
      .in_bf16 = q.scalar_type() == at::kBFloat16,
      .result_elements = heads * q.size(2) * std::max(k.size(2), q.size(3))};
}

Tensor Floats(const Tensor& q, at::IntArrayRef sizes) {
  return at::empty(sizes, q.options().dtype(at::kFloat));
}

// A tensor like q with adjacent heads in memory, as in a layer's output.
Tensor HeadsLast(const Tensor& q) {
  return at::empty({q.size(0), q.size(2), q.size(1), q.size(3)}, q.options())
      .transpose(1, 2);
}

// Scratch of the CPU threads, in fp32 and, for 16-bit inputs, also a 16-bit
// copy of the tiles (aten/src/ATen/native/cpu/FlashAttentionKernel.cpp).
struct CpuTiles {
  CpuTiles(const Tensor& q, const Tensor& k)
      : heads(q.size(0) * q.size(1)),
        queries(q.size(2)),
        keys(k.size(2)),
        rows(std::min<int64_t>(q.size(2), q.size(2) >= 768   ? 256
                                          : q.size(2) >= 192 ? 64
                                                             : 32)),
        columns(std::min<int64_t>(512, keys)),
        tile(rows * columns),
        width(q.size(3)),
        narrow(q.element_size() < 4 ? q.element_size() : 0),
        packs(at::native::cpublas::could_pack(q.scalar_type()) &&
              std::min(queries, keys) >= 64 &&
              RowsPerThread() * std::min(queries, keys) >= 4 * heads * keys) {}

  int64_t ForwardBytes() const {
    return at::get_num_threads() *
               (4 * (tile + rows * (2 + width)) + narrow * tile) +
           (packs ? narrow * PackedElements() : 0);
  }
  int64_t RowsPerThread() const {
    return rows *
           CeilDiv(heads * CeilDiv(queries, rows), at::get_num_threads());
  }
  // For a CPU that multiplies tiles (AMX) the kernel packs keys and values,
  // with heads and keys padded to even numbers.
  int64_t PackedElements() const {
    const auto even = [](int64_t n) { return n + n % 2; };
    const int64_t last = (keys - 1) % columns + 1;
    const int64_t padded = keys - last + even(last);
    const int64_t odd_queries = width % 2 * rows * even(width);
    return heads * (keys * even(width) + padded * width) +
           at::get_num_threads() * (columns * width + odd_queries +
                                    rows * (even(columns) - columns));
  }
  // The row sums are visible only on the calling thread.
  int64_t BackwardBytes() const {
    return at::get_num_threads() * (4 + narrow) * 2 * tile + 4 * rows;
  }

  int64_t heads, queries, keys, rows, columns, tile, width, narrow;
  bool packs;  // 16-bit products
};

KernelWork CpuFlash(Stack& s) {
  const Tensor q = s[0].toTensor(), k = s[1].toTensor();
  const Tensor sums =
      at::empty({q.size(0), q.size(2), q.size(1)},
                q.options().dtype(at::toOpMathType(q.scalar_type())))
          .transpose(1, 2);
  return Return(s, Multiply(q, k, 2, CpuTiles(q, k).ForwardBytes()),
                at::empty_like(q), sums);
}

KernelWork CpuFlashBackward(Stack& s) {  // grad_out, q, k, v, ...
  const Tensor q = s[1].toTensor(), k = s[2].toTensor(), v = s[3].toTensor();
  return Return(s, Multiply(q, k, 5, CpuTiles(q, k).BackwardBytes()),
                HeadsLast(q), HeadsLast(k), HeadsLast(v));
}

// The number of parts into which flash attention splits its keys to fill a GPU
// when there are few rows (num_splits_heuristic in aten/src/ATen/native/
// transformers/cuda/flash_attn/flash_api.cpp).
int64_t FlashSplits(const Tensor& q, int64_t key_tiles) {
  const auto tiles =
      static_cast<double>(q.size(0) * q.size(1) * CeilDiv(q.size(2), 64));
  const int64_t places = 2 * SizeOfGpu().multiprocessors;
  if (tiles >= 0.8 * static_cast<double>(places)) return 1;
  const int64_t most = std::min<int64_t>({128, places, key_tiles});
  const auto efficiency = [&](int64_t splits) {
    // 0 if one part less has an equally long longest part.
    if (splits > 1 &&
        CeilDiv(key_tiles, splits) == CeilDiv(key_tiles, splits - 1)) {
      return 0.0;
    }
    const double waves =
        tiles * static_cast<double>(splits) / static_cast<double>(places);
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (int64_t splits = 1; splits <= most; ++splits) {
    best = std::max(best, efficiency(splits));
  }
  int64_t splits = 1;
  while (splits < most && efficiency(splits) < 0.85 * best) ++splits;
  return splits;
}

// Bytes of the parts: each has its own output and row sums.
int64_t GpuFlashParts(const Tensor& q, const Tensor& k) {
  const int64_t width = q.size(3);
  const int64_t keys = width <= 64 ? 256 : width <= 128 ? 128 : 64;
  const int64_t splits = FlashSplits(q, CeilDiv(k.size(2), keys));
  const int64_t columns = RoundUp(width, width <= 128 ? 32 : 64) + 1;
  return splits == 1 ? 0 : 4 * splits * q.numel() / width * columns;
}

// Row sums and, for 16-bit inputs or if `always`, an fp32 gradient of q, padded
// to whole tiles.
int64_t GpuBackwardBytes(const Tensor& q, int64_t rows, int64_t columns,
                         bool always) {
  const int64_t heads = q.size(0) * q.size(1), seq = q.size(2);
  const int64_t gradient =
      heads * RoundUp(seq, rows) * RoundUp(q.size(3), columns);
  return 4 * (heads * seq + (always || q.element_size() < 4 ? gradient : 0));
}

KernelWork GpuFlash(Stack& s) {
  const Tensor q = s[0].toTensor(), k = s[1].toTensor();
  const Tensor sums = Floats(q, {q.size(0), q.size(1), q.size(2)});
  const Tensor state = at::empty({2}, q.options().dtype(at::kUInt64));
  const Tensor none = at::empty({}, state.options());
  return Return(s, Multiply(q, k, 2, GpuFlashParts(q, k)), at::empty_like(q),
                sums, Tensor(), Tensor(), q.size(2), k.size(2), state, none,
                Tensor());
}

// Flash attention copies a gradient, or an output, with its heads apart.
int64_t CopiedBytes(const Tensor& x) {
  return x.transpose(1, 2).is_contiguous() ? 0
                                           : static_cast<int64_t>(x.nbytes());
}

KernelWork BackwardLikeInputs(Stack& s, int64_t copied_bytes) {
  const Tensor q = s[1].toTensor(), k = s[2].toTensor(), v = s[3].toTensor();
  const int64_t columns = q.size(3) <= 128 ? 32 : 64;
  const int64_t scratch =
      copied_bytes + GpuBackwardBytes(q, 128, columns, false);
  return Return(s, Multiply(q, k, 5, scratch), at::empty_like(q),
                at::empty_like(k), at::empty_like(v));
}

KernelWork GpuFlashBackward(Stack& s) {  // grad_out, q, k, v, out, ...
  return BackwardLikeInputs(
      s, CopiedBytes(s[0].toTensor()) + CopiedBytes(s[4].toTensor()));
}

KernelWork GpuCudnnBackward(Stack& s) { return BackwardLikeInputs(s, 0); }

KernelWork GpuCudnn(Stack& s) {
  const Tensor q = s[0].toTensor(), k = s[1].toTensor();
  const bool with_sums = s[4].toBool();
  const Tensor sums =
      with_sums ? Floats(q, {q.size(0), q.size(1), q.size(2), 1}) : Tensor();
  const Tensor seed = at::empty({}, q.options().dtype(at::kLong));
  const Tensor offset = at::empty({}, seed.options());
  return Return(s, Multiply(q, k, 2), at::empty_like(q), sums, Tensor(),
                Tensor(), q.size(2), k.size(2), seed, offset, Tensor());
}

KernelWork GpuEfficient(Stack& s) {
  const Tensor q = s[0].toTensor(), k = s[1].toTensor();
  const int64_t rows = s[4].toBool() ? RoundUp(q.size(2), 32) : 0;
  const Tensor sums = Floats(q, {q.size(0), q.size(1), rows});
  return Return(s, Multiply(q, k, 2), HeadsLast(q), sums, Tensor(), Tensor());
}

KernelWork GpuEfficientBackward(Stack& s) {
  const Tensor q = s[1].toTensor(), k = s[2].toTensor(), v = s[3].toTensor();
  const int64_t tile = q.size(3) <= 64 ? 64 : 128;
  const int64_t columns = q.size(3) <= 128 ? tile : 64;
  int64_t scratch = GpuBackwardBytes(q, tile, columns, true);
  if (q.size(3) > 128) {  // wide heads also need locks for the tiles of q
    const int64_t heads = q.size(0) * q.size(1);
    scratch +=
        16 * heads * CeilDiv(q.size(2), tile) * CeilDiv(q.size(3), columns);
    if (q.element_size() < 4) {  // and fp32 gradients of k and v
      scratch +=
          2 * 4 * heads * RoundUp(k.size(2), 128) * RoundUp(q.size(3), 128);
    }
  }
  return Return(s, Multiply(q, k, 5, scratch), HeadsLast(q), HeadsLast(k),
                HeadsLast(v), Tensor());
}

using Kernels = std::unordered_map<std::string, Kernel>;

}  // namespace

Kernel FindAttentionKernel(const c10::OperatorName& name, c10::Device device) {
  static const Kernels of_cpu = {
      {"flash_attention_for_cpu", CpuFlash},
      {"flash_attention_for_cpu_backward", CpuFlashBackward}};
  static const Kernels of_gpu = {
      {"flash_attention", GpuFlash},
      {"flash_attention_backward", GpuFlashBackward},
      {"cudnn_attention", GpuCudnn},
      {"cudnn_attention_backward", GpuCudnnBackward},
      {"efficient_attention", GpuEfficient},
      {"efficient_attention_backward", GpuEfficientBackward}};
  constexpr std::string_view prefix = "aten::_scaled_dot_product_";
  if (!name.overload_name.empty() || !name.name.starts_with(prefix)) {
    return nullptr;
  }
  const Kernels& all = device.is_cuda() ? of_gpu : of_cpu;
  const auto found = all.find(name.name.substr(prefix.size()));
  return found == all.end() ? nullptr : found->second;
}

}  // namespace trainbench::dry

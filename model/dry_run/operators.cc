// SPDX-License-Identifier: MIT

#include "model/dry_run/operators.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/algorithm/container.h"
#include "model/dry_run/dry_run.h"
#ifdef TRAINBENCH_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

namespace trainbench::dry {
namespace {

using at::Tensor;
using torch::jit::Stack;

KernelWork ReadValue(Stack& s) {
  const at::ScalarType type = s[0].toTensor().scalar_type();
  TORCH_CHECK(DryReads::AreAllowed(),
              "a dry run has no values, and item() reads one of a ", type,
              " tensor");
  const auto value = type == at::kBool ? at::Scalar(true) : at::Scalar(0);
  return Return(s, {}, value);
}

KernelWork Equal(Stack& s) {
  TORCH_CHECK(DryReads::AreAllowed(),
              "a dry run has no values, and equal() compares them");
  return Return(s, {}, true);
}

KernelWork IndexSelect(Stack& s) {
  const Tensor x = s[0].toTensor();
  std::vector<int64_t> sizes = x.sizes().vec();
  if (!sizes.empty()) {
    const int64_t along = at::maybe_wrap_dim(s[1].toInt(), x.dim());
    sizes[static_cast<std::size_t>(along)] = s[2].toTensor().numel();
  }
  return Return(s, {}, at::empty(sizes, x.options()));
}

// A GPU sorts many tokens, splits each word's into parts of ten, and sums the
// parts in fp32 (aten/src/ATen/native/cuda/EmbeddingBackwardKernel.cu).
int64_t SortedTokensBytes(int64_t tokens, int64_t words, int64_t d_model) {
  constexpr int64_t kFew = 3072, kPart = 10, kIndex = 8;
  if (tokens <= kFew) return 0;
  const int64_t segments = std::min(tokens, words);
  const int64_t parts = tokens / kPart + segments;
  return 4 * parts * d_model + kIndex * (3 * tokens + 2 * segments + parts + 2);
}

KernelWork EmbeddingBackward(Stack& s) {
  const Tensor gradient = s[0].toTensor();
  return Return(
      s, {}, at::empty({s[2].toInt(), gradient.size(-1)}, gradient.options()));
}

KernelWork GpuEmbeddingBackward(Stack& s) {
  const int64_t scratch = SortedTokensBytes(
      s[1].toTensor().numel(), s[2].toInt(), s[0].toTensor().size(-1));
  KernelWork work = EmbeddingBackward(s);
  work.scratch_bytes = scratch;
  return work;
}

KernelWork FusedRmsNorm(Stack& s) {
  const Tensor x = s[0].toTensor();
  std::vector<int64_t> rows = x.sizes().vec();
  rows.back() = 1;
  const Tensor inverse_rms = at::empty(rows, x.options().dtype(at::kFloat));
  return Return(s, {}, at::empty_like(x), inverse_rms);
}

KernelWork FusedRmsNormBackward(Stack& s) {
  const Tensor x = s[1].toTensor(), weight = s[4].toTensor();
  return Return(s, {}, at::empty_like(x), at::empty_like(weight));
}

std::vector<int64_t> ReducedDims(const Stack& s) {
  return s[1].isNone() ? std::vector<int64_t>() : s[1].toIntVector();
}

Tensor SumOf(const Stack& s) {
  return at::sum(s[0].toTensor(), ReducedDims(s), s[2].toBool(),
                 s[3].toOptional<at::ScalarType>());
}

// A CPU first converts values to the dtype of the sum.
int64_t ConvertedBytes(const Tensor& x, const Tensor& sum) {
  return sum.scalar_type() == x.scalar_type() ? 0
                                              : x.numel() * sum.element_size();
}

KernelWork CpuSum(Stack& s) {
  const Tensor x = s[0].toTensor(), sum = SumOf(s);
  return Return(s, {.scratch_bytes = ConvertedBytes(x, sum)}, sum);
}

// Knows the scratch memory of sums over the first dimensions of contiguous
// values of at most 4 bytes, which LibTorch adds in fp32.
KernelWork GpuSum(Stack& s) {
  const Tensor x = s[0].toTensor(), sum = SumOf(s);
  const std::vector<int64_t> dims = ReducedDims(s);
  const int64_t rows = x.numel() / std::max<int64_t>(1, sum.numel());
  const auto is_leading = [&](int64_t dim) {
    return at::maybe_wrap_dim(dim, x.dim()) < std::ssize(dims);
  };
  const bool over_rows = x.numel() > 0 && !dims.empty() &&
                         std::ssize(dims) < x.dim() && x.is_contiguous() &&
                         x.element_size() <= 4 &&
                         absl::c_all_of(dims, is_leading);
  const int64_t scratch =
      over_rows ? SumOfRowsBytes(rows, sum.numel(), SizeOfGpu()) : 0;
  return Return(s, {.scratch_bytes = scratch}, sum);
}

// A GPU first multiplies both arguments into scratch memory.
KernelWork GpuSoftmaxBackward(Stack& s) {
  const Tensor gradient = s[0].toTensor();
  const Tensor result =
      at::empty_like(gradient, gradient.options().dtype(s[3].toScalarType()));
  return Return(s, {.scratch_bytes = static_cast<int64_t>(gradient.nbytes())},
                result);
}

KernelWork LayerNormWith(Stack& s, at::ScalarType statistics) {
  const Tensor x = s[0].toTensor();
  std::vector<int64_t> rows = x.sizes().vec();
  const std::size_t normed = s[1].toIntVector().size();
  std::fill(rows.end() - static_cast<std::ptrdiff_t>(normed), rows.end(), 1);
  const Tensor mean = at::empty(rows, x.options().dtype(statistics));
  return Return(s, {}, at::empty_like(x), mean, at::empty_like(mean));
}

KernelWork CpuLayerNorm(Stack& s) {
  return LayerNormWith(s, s[2].toTensor().scalar_type());
}

KernelWork GpuLayerNorm(Stack& s) { return LayerNormWith(s, at::kFloat); }

KernelWork LayerNormBackwardWith(Stack& s, int64_t scratch_bytes) {
  const Tensor x = s[1].toTensor(), weight = s[5].toTensor();
  const bool has_bias = s[7].toBoolList()[2];
  return Return(s, {.scratch_bytes = scratch_bytes}, at::empty_like(x),
                at::empty_like(weight),
                has_bias ? at::empty_like(weight) : Tensor());
}

// Each thread sums both gradients of the weights.
KernelWork CpuLayerNormBackward(Stack& s) {
  const auto gradient = static_cast<int64_t>(s[5].toTensor().nbytes());
  return LayerNormBackwardWith(s, 2 * at::get_num_threads() * gradient);
}

KernelWork GpuLayerNormBackward(Stack& s) {
  return LayerNormBackwardWith(s, 0);
}

// A CPU sums 16-bit values in fp32. It then divides by an int64, which it
// converts to a tensor, and that tensor to fp32.
KernelWork CpuMean(Stack& s) {
  const Tensor x = s[0].toTensor();
  const Tensor mean = at::mean(x, ReducedDims(s), s[2].toBool(),
                               s[3].toOptional<at::ScalarType>());
  int64_t scratch = std::max<int64_t>(ConvertedBytes(x, mean), 8 + 4);
  if (mean.element_size() < 4) scratch = 4 * (x.numel() + mean.numel());
  return Return(s, {.scratch_bytes = scratch}, mean);
}

KernelWork Where(Stack& s) {
  const Tensor a = s[1].toTensor(), b = s[2].toTensor();
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false).declare_static_dtype_and_device(
      at::result_type(a, b), c10::kMeta);
  config.add_owned_output(Tensor());
  for (const Tensor& x : {s[0].toTensor(), a, b}) {
    config.add_owned_const_input(x);
  }
  return Return(s, {}, config.build().output());
}

KernelWork LikeFirst(Stack& s) {
  const Tensor x = s.front().toTensor();
  return Return(s, {}, at::empty_like(x));
}

KernelWork ReturnFirst(Stack& s) {
  const Tensor self = s.front().toTensor();
  return Return(s, {}, self);
}

KernelWork ReturnLast(Stack& s) {
  const Tensor out = s.back().toTensor();
  return Return(s, {}, out);
}

KernelWork ResizeLast(Stack& s) {
  const Tensor first = s.front().toTensor(), out = s.back().toTensor();
  return Return(s, {}, out.resize_(first.sizes()));
}

KernelWork OneValue(Stack& s) {
  const Tensor x = s[0].toTensor();
  return Return(s, {}, at::empty({}, x.options()));
}

KernelWork ReturnNothing(Stack& s) { return Return(s, {}); }

}  // namespace

Kernel FindKernel(const c10::OperatorName& name, c10::Device device) {
  using Kernels = std::unordered_map<c10::OperatorName, Kernel>;
  static const Kernels all = {
      {{"aten::_local_scalar_dense", ""}, ReadValue},
      {{"aten::abs", "out"}, ResizeLast},
      {{"aten::copy_", ""}, ReturnFirst},
      {{"aten::dot", ""}, OneValue},
      {{"aten::equal", ""}, Equal},
      {{"aten::_fused_adamw_", ""}, ReturnNothing},
      {{"aten::_fused_rms_norm", ""}, FusedRmsNorm},
      {{"aten::_fused_rms_norm_backward", ""}, FusedRmsNormBackward},
      {{"aten::index_select", ""}, IndexSelect},
      {{"aten::max", ""}, OneValue},
      {{"aten::min", ""}, OneValue},
      {{"aten::polar", "out"}, ResizeLast},
      {{"aten::relu", ""}, LikeFirst},
      {{"aten::where", "self"}, Where},
      {{"aten::where", "self_out"}, ReturnLast},
  };
  static const Kernels of_cpu = {
      {{"aten::embedding_dense_backward", ""}, EmbeddingBackward},
      {{"aten::mean", "dim"}, CpuMean},
      {{"aten::native_layer_norm", ""}, CpuLayerNorm},
      {{"aten::native_layer_norm_backward", ""}, CpuLayerNormBackward},
      {{"aten::sum", "dim_IntList"}, CpuSum},
  };
  static const Kernels of_gpu = {
      {{"aten::embedding_dense_backward", ""}, GpuEmbeddingBackward},
      {{"aten::native_layer_norm", ""}, GpuLayerNorm},
      {{"aten::native_layer_norm_backward", ""}, GpuLayerNormBackward},
      {{"aten::_softmax_backward_data", ""}, GpuSoftmaxBackward},
      {{"aten::sum", "dim_IntList"}, GpuSum},
  };
  for (const Kernels* kernels : {&all, device.is_cuda() ? &of_gpu : &of_cpu}) {
    const auto found = kernels->find(name);
    if (found != kernels->end()) return found->second;
  }
  return FindAttentionKernel(name, device);
}

int64_t SumOfRowsBytes(int64_t rows, int64_t columns, const GpuSize& gpu) {
  constexpr int64_t kThreads = 512, kWarp = 32, kFew = 16, kMany = 256;
  const int64_t vector = columns % 4 == 0 ? 4 : columns % 2 == 0 ? 2 : 1;
  const int64_t vectors = columns / vector, threads = kThreads / vector;
  const auto power = [&](int64_t n) {
    const auto below = std::bit_floor(static_cast<uint64_t>(n));
    return std::min(threads, static_cast<int64_t>(below));
  };
  const int64_t height =
      std::min(power(rows), threads / std::min(power(vectors), kWarp));
  const int64_t width = std::min(power(vectors), threads / height);
  const int64_t values = CeilDiv(rows, height);  // of a thread
  const int64_t grid = CeilDiv(vectors, width);
  const int64_t places = gpu.multiprocessors * (gpu.threads / (width * height));
  if (values < kMany || grid > places) return 0;
  const int64_t blocks =
      std::max(std::min(CeilDiv(places, grid), CeilDiv(values, kFew)),
               CeilDiv(values, kMany));
  if (blocks == 1) return 0;
  return 4 * (columns * blocks * width * vector + grid);
}

GpuSize SizeOfGpu() {
#ifdef TRAINBENCH_CUDA
  const cudaDeviceProp& gpu = *at::cuda::getCurrentDeviceProperties();
  return {gpu.multiProcessorCount, gpu.maxThreadsPerMultiProcessor};
#else
  return {};
#endif
}

KernelWork ProductOf(const c10::OperatorHandle& op, const Stack& stack) {
  static const std::unordered_map<std::string, std::size_t> left_operand = {
      {"aten::mm", 0},     {"aten::bmm", 0},     {"aten::addmm", 1},
      {"aten::addmm_", 1}, {"aten::baddbmm", 1}, {"aten::baddbmm_", 1}};
  const auto found = left_operand.find(op.schema().name());
  if (found == left_operand.end()) return {};
  const std::size_t first = stack.size() - op.schema().arguments().size();
  const Tensor a = stack[first + found->second].toTensor();
  const Tensor b = stack[first + found->second + 1].toTensor();
  const int64_t columns = b.size(-1);
  const int64_t matrices =
      a.dim() < 3 ? 1 : std::min<int64_t>(a.size(0), at::get_num_threads());
  return {.flops = 2.0 * static_cast<double>(a.numel()) *
                   static_cast<double>(columns),
          .in_bf16 = a.scalar_type() == at::kBFloat16,
          .result_elements = matrices * a.size(-2) * columns};
}

}  // namespace trainbench::dry

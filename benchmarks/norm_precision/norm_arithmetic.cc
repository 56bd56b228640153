// SPDX-License-Identifier: MIT

#include "benchmarks/norm_precision/norm_arithmetic.h"

#include <torch/types.h>

#include "absl/strings/str_format.h"
#include "model/nn/dtype.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

constexpr double kEps = 1e-5;

// The largest relative error of one rounding.
double UnitRoundoff(c10::ScalarType dtype) {
  return dtype == c10::kHalf       ? 0x1p-11
         : dtype == c10::kBFloat16 ? 0x1p-8
                                   : 0x1p-24;
}

}  // namespace

at::Tensor NormalInput(int64_t rows, int64_t dim, double magnitude,
                       c10::ScalarType dtype, c10::Device device) {
  return (magnitude * at::randn({rows, dim}, at::device(device))).to(dtype);
}

NormResult Normalize(NormKind kind, const at::Tensor& x,
                     c10::ScalarType compute_dtype) {
  at::Tensor v = x.to(compute_dtype);
  if (kind == NormKind::kLayerNorm) v = v - v.mean(-1, /*keepdim=*/true);
  const at::Tensor mean_square = v.square().mean(-1, /*keepdim=*/true);
  const at::Tensor scale = (mean_square + kEps).rsqrt();
  return {(v * scale).to(x.scalar_type()), mean_square};
}

NormResult SimulateNorm(NormKind kind, const at::Tensor& x,
                        c10::ScalarType compute_dtype) {
  const auto rounded = [compute_dtype](const at::Tensor& exact) {
    return exact.to(compute_dtype).to(at::kDouble);
  };
  const auto mean = [&](const at::Tensor& t) {
    return rounded(t.sum(-1, /*keepdim=*/true) /
                   static_cast<double>(t.size(-1)));
  };
  at::Tensor v = rounded(x.to(at::kDouble));
  if (kind == NormKind::kLayerNorm) v = rounded(v - mean(v));
  const at::Tensor mean_square = mean(rounded(v * v));
  const at::Tensor scale = rounded(1 / rounded(mean_square + kEps).sqrt());
  return {rounded(v * scale), mean_square};
}

double OverflowedShare(const NormResult& result) {
  return result.mean_square.isinf().to(at::kDouble).mean().item<double>();
}

double NormError(NormKind kind, const at::Tensor& x, const at::Tensor& y) {
  return RelativeError(y, SimulateNorm(kind, x, at::kDouble).y);
}

absl::Status CheckNorm(NormKind kind, const at::Tensor& x,
                       c10::ScalarType compute_dtype,
                       const NormResult& result) {
  const c10::ScalarType dtype = x.scalar_type();
  const bool low = compute_dtype == dtype && compute_dtype != at::kFloat;
  const NormResult expected =
      SimulateNorm(kind, x, low ? compute_dtype : at::kDouble);
  if (!result.mean_square.isinf().equal(expected.mean_square.isinf())) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%d rows overflow in %s, %d should",
                        result.mean_square.isinf().sum().item<int64_t>(),
                        DtypeName(compute_dtype),
                        expected.mean_square.isinf().sum().item<int64_t>()));
  }
  const double error = RelativeError(result.y, expected.y);
  // 16-bit intermediates: LibTorch's fp32 sum may round the mean square of a
  // few rows differently. fp32: several roundings add up.
  const double allowed = UnitRoundoff(dtype) * (low                   ? 0.25
                                                : dtype == at::kFloat ? 8
                                                                      : 1);
  // An input that is not finite explains a wrong result, so it comes first.
  absl::Status status = CheckVaried("the input", x);
  status.Update(CheckError("norm", error, allowed));
  return status;
}

}  // namespace trainbench

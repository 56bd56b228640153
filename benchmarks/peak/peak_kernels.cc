// SPDX-License-Identifier: MIT

#include "benchmarks/peak/peak_kernels.h"

#include <torch/types.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "model/nn/dtype.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

constexpr int64_t kRowsToVerify = 4;

// About kRowsToVerify evenly spaced rows; all rows of a smaller matrix.
at::Tensor SomeRows(const at::Tensor& x) {
  const int64_t stride = std::max<int64_t>(1, x.size(0) / kRowsToVerify);
  return x.slice(0, 0, x.size(0), stride).to(at::kDouble);
}

double Allowed(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 1e-5;
    case Precision::kTf32:
      return 0x1p-10;
    case Precision::kBf16Autocast:
    case Precision::kBf16:
      return 0x1p-7;
  }
  return 0;
}

}  // namespace

MatrixProduct::MatrixProduct(int64_t m, int64_t n, int64_t k,
                             Precision precision, at::Device device)
    : precision_(precision) {
  const at::TensorOptions options =
      at::device(device).dtype(WeightType(precision));
  a_ = at::randn({m, k}, options);
  b_ = at::randn({k, n}, options);
  c_ = at::zeros({m, n}, options);
}

MatrixProduct::MatrixProduct(int64_t m, int64_t n, int64_t k,
                             ProductLibrary library)
    : precision_(Precision::kFp32),
      library_(library),
      a_(at::randn({m, k})),
      b_(at::randn({n, k}).t()),
      c_(at::zeros({m, n})) {}

void MatrixProduct::Multiply() {
  if (library_) {
    MmInto(*library_, a_, b_, c_);
  } else {
    at::mm_out(c_, a_, b_);
  }
}

absl::Status MatrixProduct::Verify() {
  // A result of an earlier call must not pass for this call's.
  c_.fill_(std::numeric_limits<double>::quiet_NaN());
  Multiply();
  absl::Status status = VerifyProduct(a_, b_, c_, precision_);
  for (const at::Tensor& operand : {a_, b_}) {
    if (status.ok()) status = CheckVaried("an operand", operand);
  }
  return status;
}

absl::Status VerifyProduct(const at::Tensor& a, const at::Tensor& b,
                           const at::Tensor& c, Precision precision) {
  const at::Tensor expected = at::mm(SomeRows(a), b.to(at::kDouble));
  return CheckError("product", RelativeError(SomeRows(c), expected),
                    Allowed(precision));
}

absl::Status VerifyEqual(absl::string_view what, const at::Tensor& actual,
                         const at::Tensor& expected) {
  if (actual.equal(expected)) return absl::OkStatus();
  const int64_t wrong = actual.ne(expected).sum().item<int64_t>();
  return absl::DataLossError(absl::StrCat(
      "of ", what, ", ", wrong, " of ", actual.numel(), " numbers are wrong"));
}

OpOverhead::OpOverhead(int ops, const at::TensorOptions& options)
    : ops_(ops), x_(at::zeros({1}, options)) {}

void OpOverhead::Run() {
  for (int i = 0; i < ops_; ++i) x_.add_(1);
}

absl::Status OpOverhead::Verify() {
  x_.zero_();
  Run();
  const auto sum = x_.item<double>();
  if (sum == ops_) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(ops_, " additions of 1 to 0 gave ", sum));
}

}  // namespace trainbench

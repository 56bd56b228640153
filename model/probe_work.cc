// SPDX-License-Identifier: MIT

#include "model/probe_work.h"

#include <torch/types.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainbench {
namespace {

constexpr int64_t kRowsToVerify = 4;

// kRowsToVerify rows, evenly spread; fewer of a smaller matrix.
at::Tensor SomeRows(const at::Tensor& x) {
  const int64_t stride = std::max<int64_t>(1, x.size(0) / kRowsToVerify);
  return x.slice(0, 0, x.size(0), stride).to(at::kDouble);
}

}  // namespace

MatrixProduct::MatrixProduct(int64_t m, int64_t n, int64_t k,
                             const at::TensorOptions& options)
    : a_(at::randn({m, k}, options)),
      b_(at::randn({k, n}, options)),
      c_(at::zeros({m, n}, options)) {}

void MatrixProduct::Multiply() { at::mm_out(c_, a_, b_); }

absl::Status MatrixProduct::Verify() {
  Multiply();
  return VerifyProduct(a_, b_, c_);
}

absl::Status VerifyProduct(const at::Tensor& a, const at::Tensor& b,
                           const at::Tensor& c) {
  const at::Tensor expected = at::mm(SomeRows(a), b.to(at::kDouble));
  const double error =
      ((SomeRows(c) - expected).norm() / expected.norm()).item<double>();
  const double allowed = a.scalar_type() == at::kBFloat16 ? 0x1p-7 : 0x1p-10;
  if (error <= allowed) return absl::OkStatus();  // false for NaN too
  return absl::FailedPreconditionError(
      absl::StrFormat("the product differs from float64 by %.3g relative; "
                      "allowed: %.3g",
                      error, allowed));
}

MemoryCopy::MemoryCopy(int64_t bytes, const at::TensorOptions& options)
    : from_(at::rand({bytes / 4}, options.dtype(at::kFloat))),
      to_(at::zeros_like(from_)) {}

void MemoryCopy::Copy() { to_.copy_(from_); }

absl::Status MemoryCopy::Verify() {
  Copy();
  if (to_.equal(from_)) return absl::OkStatus();
  return absl::DataLossError("the copy differs from the original");
}

MemoryUpdate::MemoryUpdate(int64_t bytes, const at::TensorOptions& options)
    : x_(at::rand({bytes / 4}, options.dtype(at::kFloat))) {}

void MemoryUpdate::Update() { x_.mul_(-1); }

absl::Status MemoryUpdate::Verify() {
  const at::Tensor original = x_.clone();
  Update();
  if (!x_.equal(-original)) return absl::DataLossError("an update is lost");
  Update();
  if (x_.equal(original)) return absl::OkStatus();
  return absl::DataLossError("two updates did not give the original");
}

OpChain::OpChain(int ops, const at::TensorOptions& options)
    : ops_(ops), x_(at::zeros({1}, options)) {}

void OpChain::Run() {
  for (int i = 0; i < ops_; ++i) x_.add_(1);
}

absl::Status OpChain::Verify() {
  x_.zero_();
  Run();
  const auto sum = x_.item<double>();
  if (sum == ops_) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(ops_, " additions of 1 to 0 gave ", sum));
}

}  // namespace trainbench

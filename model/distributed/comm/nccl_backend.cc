// SPDX-License-Identifier: MIT

#include "absl/strings/str_join.h"
#include "model/distributed/comm/backends.h"

#ifdef TRAINBENCH_CUDA
#include <c10/util/env.h>
#include <torch/csrc/cuda/nccl.h>
// The header is empty without this macro. LibTorch was built with NCCL.
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace trainbench {

#ifdef TRAINBENCH_CUDA

void CheckNcclHeader(const std::array<int, 3>& header) {
  // A constant in LibTorch, 16 bits each. ncclGetVersion would return the
  // version of the loaded library, which may be newer.
  const uint64_t bits = torch::cuda::nccl::version();
  const std::array<int, 3> libtorch = {static_cast<int>(bits >> 32),
                                       static_cast<int>(bits >> 16 & 0xffff),
                                       static_cast<int>(bits & 0xffff)};
  TORCH_CHECK(header == libtorch, "this program was compiled with nccl.h ",
              absl::StrJoin(header, "."),
              "; allowed: ", absl::StrJoin(libtorch, "."), ", LibTorch's own");
}

void SetNcclEnvironment() {
  constexpr char kErrors[] = "TORCH_NCCL_ASYNC_ERROR_HANDLING";
  if (c10::utils::get_env(kErrors).value_or("1") == "1") {
    c10::utils::set_env(kErrors, "2");
    // The thread that waits for the GPU has the same error, and can report it.
    c10::utils::set_env("TORCH_NCCL_RETHROW_CUDA_ERRORS", "0",
                        /*overwrite=*/false);
  }
  // Debug information would take a minute, in which other ranks wait.
  c10::utils::set_env("TORCH_NCCL_DUMP_ON_TIMEOUT", "0", /*overwrite=*/false);
  c10::utils::set_env("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "100",
                      /*overwrite=*/false);
}

std::string NcclFailure(c10d::Backend& backend) {
  auto* const nccl = dynamic_cast<c10d::ProcessGroupNCCL*>(&backend);
  if (nccl == nullptr) return "";
  switch (nccl->getError()) {
    case c10d::ErrorType::SUCCESS:
      return "";
    case c10d::ErrorType::TIMEOUT:
      return "collective operation timeout";
    case c10d::ErrorType::COMM_ERROR:
      return "communication error";
    case c10d::ErrorType::REMOTE_ERROR:
      return "error of another rank";
  }
  return "unknown error";
}

c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options) {
  CheckNcclHeader({NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH});
  SetNcclEnvironment();
  auto nccl = c10d::ProcessGroupNCCL::Options::create();
  nccl->timeout = options.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, options.rank,
                                                     options.size, nccl);
}

#else  // no CUDA in this build

void CheckNcclHeader(const std::array<int, 3>&) {}
void SetNcclEnvironment() {}
std::string NcclFailure(c10d::Backend&) { return ""; }

c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>&, const GroupOptions&) {
  TORCH_CHECK(false,
              "this program was built without CUDA, and so without NCCL");
}

#endif

}  // namespace trainbench

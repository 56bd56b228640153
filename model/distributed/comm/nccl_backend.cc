// SPDX-License-Identifier: MIT

#include "model/distributed/comm/nccl_backend.h"

#ifdef TRAINBENCH_CUDA
// The header is empty without this macro. LibTorch was built with NCCL.
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace trainbench {

c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options) {
#ifdef TRAINBENCH_CUDA
  auto nccl = c10d::ProcessGroupNCCL::Options::create();
  nccl->timeout = options.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, options.rank,
                                                     options.size, nccl);
#else
  static_cast<void>(store);
  static_cast<void>(options);
  TORCH_CHECK(false,
              "this program was built without CUDA, and so without NCCL");
#endif
}

}  // namespace trainbench

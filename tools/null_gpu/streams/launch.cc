// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/launch.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/order/locate.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/duration.h"

namespace null_gpu {
namespace {

bool IsValid(dim3 grid, dim3 block) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 2147483647U &&
         grid.y <= 65535 && grid.z <= 65535 && threads > 0 && threads <= 1024 &&
         block.z <= 64;
}

// Returns a copy of the argument of a kernel with a body.
std::vector<std::byte> Argument(const Kernel& kernel, void** arguments) {
  const Body* const body = kernel.body.load();
  if (body == nullptr || arguments == nullptr) return {};
  const auto* const first = static_cast<const std::byte*>(arguments[0]);
  return {first, first + body->argument_bytes};
}

// More must be allowed, by cudaFuncSetAttribute().
constexpr size_t kSharedWithoutAsking = 48 << 10;

cudaError_t CheckLimits(const Kernel& kernel, dim3 block, size_t shared_bytes) {
  const KernelNeeds& needs = NeedsOf(&kernel);
  const size_t allowed = kernel.shared_bytes[CurrentDevice()].load();
  const unsigned threads = block.x * block.y * block.z;
  if (shared_bytes + needs.shared_bytes >
      std::max(kSharedWithoutAsking, allowed + needs.shared_bytes)) {
    return cudaErrorInvalidValue;
  }
  if (threads > needs.most_threads) return cudaErrorInvalidValue;
  return threads <= MostThreads(needs) ? cudaSuccess
                                       : cudaErrorLaunchOutOfResources;
}

}  // namespace

cudaError_t LaunchKernel(Kernel* kernel, dim3 grid, dim3 block,
                         void** arguments, size_t shared_bytes,
                         cudaStream_t stream, Accesses accesses,
                         const Work& work) {
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (!IsValid(grid, block)) return cudaErrorInvalidConfiguration;
  if (const cudaError_t error = CheckLimits(*kernel, block, shared_bytes)) {
    return error;
  }
  Operation operation;
  operation.kind = Operation::Kind::kKernel;
  operation.kernel = kernel;
  operation.grid = grid;
  operation.block = block;
  operation.shared_bytes = shared_bytes;
  operation.argument = Argument(*kernel, arguments);
  if (kernel->spins) {
    std::memcpy(&operation.nanoseconds, arguments[0], sizeof(int64_t));
  }
  operation.work = work.flops > 0 ? work : TakeStatedWork();
  operation.accesses =
      accesses.empty() ? AccessesOf(*kernel, arguments) : std::move(accesses);
  return Enqueue(operation, stream);
}

cudaError_t LaunchOfLibrary(std::string_view name, dim3 grid, dim3 block,
                            cudaStream_t stream, Accesses accesses,
                            const Work& work) {
  const auto launch = [&] {
    return LaunchKernel(NamedKernel(name), grid, block, nullptr, 0, stream,
                        std::move(accesses), work);
  };
  if (name.starts_with("nvjet") || name.starts_with("cudnn_generated")) {
    return static_cast<cudaError_t>(DriverCall(launch, "cuLaunchKernelEx"));
  }
  return Call(launch, "cudaLaunchKernelExC");
}

}  // namespace null_gpu

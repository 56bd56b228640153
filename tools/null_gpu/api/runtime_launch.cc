// SPDX-License-Identifier: MIT
// The runtime: registering and launching kernels.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/order.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/duration.h"
#include "tools/null_gpu/streams/launch.h"
#include "tools/null_gpu/streams/stream.h"

using null_gpu::Call;
using null_gpu::FindKernel;
using null_gpu::Kernel;
using null_gpu::Operation;

namespace null_gpu {
namespace {

bool IsValid(dim3 grid, dim3 block) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 2147483647U &&
         grid.y <= 65535 && grid.z <= 65535 && threads > 0 && threads <= 1024 &&
         block.z <= 64;
}

int64_t DurationByRule(const Kernel& kernel, void** arguments) {
  if (*kernel.rule >= 0) return *kernel.rule;
  int64_t nanoseconds = 0;
  if (arguments != nullptr && arguments[0] != nullptr) {
    std::memcpy(&nanoseconds, arguments[0], sizeof(nanoseconds));
  }
  return nanoseconds;
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
  static const KernelNeeds unknown;
  const KernelNeeds* const known = kernel.needs;
  const KernelNeeds& needs = known != nullptr ? *known : unknown;
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
  const cudaError_t error = CheckLimits(*kernel, block, shared_bytes);
  if (error != cudaSuccess) return error;
  Operation operation;
  operation.kind = Operation::Kind::kKernel;
  operation.kernel = kernel;
  operation.grid = grid;
  operation.block = block;
  operation.shared_bytes = shared_bytes;
  operation.argument = Argument(*kernel, arguments);
  if (kernel->rule) {
    operation.nanoseconds = DurationByRule(*kernel, arguments);
  }
  operation.work = work.flops > 0 ? work : TakeStatedWork();
  operation.accesses =
      accesses.empty() ? AccessesOf(*kernel, arguments) : std::move(accesses);
  return Enqueue(operation, stream, "launch");
}

cudaError_t LaunchOfLibrary(std::string_view name, dim3 grid, dim3 block,
                            cudaStream_t stream, Accesses accesses,
                            const Work& work) {
  const auto launch = [&] {
    return LaunchKernel(NamedKernel(name), grid, block, nullptr, 0, stream,
                        std::move(accesses), work);
  };
  if (name.starts_with("nvjet") || name.starts_with("cudnn_generated")) {
    return static_cast<cudaError_t>(DriverCall<"cuLaunchKernelEx">(launch));
  }
  return Call<"cudaLaunchKernelExC">(launch);
}

}  // namespace null_gpu

using null_gpu::LaunchKernel;

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};

// Launch configurations between <<<...>>> and the host stub.
std::vector<Configuration>& Configurations() {
  thread_local std::vector<Configuration> configurations;
  return configurations;
}

// Functions that the compiler calls; no header declares all of them.
extern "C" {

void** __cudaRegisterFatBinary(void* fat_binary) {
  return static_cast<void**>(fat_binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

char __cudaInitModule(void**) { return 0; }

void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int,
                       int) {}

void __cudaRegisterFunction(void** fat_binary, const char* host, char*,
                            const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  null_gpu::RegisterKernel(host, name, fat_binary);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     CUstream_st* stream) {
  Configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                       size_t* shared_bytes, void* stream) {
  const Configuration last = Configurations().back();
  Configurations().pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(FindKernel(host));
  return *kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void** arguments, size_t shared_bytes,
                               cudaStream_t stream) {
  return Call<"cudaLaunchKernel">([&] {
    return LaunchKernel(reinterpret_cast<Kernel*>(kernel), grid, block,
                        arguments, shared_bytes, stream);
  });
}

}  // extern "C"
}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                             void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return Call<"cudaLaunchKernel">([&] {
    return LaunchKernel(FindKernel(function), grid, block, arguments,
                        shared_bytes, stream);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid,
                                        dim3 block, void** arguments,
                                        size_t shared_bytes,
                                        cudaStream_t stream) {
  return Call<"cudaLaunchCooperativeKernel">([&] {
    return LaunchKernel(FindKernel(function), grid, block, arguments,
                        shared_bytes, stream);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                const void* function, void** arguments) {
  return Call<"cudaLaunchKernelExC">([&] {
    return LaunchKernel(FindKernel(function), config->gridDim, config->blockDim,
                        arguments, config->dynamicSmemBytes, config->stream);
  });
}

// The function runs at once: the made-up work before it is not worth a wait.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void* data) {
  return Call<"cudaLaunchHostFunc">([&] {
    Operation operation;
    operation.kind = Operation::Kind::kHost;
    {
      const std::lock_guard lock(null_gpu::StreamMutex());
      const null_gpu::Stream* const found = null_gpu::FindStream(stream);
      if (found != nullptr && found->capture != nullptr) {
        null_gpu::Die("host functions in captures are not modelled");
      }
    }
    const cudaError_t error = null_gpu::Enqueue(operation, stream, "launch");
    if (error == cudaSuccess) function(data);
    return error;
  });
}

// Device variables have the address of their shadow on the host.
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return Call<"cudaGetSymbolAddress">([&] {
    *address = const_cast<void*>(symbol);
    return cudaSuccess;
  });
}

}  // extern "C"

// SPDX-License-Identifier: MIT
// The part of cuDNN's graph interface that LibTorch's attention uses. A graph
// of operations becomes one kernel; a plan needs no workspace.

#include <cudnn.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/call.h"
#include "tools/null_gpu/streams/launch.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace null_gpu {
namespace {

// A descriptor inherits the name of its kernel from the descriptors that it
// consists of.
struct Descriptor {
  cudnnBackendDescriptorType_t type;
  std::optional<cudnnDataType_t> data_type = {};
  std::string kernel = {};
  std::vector<const void*> pointers = {};  // of a variant pack
};

Descriptor& Of(cudnnBackendDescriptor_t descriptor) {
  return *static_cast<Descriptor*>(descriptor);
}

template <typename Pointer>
std::vector<Pointer> PointersIn(const void* values, int64_t count) {
  const auto* const first = static_cast<const Pointer*>(values);
  return {first, first + count};
}

std::string KernelOf(const std::vector<Descriptor*>& operations) {
  int products = 0;
  bool attention = false, backward = false;
  std::string type = "f32";
  for (const Descriptor* operation : operations) {
    products +=
        operation->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR ? 1 : 0;
    backward |= operation->type == CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
    attention |= operation->type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR;
    if (operation->data_type == CUDNN_DATA_BFLOAT16) type = "bf16";
    if (operation->data_type == CUDNN_DATA_HALF) type = "f16";
  }
  // Attention consists of two products, its backward pass of five.
  backward |= products > 2;
  attention |= backward || products == 2;
  const std::string chip =
      "sm" + std::to_string(GetSettings().profile->major) + "0";
  if (!attention) return "cudnn_generated_graph_" + chip + "_" + type + "_null";
  return "cudnn_generated_fort_native_sdpa_" + chip + "_flash_" +
         (backward ? "bprop" : "fprop") + "_" + type + "_null";
}

void Inherit(Descriptor& descriptor, const std::vector<Descriptor*>& parts) {
  for (const Descriptor* part : parts) {
    if (!part->kernel.empty()) descriptor.kernel = part->kernel;
    // Attention's softmax is in float; its operands determine the name.
    const bool narrow = part->data_type == CUDNN_DATA_BFLOAT16 ||
                        part->data_type == CUDNN_DATA_HALF;
    if (narrow || !descriptor.data_type) descriptor.data_type = part->data_type;
  }
}

void Set(Descriptor& descriptor, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  if (name == CUDNN_ATTR_TENSOR_DATA_TYPE) {
    descriptor.data_type = *static_cast<const cudnnDataType_t*>(values);
  } else if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) {
    descriptor.pointers = PointersIn<const void*>(values, count);
  } else if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto parts = PointersIn<Descriptor*>(values, count);
    Inherit(descriptor, parts);
    if (name == CUDNN_ATTR_OPERATIONGRAPH_OPS) {
      descriptor.kernel = KernelOf(parts);
    }
  }
}

// An attribute that LibTorch reads, which cuDNN computes: how many values it
// has, and the value if it is a number.
struct Computed {
  cudnnBackendAttributeName_t name;
  int64_t count;
  std::optional<int64_t> number = std::nullopt;
};
constexpr Computed kComputed[] = {
    // Any graph is supported, by one engine.
    {CUDNN_ATTR_ENGINEHEUR_RESULTS, 1},
    {CUDNN_ATTR_ENGINECFG_ENGINE, 1},
    {CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, 0},
    {CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, 0},
    {CUDNN_ATTR_ENGINE_KNOB_INFO, 0},
    {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, 0},
    {CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1, 0},
    {CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, 1, 0},
    {CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, 1, 0},
    {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1, 0},
    {CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, 1, 1},
};

const Computed& ComputedOf(const Descriptor& descriptor,
                           cudnnBackendAttributeName_t name) {
  for (const Computed& computed : kComputed) {
    if (computed.name == name) return computed;
  }
  Die("attribute " + std::to_string(name) + " of cuDNN's descriptor " +
      std::to_string(descriptor.type) + " is not modeled");
}

// Fills a descriptor that the caller has made.
void Fill(const Descriptor& from, void* values) {
  cudnnBackendDescriptor_t to = nullptr;
  std::memcpy(&to, values, sizeof(to));
  Of(to).kernel = from.kernel;
  Of(to).data_type = from.data_type;
}

void Get(const Descriptor& descriptor, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t type, int64_t wanted, int64_t* count,
         void* values) {
  const Computed& computed = ComputedOf(descriptor, name);
  if (values != nullptr && computed.number) {
    std::memcpy(values, &*computed.number, type == CUDNN_TYPE_INT32 ? 4 : 8);
  } else if (values != nullptr && wanted > 0 && computed.count > 0) {
    Fill(descriptor, values);
  }
  if (count != nullptr) *count = computed.count;
}

// The graph may write to each of its tensors.
Accesses AccessesOf(const Descriptor& pack) {
  Accesses accesses;
  for (const void* pointer : pack.pointers) {
    accesses.push_back(WriteOf(pointer));
  }
  return accesses;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }

size_t cudnnGetCudartVersion() { return CUDART_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t) {
  return "an error of the null cuDNN";
}

void cudnnGetLastErrorString(char* text, size_t bytes) {
  if (bytes > 0) *text = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return Ask([&] { *handle = new cudnnContext; });
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return Ask([&] { handle->stream = stream; });
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return Ask([&] { *stream = handle->stream; });
}

cudnnStatus_t cudnnBackendCreateDescriptor(
    cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  return Ask([&] { *descriptor = new Descriptor{type}; });
}

cudnnStatus_t cudnnBackendDestroyDescriptor(
    cudnnBackendDescriptor_t descriptor) {
  return Ask([&] { delete &Of(descriptor); });
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void* values) {
  return Ask([&] { Set(Of(descriptor), name, type, count, values); });
}

cudnnStatus_t cudnnBackendGetAttribute(
    const cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t wanted, int64_t* count,
    void* values) {
  return Ask([&] { Get(Of(descriptor), name, type, wanted, count, values); });
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  return Ask([&] {
    const std::string& kernel = Of(plan).kernel;
    if (kernel.empty()) return CUDNN_STATUS_BAD_PARAM;
    return LaunchOfLibrary(kernel, dim3(1), dim3(384), handle->stream,
                           AccessesOf(Of(pack))) == cudaSuccess
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_EXECUTION_FAILED;
  });
}

}  // extern "C"
}  // namespace null_gpu

// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/device.h"

#include <cuda.h>

#include <string>
#include <vector>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

// The driver keeps this much of a multiprocessor's shared memory per block.
constexpr int kReservedSharedBytes = 1 << 10;
constexpr int kRegisters = 65536;

thread_local int current_device = 0;

// An attribute, and the field of cudaDeviceProp with the same value, if any.
struct Fact {
  int attribute;
  int value;
  int cudaDeviceProp::*field = nullptr;
};

// The runtime lacks names for some attributes, which have the driver's numbers.
std::vector<Fact> FactsOf(const Profile& profile) {
  using Fields = cudaDeviceProp;
  return {
      {cudaDevAttrMaxThreadsPerBlock, 1024, &Fields::maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin,
       profile.shared_bytes_per_multiprocessor - kReservedSharedBytes},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
       profile.shared_bytes_per_multiprocessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, kReservedSharedBytes},
      {cudaDevAttrTotalConstantMemory, 64 << 10},
      {cudaDevAttrWarpSize, 32, &Fields::warpSize},
      {cudaDevAttrMaxRegistersPerBlock, kRegisters, &Fields::regsPerBlock},
      {cudaDevAttrMaxRegistersPerMultiprocessor, kRegisters,
       &Fields::regsPerMultiprocessor},
      {cudaDevAttrClockRate, profile.clock_khz},
      {cudaDevAttrMemoryClockRate, profile.memory_clock_khz},
      {cudaDevAttrGlobalMemoryBusWidth, profile.bus_bits,
       &Fields::memoryBusWidth},
      {cudaDevAttrL2CacheSize, profile.l2_bytes, &Fields::l2CacheSize},
      {cudaDevAttrMultiProcessorCount, profile.multiprocessors,
       &Fields::multiProcessorCount},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2048,
       &Fields::maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxBlocksPerMultiprocessor, 32,
       &Fields::maxBlocksPerMultiProcessor},
      {cudaDevAttrComputeCapabilityMajor, profile.major, &Fields::major},
      {cudaDevAttrComputeCapabilityMinor, profile.minor, &Fields::minor},
      {cudaDevAttrTextureAlignment, 512},
      {cudaDevAttrAsyncEngineCount, 3, &Fields::asyncEngineCount},
      {cudaDevAttrConcurrentKernels, 1, &Fields::concurrentKernels},
      {cudaDevAttrCanMapHostMemory, 1, &Fields::canMapHostMemory},
      {cudaDevAttrUnifiedAddressing, 1, &Fields::unifiedAddressing},
      {cudaDevAttrStreamPrioritiesSupported, 1,
       &Fields::streamPrioritiesSupported},
      {cudaDevAttrComputePreemptionSupported, 1,
       &Fields::computePreemptionSupported},
      {cudaDevAttrCooperativeLaunch, 1, &Fields::cooperativeLaunch},
      {cudaDevAttrHostRegisterSupported, 1, &Fields::hostRegisterSupported},
      {cudaDevAttrMemoryPoolsSupported, 1, &Fields::memoryPoolsSupported},
      {cudaDevAttrEccEnabled, 1, &Fields::ECCEnabled},
      {cudaDevAttrManagedMemory, 1, &Fields::managedMemory},
      {cudaDevAttrConcurrentManagedAccess, 1, &Fields::concurrentManagedAccess},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1,
       &Fields::canUseHostPointerForRegisteredMem},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
      {cudaDevAttrGlobalL1CacheSupported, 1, &Fields::globalL1CacheSupported},
      {cudaDevAttrLocalL1CacheSupported, 1, &Fields::localL1CacheSupported},
      {cudaDevAttrClusterLaunch, profile.major >= 9 ? 1 : 0,
       &Fields::clusterLaunch},
      {cudaDevAttrIntegrated, 0},
      {cudaDevAttrKernelExecTimeout, 0},
      {cudaDevAttrIsMultiGpuBoard, 0},
      {cudaDevAttrPageableMemoryAccess, 0},
      {cudaDevAttrPciDomainId, 0},
      {cudaDevAttrPciDeviceId, 0},
      {cudaDevAttrTccDriver, 0},
      {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0},
  };
}

const std::vector<Fact>& Facts() {
  static const auto* const facts =
      new std::vector<Fact>(FactsOf(*GetSettings().profile));
  return *facts;
}

// Returns the profile's name with " (null)" or, if times are predicted,
// " (predicted)", so that no result can pass for the real device's.
std::string DeviceName() {
  const Settings& settings = GetSettings();
  return std::string(settings.profile->name) +
         (settings.rates ? " (predicted)" : " (null)");
}

}  // namespace

int CurrentDevice() { return current_device; }
void SetCurrentDevice(int device) { current_device = device; }

bool IsDeviceIndex(int device) {
  return device >= 0 && device < GetSettings().devices;
}

int DeviceAttribute(cudaDeviceAttr attribute, int device) {
  if (attribute == cudaDevAttrPciBusId) return device + 1;
  if (attribute == cudaDevAttrComputeMode) {
    return GetSettings().exclusive ? cudaComputeModeExclusiveProcess
                                   : cudaComputeModeDefault;
  }
  for (const Fact& fact : Facts()) {
    if (fact.attribute == static_cast<int>(attribute)) return fact.value;
  }
  Die("device attribute " + std::to_string(attribute) +
      " is not modeled: add it to device.cc");
}

cudaDeviceProp DeviceProperties(int device) {
  cudaDeviceProp properties = {};
  DeviceName().copy(properties.name, sizeof(properties.name) - 1);
  properties.uuid.bytes[0] = 'N';
  properties.uuid.bytes[15] = static_cast<char>(device);
  for (const Fact& fact : Facts()) {
    if (fact.field != nullptr) properties.*fact.field = fact.value;
  }
  properties.totalGlobalMem = GetSettings().profile->memory_bytes;
  const auto get = [device](cudaDeviceAttr attribute) {
    return DeviceAttribute(attribute, device);
  };
  properties.sharedMemPerBlock = get(cudaDevAttrMaxSharedMemoryPerBlock);
  properties.sharedMemPerBlockOptin =
      get(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  properties.sharedMemPerMultiprocessor =
      get(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  properties.reservedSharedMemPerBlock =
      get(cudaDevAttrReservedSharedMemoryPerBlock);
  properties.totalConstMem = get(cudaDevAttrTotalConstantMemory);
  properties.textureAlignment = get(cudaDevAttrTextureAlignment);
  properties.maxThreadsDim[0] = get(cudaDevAttrMaxBlockDimX);
  properties.maxThreadsDim[1] = get(cudaDevAttrMaxBlockDimY);
  properties.maxThreadsDim[2] = get(cudaDevAttrMaxBlockDimZ);
  properties.maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
  properties.maxGridSize[1] = get(cudaDevAttrMaxGridDimY);
  properties.maxGridSize[2] = get(cudaDevAttrMaxGridDimZ);
  properties.memPitch = 2147483647;
  properties.pciBusID = get(cudaDevAttrPciBusId);
  return properties;
}

}  // namespace null_gpu

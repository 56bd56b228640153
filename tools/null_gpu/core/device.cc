// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/device.h"

#include <cuda.h>

#include <map>
#include <string>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

constexpr int kSharedBytesPerBlock = 48 << 10;
// The driver keeps this much of a multiprocessor's shared memory per block.
constexpr int kReservedSharedBytes = 1 << 10;
constexpr int kRegisters = 65536;

thread_local int current_device = 0;

// The runtime lacks names for some attributes, which have the driver's numbers.
std::map<int, int> AttributesOf(const Profile& profile) {
  return {
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, kSharedBytesPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin,
       profile.shared_bytes_per_multiprocessor - kReservedSharedBytes},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
       profile.shared_bytes_per_multiprocessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, kReservedSharedBytes},
      {cudaDevAttrTotalConstantMemory, 64 << 10},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxRegistersPerBlock, kRegisters},
      {cudaDevAttrMaxRegistersPerMultiprocessor, kRegisters},
      {cudaDevAttrClockRate, profile.clock_khz},
      {cudaDevAttrMemoryClockRate, profile.memory_clock_khz},
      {cudaDevAttrGlobalMemoryBusWidth, profile.bus_bits},
      {cudaDevAttrL2CacheSize, profile.l2_bytes},
      {cudaDevAttrMultiProcessorCount, profile.multiprocessors},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
      {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
      {cudaDevAttrComputeCapabilityMajor, profile.major},
      {cudaDevAttrComputeCapabilityMinor, profile.minor},
      {cudaDevAttrTextureAlignment, 512},
      {cudaDevAttrAsyncEngineCount, 3},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrComputePreemptionSupported, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrMemoryPoolsSupported, 1},
      {cudaDevAttrEccEnabled, 1},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
      {cudaDevAttrIntegrated, 0},
      {cudaDevAttrKernelExecTimeout, 0},
      {cudaDevAttrIsMultiGpuBoard, 0},
      {cudaDevAttrPageableMemoryAccess, 0},
      {cudaDevAttrPciBusId, 0},
      {cudaDevAttrPciDomainId, 0},
      {cudaDevAttrPciDeviceId, 0},
      {cudaDevAttrTccDriver, 0},
      {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0},
      {CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0},
  };
}

}  // namespace

int CurrentDevice() { return current_device; }
void SetCurrentDevice(int device) { current_device = device; }

bool IsDeviceIndex(int device) {
  return device >= 0 && device < GetSettings().devices;
}

int DeviceAttribute(cudaDeviceAttr attribute) {
  static const auto* const values =
      new std::map<int, int>(AttributesOf(*GetSettings().profile));
  if (attribute == cudaDevAttrComputeMode) {
    return GetSettings().exclusive ? cudaComputeModeExclusiveProcess
                                   : cudaComputeModeDefault;
  }
  const auto value = values->find(attribute);
  if (value != values->end()) return value->second;
  Die("device attribute " + std::to_string(attribute) +
      " is not modelled: add it to device.cc");
}

std::string DeviceName() {
  const Settings& settings = GetSettings();
  return std::string(settings.profile->name) +
         (settings.rates ? " (predicted)" : " (null)");
}

cudaDeviceProp DeviceProperties(int device) {
  const Profile& profile = *GetSettings().profile;
  const auto attribute = [](cudaDeviceAttr which) {
    return DeviceAttribute(which);
  };
  cudaDeviceProp properties = {};
  DeviceName().copy(properties.name, sizeof(properties.name) - 1);
  properties.uuid.bytes[0] = 'N';
  properties.uuid.bytes[15] = static_cast<char>(device);
  properties.totalGlobalMem = profile.memory_bytes;
  properties.sharedMemPerBlock = kSharedBytesPerBlock;
  properties.sharedMemPerBlockOptin =
      attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  properties.sharedMemPerMultiprocessor =
      profile.shared_bytes_per_multiprocessor;
  properties.reservedSharedMemPerBlock = kReservedSharedBytes;
  properties.regsPerBlock = kRegisters;
  properties.regsPerMultiprocessor = kRegisters;
  properties.warpSize = 32;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiProcessor = 2048;
  properties.maxBlocksPerMultiProcessor = 32;
  constexpr cudaDeviceAttr kBlock[] = {cudaDevAttrMaxBlockDimX,
                                       cudaDevAttrMaxBlockDimY,
                                       cudaDevAttrMaxBlockDimZ};
  constexpr cudaDeviceAttr kGrid[] = {
      cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ};
  for (int i = 0; i < 3; ++i) {
    properties.maxThreadsDim[i] = attribute(kBlock[i]);
    properties.maxGridSize[i] = attribute(kGrid[i]);
  }
  properties.totalConstMem = 64 << 10;
  properties.memPitch = 2147483647;
  properties.textureAlignment = 512;
  properties.major = profile.major;
  properties.minor = profile.minor;
  properties.multiProcessorCount = profile.multiprocessors;
  properties.l2CacheSize = profile.l2_bytes;
  properties.memoryBusWidth = profile.bus_bits;
  properties.asyncEngineCount = 3;
  properties.pciBusID = device + 1;
  for (int* yes :
       {&properties.canMapHostMemory, &properties.concurrentKernels,
        &properties.ECCEnabled, &properties.unifiedAddressing,
        &properties.streamPrioritiesSupported,
        &properties.globalL1CacheSupported, &properties.localL1CacheSupported,
        &properties.managedMemory, &properties.concurrentManagedAccess,
        &properties.computePreemptionSupported,
        &properties.canUseHostPointerForRegisteredMem,
        &properties.cooperativeLaunch, &properties.hostRegisterSupported,
        &properties.memoryPoolsSupported}) {
    *yes = 1;
  }
  properties.clusterLaunch = profile.major >= 9 ? 1 : 0;
  return properties;
}

}  // namespace null_gpu

// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/device.h"

#include <string>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

constexpr int kSharedBytesPerBlock = 48 << 10;
// The driver keeps this much of a multiprocessor's shared memory per block.
constexpr int kReservedSharedBytes = 1 << 10;
constexpr int kRegisters = 65536;

thread_local int current_device = 0;

}  // namespace

int CurrentDevice() { return current_device; }
void SetCurrentDevice(int device) { current_device = device; }

bool IsDeviceIndex(int device) {
  return device >= 0 && device < GetSettings().devices;
}

int DeviceAttribute(cudaDeviceAttr attribute) {
  const Profile& profile = *GetSettings().profile;
  switch (static_cast<int>(attribute)) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kSharedBytesPerBlock;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return profile.shared_bytes_per_multiprocessor - kReservedSharedBytes;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return profile.shared_bytes_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return kReservedSharedBytes;
    case cudaDevAttrTotalConstantMemory:
      return 64 << 10;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegisters;
    case cudaDevAttrClockRate:
      return profile.clock_khz;
    case cudaDevAttrMemoryClockRate:
      return profile.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return profile.bus_bits;
    case cudaDevAttrL2CacheSize:
      return profile.l2_bytes;
    case cudaDevAttrMultiProcessorCount:
      return profile.multiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return 32;
    case cudaDevAttrComputeCapabilityMajor:
      return profile.major;
    case cudaDevAttrComputeCapabilityMinor:
      return profile.minor;
    case cudaDevAttrTextureAlignment:
      return 512;
    case cudaDevAttrAsyncEngineCount:
      return 3;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case 102:  // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    case 103:  // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
      return 1;
    case cudaDevAttrComputeMode:
      return GetSettings().exclusive ? cudaComputeModeExclusiveProcess
                                     : cudaComputeModeDefault;
    case cudaDevAttrIntegrated:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrTccDriver:
    case 110:  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
    case 116:  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
    case 128:  // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED
    case 132:  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
      return 0;
    default:
      Die("device attribute " + std::to_string(attribute) +
          " is not modelled: add it to device.cc");
  }
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

// SPDX-License-Identifier: MIT
// The devices of the profile.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_DEVICE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_DEVICE_H_

#include <driver_types.h>

namespace null_gpu {

// The device of the calling thread.
int CurrentDevice();
void SetCurrentDevice(int device);

bool IsDeviceIndex(int device);

// The driver numbers the attributes like the runtime. An attribute that is not
// modeled ends the process.
int DeviceAttribute(cudaDeviceAttr attribute, int device);

cudaDeviceProp DeviceProperties(int device);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_DEVICE_H_

// SPDX-License-Identifier: MIT
// Device types.

#ifndef TRAINBENCH_MODEL_SPEC_DEVICE_KIND_H_
#define TRAINBENCH_MODEL_SPEC_DEVICE_KIND_H_

namespace trainbench {

enum class DeviceKind { kCpu, kCuda };

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_DEVICE_KIND_H_

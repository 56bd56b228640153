// SPDX-License-Identifier: MIT
// Declares just enough of Gloo to parse ProcessGroupGloo.hpp: see README.md.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_TRANSPORT_DEVICE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_TRANSPORT_DEVICE_H_

namespace gloo::transport {
class Context;
class Device;
class UnboundBuffer;
}  // namespace gloo::transport

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_GLOO_STUBS_GLOO_TRANSPORT_DEVICE_H_

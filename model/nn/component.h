// SPDX-License-Identifier: MIT
// The parts of a step as named scopes that a profiler sees.

#ifndef TRAINBENCH_MODEL_NN_COMPONENT_H_
#define TRAINBENCH_MODEL_NN_COMPONENT_H_

#include <ATen/record_function.h>

#include <cstddef>

#include "model/spec/component.h"

namespace trainbench {

// Opens a user scope of LibTorch named after the component until it dies, on
// one thread. It changes no result and costs some nanoseconds where nobody
// listens.
class ComponentScope {
 public:
  explicit ComponentScope(Component component);
  ComponentScope(const ComponentScope&) = delete;
  ComponentScope& operator=(const ComponentScope&) = delete;

 private:
  at::RecordFunction record_;
};

// The same for block number `layer`, counted from 0: "layer_0".
class LayerScope {
 public:
  explicit LayerScope(std::size_t layer);
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

 private:
  at::RecordFunction record_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_COMPONENT_H_

// SPDX-License-Identifier: MIT
// Named profiler scopes for the components and layers of a step.

#ifndef TRAINBENCH_MODEL_NN_COMPONENT_H_
#define TRAINBENCH_MODEL_NN_COMPONENT_H_

#include <ATen/record_function.h>

#include <cstddef>

#include "model/spec/component.h"

namespace trainbench {

// A LibTorch user scope named after the component, on this thread, for the
// lifetime of the object. It does not change results; without a profiler it
// costs a few nanoseconds.
class ComponentScope {
 public:
  explicit ComponentScope(Component component);
  ComponentScope(const ComponentScope&) = delete;
  ComponentScope& operator=(const ComponentScope&) = delete;

 private:
  at::RecordFunction record_;
};

// The same for block number `layer`, counting from 0: "layer_0".
class LayerScope {
 public:
  explicit LayerScope(std::size_t layer);
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

 private:
  at::RecordFunction record_;
};

// The same for a span that is not a component. `name` is a string literal.
class SpanScope {
 public:
  explicit SpanScope(const char* name);
  SpanScope(const SpanScope&) = delete;
  SpanScope& operator=(const SpanScope&) = delete;

 private:
  at::RecordFunction record_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_COMPONENT_H_

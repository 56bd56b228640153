// SPDX-License-Identifier: MIT
// Named profiler scopes for the components and layers of a step.

#ifndef TRAINBENCH_MODEL_NN_COMPONENT_H_
#define TRAINBENCH_MODEL_NN_COMPONENT_H_

#include <ATen/record_function.h>

#include <cstddef>

#include "model/spec/component.h"

namespace trainbench {

// A LibTorch user scope on this thread, for the lifetime of the object. It does
// not change results; without a profiler it costs a few nanoseconds.
class NamedScope {
 public:
  NamedScope(const NamedScope&) = delete;
  NamedScope& operator=(const NamedScope&) = delete;

 protected:
  NamedScope() : record_(at::RecordScope::USER_SCOPE) {}
  ~NamedScope() = default;

  at::RecordFunction record_;
};

// A scope with the name of a component.
class ComponentScope : public NamedScope {
 public:
  explicit ComponentScope(Component component);
};

// A scope with the name of block number `layer`, counting from 0: "layer_0".
class LayerScope : public NamedScope {
 public:
  explicit LayerScope(std::size_t layer);
};

// A scope with the name of a span that is not a component, a string literal.
class SpanScope : public NamedScope {
 public:
  explicit SpanScope(const char* name);
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_COMPONENT_H_

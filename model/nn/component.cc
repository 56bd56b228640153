// SPDX-License-Identifier: MIT

#include "model/nn/component.h"

namespace trainbench {

ComponentScope::ComponentScope(Component component) {
  // ComponentName returns string literals, so data() ends with a null.
  if (record_.isActive()) record_.before(ComponentName(component).data());
}

LayerScope::LayerScope(std::size_t layer) {
  if (record_.isActive()) record_.before(LayerScopeName(layer));
}

SpanScope::SpanScope(const char* name) {
  if (record_.isActive()) record_.before(name);
}

}  // namespace trainbench

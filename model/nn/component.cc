// SPDX-License-Identifier: MIT

#include "model/nn/component.h"

namespace trainbench {

ComponentScope::ComponentScope(Component component)
    : record_(at::RecordScope::USER_SCOPE) {
  // ComponentName returns string literals, so data() ends with a null.
  if (record_.isActive()) record_.before(ComponentName(component).data());
}

LayerScope::LayerScope(std::size_t layer)
    : record_(at::RecordScope::USER_SCOPE) {
  if (record_.isActive()) record_.before(LayerScopeName(layer));
}

SpanScope::SpanScope(const char* name) : record_(at::RecordScope::USER_SCOPE) {
  if (record_.isActive()) record_.before(name);
}

}  // namespace trainbench

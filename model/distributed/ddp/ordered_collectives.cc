// SPDX-License-Identifier: MIT

#include "model/distributed/ddp/ordered_collectives.h"

#include <c10/util/Exception.h>

#include <utility>

namespace trainbench {

OrderedCollectives::OrderedCollectives(std::size_t count, Start start)
    : start_(std::move(start)), ready_(count, false) {}

void OrderedCollectives::MarkReady(std::size_t index) {
  ready_[index] = true;
  while (started_.size() < ready_.size() && ready_[started_.size()]) {
    started_.push_back(start_(started_.size()));
  }
}

void OrderedCollectives::WaitAll() {
  TORCH_CHECK(started_.size() == ready_.size(), "collective ", started_.size(),
              " of ", ready_.size(), " was never ready");
  const auto started = std::exchange(started_, {});
  ready_.assign(ready_.size(), false);
  for (const auto& collective : started) collective->Wait();
}

}  // namespace trainbench

// SPDX-License-Identifier: MIT

// c10d's header includes Gloo's headers, which the wheel does not contain, so
// this file alone includes our stubs (gloo_stubs/). It is empty without this
// macro. LibTorch was built with Gloo.
#define USE_C10D_GLOO
#include <csignal>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "absl/strings/str_split.h"
#include "model/distributed/comm/backends.h"

namespace trainbench {
namespace {

// A write to a rank that has died also raises SIGPIPE. Gloo handles the error
// of the write but relies on Python to ignore the signal.
void IgnoreBrokenPipes() {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  if (before != SIG_DFL && before != SIG_ERR) std::signal(SIGPIPE, before);
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options) {
  using Gloo = c10d::ProcessGroupGloo;
  IgnoreBrokenPipes();
  auto gloo = Gloo::Options::create(options.timeout);
  for (const auto name :
       absl::StrSplit(options.network_interfaces, ',', absl::SkipEmpty())) {
    gloo->devices.push_back(Gloo::createDeviceForInterface(std::string(name)));
  }
  if (gloo->devices.empty()) {
    gloo->devices.push_back(Gloo::createDeviceForHostname(options.address));
  }
  return c10::make_intrusive<Gloo>(store, options.rank, options.size, gloo);
}

}  // namespace trainbench

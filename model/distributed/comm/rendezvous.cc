// SPDX-License-Identifier: MIT

#include "model/distributed/comm/rendezvous.h"

#include <exception>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "absl/strings/str_cat.h"

namespace trainbench {

c10::intrusive_ptr<c10d::Store> OpenFileStore(
    const std::string& path, int ranks, std::chrono::milliseconds timeout) {
  auto store = c10::make_intrusive<c10d::FileStore>(path, ranks);
  store->setTimeout(timeout);
  return store;
}

absl::StatusOr<c10::intrusive_ptr<c10d::Store>> OpenTcpStore(
    const TcpRendezvous& where, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = where.port;
  options.isServer = where.serves;
  options.numWorkers = static_cast<std::size_t>(where.ranks);
  // Ranks wait for a late rank when they first need its keys.
  options.waitWorkers = false;
  options.timeout = timeout;
  try {
    return c10::make_intrusive<c10d::TCPStore>(where.host, options);
  } catch (const c10::Error& error) {
    return absl::UnavailableError(absl::StrCat("no rendezvous at ", where.host,
                                               ":", where.port, ": ",
                                               error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat(
        "no rendezvous at ", where.host, ":", where.port, ": ", error.what()));
  }
}

c10::intrusive_ptr<c10d::Store> SubStore(
    const std::string& prefix, const c10::intrusive_ptr<c10d::Store>& store) {
  return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
}

}  // namespace trainbench

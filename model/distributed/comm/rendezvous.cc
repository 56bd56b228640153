// SPDX-License-Identifier: MIT

#include "model/distributed/comm/rendezvous.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "absl/strings/str_cat.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {
namespace {

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

// Returns a socket that is bound to this address, or -1 and sets errno.
int BindTo(const addrinfo& address) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;  // as in c10d: old connections may linger
  if (fd < 0 ||
      (::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
       ::bind(fd, address.ai_addr, address.ai_addrlen) == 0)) {
    return fd;
  }
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

// Returns a socket bound to the address of the store; std::nullopt: listen at
// every address, which is c10d's default.
std::optional<int> BindStore(const TcpRendezvous& where) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(where.host.c_str(), absl::StrCat(where.port).c_str(),
                    &hints, &found) != 0) {
    return std::nullopt;
  }
  int fd = -1;
  for (const addrinfo* address = found; address != nullptr && fd < 0;
       address = address->ai_next) {
    if (!where.one_machine && IsLoopback(*address->ai_addr)) continue;
    fd = BindTo(*address);
    // Another job's store uses the port. At the next address, ranks would still
    // find that store first. c10d reports the error.
    if (fd < 0 && errno == EADDRINUSE) break;
  }
  ::freeaddrinfo(found);
  return fd < 0 ? std::nullopt : std::optional(fd);
}

}  // namespace

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
  if (where.serves) options.masterListenFd = BindStore(where);
  c10::intrusive_ptr<c10d::Store> store;
  try {
    Communicate([&] {
      store = c10::make_intrusive<c10d::TCPStore>(where.host, options);
    });
  } catch (const c10::Error& error) {
    return absl::UnavailableError(absl::StrCat("no rendezvous at ", where.host,
                                               ":", where.port, ": ",
                                               error.what_without_backtrace()));
  }
  return store;
}

c10::intrusive_ptr<c10d::Store> SubStore(
    const std::string& prefix, const c10::intrusive_ptr<c10d::Store>& store) {
  return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
}

}  // namespace trainbench

// SPDX-License-Identifier: MIT

#include "model/distributed/comm/rendezvous.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

namespace trainbench {
namespace {

// A socket for one of the loopback addresses.
class LoopbackSocket {
 public:
  explicit LoopbackSocket(const char* host) {
    address_.sin_family = AF_INET;
    ::inet_pton(AF_INET, host, &address_.sin_addr);
  }
  ~LoopbackSocket() { ::close(fd_); }

  // Binds to a free port and returns it. It is none of the ephemeral ports,
  // which another process may take before a store does.
  uint16_t Bind() {
    auto port = static_cast<uint16_t>(30000 + ::getpid() % 2000);
    do {
      address_.sin_port = htons(++port);
    } while (::bind(fd_, Address(), sizeof(address_)) != 0 && port < 32700);
    return port;
  }
  bool Reaches(uint16_t port) {
    address_.sin_port = htons(port);
    return ::connect(fd_, Address(), sizeof(address_)) == 0;
  }

 private:
  sockaddr* Address() { return reinterpret_cast<sockaddr*>(&address_); }

  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address_ = {};
};

// Returns whether a store at 127.0.0.1, for ranks of one machine or of several,
// can be reached at 127.0.0.2, which every Linux machine has, too.
bool IsReachedElsewhere(bool one_machine) {
  const uint16_t port = LoopbackSocket("127.0.0.1").Bind();
  const auto store = OpenTcpStore({.host = "127.0.0.1",
                                   .port = port,
                                   .serves = true,
                                   .one_machine = one_machine},
                                  std::chrono::minutes(1));
  EXPECT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE(LoopbackSocket("127.0.0.1").Reaches(port));
  return LoopbackSocket("127.0.0.2").Reaches(port);
}

TEST(RendezvousTest, OnlyRanksOfOtherMachinesReachTheStoreElsewhere) {
  EXPECT_FALSE(IsReachedElsewhere(/*one_machine=*/true));
  EXPECT_TRUE(IsReachedElsewhere(/*one_machine=*/false));
}

TEST(RendezvousTest, AnotherJobsStoreIsAnError) {
  const TcpRendezvous where = {.host = "localhost",
                               .port = LoopbackSocket("127.0.0.1").Bind(),
                               .serves = true,
                               .one_machine = true};
  const auto first = OpenTcpStore(where, std::chrono::minutes(1)).value();
  EXPECT_FALSE(OpenTcpStore(where, std::chrono::minutes(1)).ok());
}

}  // namespace
}  // namespace trainbench

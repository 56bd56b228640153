// SPDX-License-Identifier: MIT
// A referee that grants turns as a test decides beforehand.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_REFEREE_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_REFEREE_H_

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "fixtures/base/file.h"

namespace trainbench {

class FakeReferee {
 public:
  FakeReferee() {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) != 0) std::abort();
    // A surplus question fails a test instead of hanging it.
    const timeval limit = {.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(ends_[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~FakeReferee() { Leave(); }
  FakeReferee(const FakeReferee&) = delete;
  FakeReferee& operator=(const FakeReferee&) = delete;

  // The program's end of the connection, which the program closes.
  int socket() const { return ends_[1]; }

  // Answers the next questions, one byte each.
  void Answer(const std::string& bytes) {
    if (WriteAll(ends_[0], bytes) != 0) std::abort();
  }

  // Still takes questions, but answers none any more.
  void FallSilent() { ::shutdown(ends_[0], SHUT_WR); }

  void Leave() {
    if (const int end = std::exchange(ends_[0], -1); end >= 0) ::close(end);
  }

  // Returns the questions that the program has sent since the last call.
  std::vector<std::string> Questions() {
    std::array<char, 4096> text = {};
    const ssize_t size =
        ::recv(ends_[0], text.data(), text.size(), MSG_DONTWAIT);
    if (size <= 0) return {};
    return absl::StrSplit(
        std::string(text.data(), static_cast<std::size_t>(size)), '\n',
        absl::SkipEmpty());
  }

 private:
  std::array<int, 2> ends_ = {};
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_REFEREE_H_

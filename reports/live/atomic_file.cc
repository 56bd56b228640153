// SPDX-License-Identifier: MIT

#include "reports/live/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainbench {
namespace {

namespace fs = std::filesystem;

constexpr char kAllowed[] =
    "give the path of a file in an existing directory that you may write to";

std::string Resolved(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

bool IsStream(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) &&
         !fs::is_directory(status);
}

absl::Status WriteAll(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return absl::ErrnoToStatus(errno, "write");
    done += static_cast<size_t>(wrote);
  }
  return absl::OkStatus();
}

// No fsync: this is to survive the end of the process, not of the machine.
absl::Status WriteFile(const std::string& path, const std::string& text) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("open ", path));
  absl::Status status = WriteAll(fd, text);
  // Some file systems report a full disk only here.
  if (close(fd) != 0) status.Update(absl::ErrnoToStatus(errno, "close"));
  return status;
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)),
      target_(Resolved(path_)),
      temp_path_(absl::StrCat(target_, ".tmp")),
      is_stream_(IsStream(path_)) {}

absl::Status AtomicFile::CheckWritable() const {
  if (fs::path(path_).filename().empty() || fs::is_directory(target_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path_, "' is a directory; ", kAllowed));
  }
  if (is_stream_) {
    if (access(path_.c_str(), W_OK) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot write '", path_, "'; ", kAllowed));
  }
  // Creating is the only honest question: permission bits say nothing to root,
  // nor about read-only file systems and names that are too long.
  const int fd = open(temp_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot create '", path_, "'; ", kAllowed));
  }
  close(fd);
  unlink(temp_path_.c_str());
  return absl::OkStatus();
}

absl::Status AtomicFile::Replace(const std::string& text) const {
  absl::Status status = WriteFile(is_stream_ ? path_ : temp_path_, text);
  if (!is_stream_) {
    if (status.ok() && rename(temp_path_.c_str(), target_.c_str()) != 0) {
      status = absl::ErrnoToStatus(errno, "rename");
    }
    if (!status.ok()) unlink(temp_path_.c_str());
  }
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("cannot write '", path_,
                                                  "': ", status.message()));
}

}  // namespace trainbench

// SPDX-License-Identifier: MIT
// Replaces a file as a whole, so that a reader, or a run that is killed, never
// sees half of it.

#ifndef TRAINBENCH_REPORTS_LIVE_ATOMIC_FILE_H_
#define TRAINBENCH_REPORTS_LIVE_ATOMIC_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace trainbench {

class AtomicFile {
 public:
  // A symbolic link is followed now, so that its target is what gets replaced.
  explicit AtomicFile(std::string path);

  // Whether Replace() can work, found out by creating the temporary file. Never
  // touches the file at `path` itself.
  absl::Status CheckWritable() const;

  // On failure the file at `path` is what it was before.
  absl::Status Replace(const std::string& text) const;

  // True for a pipe, a terminal or /dev/null. Replace() writes straight into
  // these: renaming over a device would destroy it. Call it once only.
  bool is_stream() const { return is_stream_; }

  // Where Replace() works: may be left over if the process is killed.
  const std::string& temp_path() const { return temp_path_; }

 private:
  const std::string path_;  // As given: for messages.
  const std::string target_;
  const std::string temp_path_;
  const bool is_stream_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_ATOMIC_FILE_H_

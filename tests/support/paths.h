// SPDX-License-Identifier: MIT
// Files of this build and checkout, which tests read. They are known to one
// generated source, so that every other file compiles alike in any checkout.

#ifndef TRAINBENCH_TESTS_SUPPORT_PATHS_H_
#define TRAINBENCH_TESTS_SUPPORT_PATHS_H_

namespace trainbench {

// The folder tests/data.
extern const char kTestData[];
// Libraries. Without CUDA, kNvtxRecorder is empty.
extern const char kStarvedKineto[];
extern const char kNvtxRecorder[];

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_PATHS_H_

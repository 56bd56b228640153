// SPDX-License-Identifier: MIT
// Files of this build and checkout that tests read. Only one generated source
// has their paths, so every other file compiles alike in any checkout.

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

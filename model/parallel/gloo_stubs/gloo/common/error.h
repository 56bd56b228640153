// SPDX-License-Identifier: MIT
// Declares just enough of Gloo to parse ProcessGroupGloo.hpp: see README.md.

#ifndef TRAINBENCH_MODEL_PARALLEL_GLOO_STUBS_GLOO_COMMON_ERROR_H_
#define TRAINBENCH_MODEL_PARALLEL_GLOO_STUBS_GLOO_COMMON_ERROR_H_

namespace gloo {}

#endif  // TRAINBENCH_MODEL_PARALLEL_GLOO_STUBS_GLOO_COMMON_ERROR_H_

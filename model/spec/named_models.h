// SPDX-License-Identifier: MIT
// Models that are known by name, with their sizes.

#ifndef TRAINBENCH_MODEL_SPEC_NAMED_MODELS_H_
#define TRAINBENCH_MODEL_SPEC_NAMED_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/spec/config.h"

namespace trainbench {

// tiny, small, medium, large, xl and 2.7B, smallest first. All but tiny are the
// GPT-2-like sizes of the Stanford CS336 systems assignment (2025).
const std::vector<ModelConfig>& StandardModels();

// StandardModels() and
// - gpt2, gpt2-medium, gpt2-large and gpt2-xl: the sizes and vocabulary of
//   GPT-2 in the architecture of the standard models, with more parameters;
// - 8B, from the leaderboard of the Stanford CS336 systems assignment (2026),
//   which trains it on sequences of 32,768 tokens;
// - published models as they are: GPT, Llama, TinyLlama, MPT, Nemotron.
const std::vector<ModelConfig>& NamedModels();

// Finds `name` in `models`. NotFound lists the available names.
absl::StatusOr<ModelConfig> FindModel(absl::string_view name,
                                      const std::vector<ModelConfig>& models);

// "tiny, small": the names of all `models`.
std::string ModelNames(const std::vector<ModelConfig>& models);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_NAMED_MODELS_H_

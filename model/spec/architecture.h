// SPDX-License-Identifier: MIT
// Architecture choices in which published models differ, by name.

#ifndef TRAINBENCH_MODEL_SPEC_ARCHITECTURE_H_
#define TRAINBENCH_MODEL_SPEC_ARCHITECTURE_H_

#include "model/spec/enum_names.h"

namespace trainbench {

// The activation of the feed-forward layers.
enum class Mlp {
  kSwiglu,  // gated, three matrices (Shazeer 2020)
  kGelu,    // two matrices (Hendrycks and Gimpel 2016)
  kRelu2,   // two matrices, squared ReLU (So et al. 2021)
};
inline constexpr EnumNames<Mlp, 3> MlpName{"swiglu", "gelu", "relu2"};

enum class Normalization {
  kRms,    // RMSNorm (Zhang and Sennrich 2019)
  kLayer,  // LayerNorm (Ba et al. 2016)
};
inline constexpr EnumNames<Normalization, 2> NormalizationName{"rms", "layer"};

// Which layers have a bias. The output head never does.
enum class Biases {
  kNone,
  kNorms,  // only the LayerNorms
  kAll,    // the LayerNorms and all matrices of the blocks
};
inline constexpr EnumNames<Biases, 3> BiasesName{"none", "norms", "all"};

// How the model encodes the positions of its tokens.
enum class Positions {
  kRope,     // queries and keys are rotated (Su et al. 2021)
  kLearned,  // a learned vector per position, added to the embedding
};
inline constexpr EnumNames<Positions, 2> PositionsName{"rope", "learned"};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_ARCHITECTURE_H_

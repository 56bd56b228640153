// SPDX-License-Identifier: MIT
// Sizes of a decoder-only Transformer language model.

#ifndef TRAINBENCH_MODEL_SPEC_CONFIG_H_
#define TRAINBENCH_MODEL_SPEC_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/spec/architecture.h"
#include "model/spec/attention_variant.h"
#include "model/spec/checkpointing.h"
#include "model/spec/device_kind.h"
#include "model/spec/implementation.h"

namespace trainbench {

struct ModelConfig {
  std::string name;
  int64_t d_model = 0;
  int64_t d_ff = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t vocab = 10000;
  AttentionKind attention = AttentionKind::kNaive;
  Implementation implementation = Implementation::kTextbook;
  Checkpointing checkpointing = {};
  // Dimension of a head; 0: d_model / heads. A rank's part of a model has fewer
  // heads of the same dimension (model/spec/parallel/tensor_part.h).
  int64_t head_width = 0;
  // Heads of keys and values, each read by heads / kv_heads adjacent query
  // heads (grouped-query attention; Ainslie et al. 2023). 0: the same as heads.
  int64_t kv_heads = 0;
  // The output head uses the token embeddings as its weight (Press and Wolf
  // 2017).
  bool tied_embeddings = false;
  Mlp mlp = Mlp::kSwiglu;
  Normalization norm = Normalization::kRms;
  Biases biases = Biases::kNone;
  Positions positions = Positions::kRope;
  // The longest sequence with learned positions; 0 with rotary positions.
  int64_t context = 0;

  int64_t d_head() const {
    return head_width > 0 ? head_width : d_model / heads;
  }
  // Width of the queries: all heads together.
  int64_t d_attention() const { return heads * d_head(); }
  int64_t key_value_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  // Width of the keys, and of the values: all their heads together.
  int64_t d_key_value() const { return key_value_heads() * d_head(); }
  bool has_gate() const { return mlp == Mlp::kSwiglu; }
  // Whether the matrices of the blocks, and the norms, have biases.
  bool has_biases() const { return biases == Biases::kAll; }
  bool norms_have_biases() const {
    return norm == Normalization::kLayer && biases != Biases::kNone;
  }

  bool operator==(const ModelConfig&) const = default;
};

// The default attention of an implementation: naive, sdpa or own.
AttentionKind AttentionOf(Implementation implementation);

// InvalidArgument names the first bad field, its value and the allowed values:
// every size in [1, 2^20] (vocab in [2, 2^24]), heads that divide d_model,
// kv_heads that divide heads or are 0, an even d_head if positions are rotary
// (they rotate pairs of channels), a context if they are learned and only then,
// and biases=norms only with LayerNorm.
absl::Status Validate(const ModelConfig& config);

// Returns why the model cannot read sequences of `seq` tokens, as a message for
// the user; empty if it can.
std::string SeqUnavailable(const ModelConfig& config, int64_t seq);

// Returns why this device cannot compute the model's layers in its
// implementation, as a message for the user; empty if it can.
std::string ImplementationUnavailable(const ModelConfig& config,
                                      DeviceKind device);

// Parses "name=mine,d_model=512,d_ff=2048,layers=6,heads=8,vocab=32000" and
// validates the result. A name has 1 to 64 characters of [A-Za-z0-9._-] and is
// not one of NamedModels(). Optional:
//
//   vocab            default 10000
//   pad_vocab=128    rounds vocab up to a multiple of 128, to divide over ranks
//   kv_heads         default heads, which is stored as 0
//   tied_embeddings  true or false (default)
//   mlp, norm, biases, positions
//                    as in architecture.h; default the first name of each
//   context          required with positions=learned, else not allowed
//   implementation   textbook (default), library, fused
//   attention        a name in attention_variants.inc; default AttentionOf
//   checkpoint       as in ParseCheckpointing; default none
//
// InvalidArgument names the key or value and the allowed ones.
absl::StatusOr<ModelConfig> ParseModel(absl::string_view text);

// Inverse of ParseModel. Omits sizes and choices that have their default
// values, except vocab and attention.
std::string FormatModel(const ModelConfig& config);

// FormatModel's part for the architecture: "", or ",mlp=gelu,biases=all".
std::string FormatArchitecture(const ModelConfig& config);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_CONFIG_H_

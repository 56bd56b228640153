// SPDX-License-Identifier: MIT

#include "absl/status/statusor.h"
#include "tools/planner/query.h"

namespace trainbench {

void AddPlannerFlags(PlannerFlags& v, FlagParser& flags) {
  flags.Add("help", v.help, "internal: Print the flags and exit.");
  flags.Add("largest_batch", v.query.wants_batch,
            "internal: Also search for the largest batch.");
  flags.Add("operators", v.query.wants_operators,
            "internal: Also print the work of each operator.");
  flags.Add("models", v.models,
            "Comma-separated models: tiny, small, medium, large, xl, 2.7B; "
            "gpt2, gpt2-medium, gpt2-large, gpt2-xl, with the sizes and the "
            "vocabulary of GPT-2 (but with three feed-forward matrices and an "
            "untied head, and so more parameters); 8B, with sequences of 32768 "
            "tokens; a published model, for example GPT-2-1.5B, MPT-7B, "
            "Llama-3-8B or Nemotron-4-15B; or a name that --model defines. "
            "Default: the first six and the models of --model.");
  flags.AddRepeated(
      "model",
      [&models = v.custom_models](const std::string& text) {
        const absl::StatusOr<ModelConfig> model = ParseModel(text);
        if (!model.ok()) return std::string(model.status().message());
        models.push_back(*model);
        return std::string();
      },
      "Defines another model; may be repeated:\n"
      "name=mine,d_model=512,d_ff=2048,layers=6,heads=8\n"
      "and optionally vocab=32000 (default 10000), pad_vocab=128, kv_heads=2, "
      "tied_embeddings=true, mlp=gelu, norm=layer, biases=all, "
      "positions=learned,context=1024, attention=sdpa (default naive), "
      "implementation=fused (default textbook) and checkpoint=every_1 (default "
      "none).");
  flags.Add("batch", v.query.batch, "Sequences per step.");
  flags.Add("seq", v.query.seq, "Tokens per sequence.");
  flags.Add("tensor_ranks", v.query.tensor_ranks,
            "Tensor-parallel ranks that share each model; the answer is for "
            "the first rank's part.");
  flags.Add("precision", v.precision,
            "Comma-separated: fp32, tf32, bf16_autocast, bf16.");
  flags.Add("mode", v.mode,
            "Comma-separated: inference, forward, forward_backward, "
            "train_step.");
  flags.Add(
      "checkpoint", v.checkpoint,
      "Comma-separated: none, attention, every_1, every_2, ..., every_sqrt. "
      "The activations that the backward pass recomputes instead of storing "
      "them: the attention scores, or segments of this many blocks. Compares "
      "the largest batch and context that fit, and the FLOPs of the "
      "recomputation. Default: --model's value, otherwise none.");
  flags.Add("device_memory_gib", v.device_memory_gib,
            "Memory of the device, in GiB.");
}

}  // namespace trainbench

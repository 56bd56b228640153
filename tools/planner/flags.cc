// SPDX-License-Identifier: MIT

#include "tools/planner/flags.h"

#include "absl/status/statusor.h"

namespace trainbench {
namespace {

constexpr Range kSize = {1, 1 << 20};
constexpr Range kAxes = {1, 16};

void AddModeFlags(PlannerFlags& v, ModeFlags& flags) {
  constexpr Mode kEither = Mode::kEither;
  flags.Add(kEither, "help", v.help, "Print this and exit.");
  flags.Add(kEither, "json", v.json,
            "Print JSON, with raw numbers, instead of text.");
  flags.Add(kEither, "parallel", v.parallel,
            "Prints what data, FSDP and tensor parallelism send and where they "
            "stop paying off, with the formulas, instead of the costs of "
            "models.");
  flags.Add(kEither, "tokens", v.tokens,
            "Tokens to train on, for --mfu and --measured. With --parallel B, "
            "tokens in the whole batch.");
}

void AddModelFlags(PlannerFlags& v, ModeFlags& flags) {
  constexpr Mode kModels = Mode::kModels;
  flags.Add(kModels, "models", v.models,
            "Comma-separated models: tiny, small, medium, large, xl, 2.7B; "
            "gpt2, gpt2-medium, gpt2-large, gpt2-xl, with the sizes and the "
            "vocabulary of GPT-2 (but with three matrices in the feed-forward "
            "part and a head of its own, so with more parameters); 8B, whose "
            "sequences have 32768 tokens; or a name that --model defines. "
            "Default: the first six and those of --model.");
  flags.AddRepeated(
      "model",
      [&models = v.custom_models](const std::string& text) {
        const absl::StatusOr<ModelConfig> model = ParseModel(text);
        if (!model.ok()) return std::string(model.status().message());
        models.push_back(*model);
        return std::string();
      },
      "Defines one more model; repeatable:\n"
      "name=mine,d_model=512,d_ff=2048,layers=6,heads=8\n"
      "and, if wanted, vocab=32000 (default 10000), attention=sdpa (default "
      "naive), implementation=fused (default textbook) and checkpoint=every_1 "
      "(default none).");
  flags.Add(kModels, "batch", v.batch, "Sequences in one step.");
  flags.Add(kModels, "seq", v.seq, "Tokens in one sequence.");
  flags.Add(kModels, "precision", v.precision,
            "Comma-separated: fp32, tf32, bf16_autocast, bf16.");
  flags.Add(kModels, "mode", v.mode,
            "Comma-separated: inference, forward, forward_backward, "
            "train_step.");
  flags.Add(kModels, "checkpoint", v.checkpoint,
            "Comma-separated: none, attention, every_1, every_2, ..., "
            "every_sqrt. What the backward pass computes again instead of "
            "keeping it: the scores of attention, or segments of so many "
            "blocks. Compares the batch and the context that fit with the "
            "FLOPs that they cost. Default: what --model says, else none.");
  flags.Add(kModels, "device_memory_gib", v.device_memory_gib,
            "Memory of the device, in units of 2^30 bytes.");
}

void AddTrainingFlags(PlannerFlags& v, ModeFlags& flags) {
  constexpr Mode kModels = Mode::kModels;
  flags.Add(kModels, "mfu", v.mfu,
            "Says how long training takes at this share of --peak_tflops, "
            "above 0, up to 1.");
  flags.Add(kModels, "peak_tflops", v.peak_tflops,
            "Peak of the device in 10^12 FLOP/s, for --mfu. With --measured "
            "the measured share of it is printed, too.");
  flags.Add(kModels, "measured", v.measured,
            "Says how long training takes at the rates of `model_size` in this "
            "result.");
}

void AddParallelFlags(PlannerFlags& v, ModeFlags& flags) {
  constexpr Mode kParallel = Mode::kParallel;
  flags.Add(kParallel, "d_model", v.d_model, kSize, "D.");
  flags.Add(kParallel, "d_ff", v.d_ff, kSize, "F.");
  flags.Add(kParallel, "ffn_matrices", v.ffn_matrices, Range{1, 16},
            "m, D x F matrices of the layer whose bounds are printed; 3 in a "
            "SwiGLU. (The sharded model's blocks have 2.)");
  flags.Add(kParallel, "blocks", v.blocks, kSize,
            "L, blocks of the sharded model.");
  flags.Add(kParallel, "state_bytes_per_param", v.state_bytes_per_param,
            Range{0.125, 1024}, "weight, gradient and optimizer state.");
  flags.Add(kParallel, "value_bytes", v.value_bytes, Range{0.125, 16},
            "b, bytes of an activation, or a weight as sent.");
  flags.Add(kParallel, "device_tflops", v.device_tflops, kAmount,
            "C, of one device, in 10^12 FLOP/s.");
  flags.Add(kParallel, "link_gb_per_s", v.link_gb_per_s, kAmount,
            "W, of one axis of links in both directions, in 10^9 bytes/s.");
  flags.Add(kParallel, "fsdp_ranks", v.fsdp_ranks, kSize, "X.");
  flags.Add(kParallel, "tensor_ranks", v.tensor_ranks, kSize, "Y.");
  flags.Add(kParallel, "fsdp_axes", v.fsdp_axes, kAxes,
            "M_X, axes of the links.");
  flags.Add(kParallel, "tensor_axes", v.tensor_axes, kAxes,
            "M_Y, axes of the links.");
}

void AddDeviceFlags(PlannerFlags& v, ModeFlags& flags) {
  constexpr Mode kParallel = Mode::kParallel;
  flags.Add(kParallel, "gpu_gb", v.gpu_gb, kAmount,
            "memory of a GPU; printed for units of 10^9 and of 2^30 bytes.");
  flags.Add(kParallel, "fsdp_device_gb", v.fsdp_device_gb, kAmount,
            "memory of a device under FSDP, in 10^9 bytes.");
  flags.Add(kParallel, "saved_tokens", v.saved_tokens, Range{0, kMaxTokens},
            "n, tokens whose activations are saved under FSDP, half of them "
            "sharded.");
  flags.Add(kParallel, "ranks", v.ranks, kSize, "N, of a data-parallel job.");
  flags.Add(kParallel, "gradient_gb", v.gradient_gb, kAmount,
            "S, all gradients, in 10^9 bytes.");
  flags.Add(kParallel, "links", v.links,
            "comma-separated NAME:GB_PER_S:US, links for which to print the "
            "best bucket, each with its bandwidth in 10^9 bytes/s and the cost "
            "of one call.");
}

}  // namespace

void AddPlannerFlags(PlannerFlags& values, ModeFlags& flags) {
  AddModeFlags(values, flags);
  AddModelFlags(values, flags);
  AddTrainingFlags(values, flags);
  AddParallelFlags(values, flags);
  AddDeviceFlags(values, flags);
}

}  // namespace trainbench

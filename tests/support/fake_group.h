// SPDX-License-Identifier: MIT
// A process group without other ranks; gathers return this rank's data.

#ifndef TRAINBENCH_TESTS_SUPPORT_FAKE_GROUP_H_
#define TRAINBENCH_TESTS_SUPPORT_FAKE_GROUP_H_

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

class FakeGroup : public ProcessGroup {
 public:
  // `cpu_group`, if any, must outlive this object.
  FakeGroup(int rank, int size, ProcessGroup* cpu_group = nullptr,
            CommBackend backend = CommBackend::kNccl)
      : rank_(rank), size_(size), cpu_group_(cpu_group), backend_(backend) {}

  // The number of collectives called.
  int calls() const { return calls_; }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  CommBackend backend() const override { return backend_; }
  ProcessGroup& cpu_group() override {
    return cpu_group_ == nullptr ? *this : *cpu_group_;
  }
  Collective StartAllReduce(const at::Tensor& all) override {
    Call(CollectiveKind::kAllReduce, all);
    return nullptr;
  }
  Collective StartReduceScatter(const at::Tensor& output,
                                const at::Tensor& input) override {
    ReduceScatter(output, input);
    return nullptr;
  }
  Collective StartAllGather(const at::Tensor& output,
                            const at::Tensor& input) override {
    AllGather(output, input);
    return nullptr;
  }
  void AllReduceMax(const at::Tensor& all) override {
    Call(CollectiveKind::kAllReduce, all);
  }
  void Broadcast(const at::Tensor& all, int root) override {
    Call(CollectiveKind::kBroadcast, all, root);
  }
  void ReduceScatter(const at::Tensor& output,
                     const at::Tensor& input) override {
    Call(CollectiveKind::kReduceScatter, input);
    output.detach().copy_(input.chunk(size_)[static_cast<std::size_t>(rank_)]);
  }
  void AllGather(const at::Tensor& output, const at::Tensor& input) override {
    Call(CollectiveKind::kAllGather, output);
    // The data of the other ranks equal this rank's data.
    const auto parts = output.detach().chunk(size_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].data_ptr() != input.data_ptr()) parts[i].copy_(input);
    }
  }
  void Barrier() override { ++calls_; }
  absl::StatusOr<ProcessGroup*> Split(const std::vector<int>& colors) override {
    auto& part = parts_[colors];
    if (part == nullptr) {
      const auto end = colors.begin() + rank_;
      part = std::make_unique<FakeGroup>(
          static_cast<int>(std::count(colors.begin(), end, *end)),
          static_cast<int>(std::count(colors.begin(), colors.end(), *end)),
          nullptr, backend_);
    }
    return part.get();
  }
  void Close() override {}
  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const override {
    throw std::logic_error("c10d has no such group");
  }

 private:
  void Call(CollectiveKind kind, const at::Tensor& whole, int root = 0) {
    ++calls_;
    Record({.kind = kind,
            .bytes = static_cast<int64_t>(whole.nbytes()),
            .root = root});
  }

  int rank_, size_;
  ProcessGroup* cpu_group_;
  CommBackend backend_;
  int calls_ = 0;
  std::map<std::vector<int>, std::unique_ptr<FakeGroup>> parts_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_FAKE_GROUP_H_

// SPDX-License-Identifier: MIT

#include "tools/mesh/booked_group.h"

#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>

namespace trainbench {
namespace {

class Booked final : public Collective {
 public:
  explicit Booked(std::vector<at::Tensor> tensors)
      : tensors_(std::move(tensors)) {}
  void Wait() override {}

 private:
  std::vector<at::Tensor> tensors_;
};

[[noreturn]] void NoStepDoes(const char* what) {
  C10_THROW_ERROR(NotImplementedError,
                  std::string("a rank without others cannot ") + what);
}

}  // namespace

void Bookings::Add(MeshAxis axis, CollectiveKind kind,
                   const at::Tensor& whole) {
  traffic_.forward.push_back(
      {axis, kind, 1, static_cast<int64_t>(whole.nbytes())});
}

std::vector<CollectiveCalls> Bookings::Take() {
  MeshTraffic all;
  all.backward = std::exchange(traffic_.forward, {});
  return all.Step();
}

BookedGroup::BookedGroup(MeshAxis axis, int rank, int size, Bookings& bookings)
    : axis_(axis), rank_(rank), size_(size), bookings_(bookings) {}

std::unique_ptr<Collective> BookedGroup::Book(CollectiveKind kind,
                                              const at::Tensor& whole,
                                              std::vector<at::Tensor> tensors) {
  if (size_ > 1) bookings_.Add(axis_, kind, whole);
  return std::make_unique<Booked>(std::move(tensors));
}

std::unique_ptr<Collective> BookedGroup::StartAllReduce(
    const at::Tensor& tensor) {
  return Book(CollectiveKind::kAllReduce, tensor, {tensor});
}

std::unique_ptr<Collective> BookedGroup::StartReduceScatter(
    const at::Tensor& output, const at::Tensor& input) {
  return Book(CollectiveKind::kReduceScatter, input, {output, input});
}

std::unique_ptr<Collective> BookedGroup::StartAllGather(
    const at::Tensor& output, const at::Tensor& input) {
  return Book(CollectiveKind::kAllGather, output, {output, input});
}

void BookedGroup::AllReduceMax(const at::Tensor& tensor) {
  StartAllReduce(tensor)->Wait();
}

void BookedGroup::ReduceScatter(const at::Tensor& output,
                                const at::Tensor& input) {
  StartReduceScatter(output, input)->Wait();
}

void BookedGroup::AllGather(const at::Tensor& output, const at::Tensor& input) {
  StartAllGather(output, input)->Wait();
}

void BookedGroup::Broadcast(const at::Tensor&, int) { NoStepDoes("broadcast"); }

const c10::intrusive_ptr<c10d::ProcessGroup>& BookedGroup::c10d_group() const {
  NoStepDoes("serve c10d's Reducer");
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> BookedGroup::Split(
    const std::vector<int>&) {
  NoStepDoes("split its group");
}

}  // namespace trainbench

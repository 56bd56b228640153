// SPDX-License-Identifier: MIT

#include "model/distributed/comm/process_group.h"

#include <c10/core/Allocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/distributed/comm/backends.h"
#include "model/distributed/comm/fake_backend.h"
#include "model/distributed/comm/gloo_exchanges.h"
#include "model/distributed/comm/rendezvous.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

c10::intrusive_ptr<c10d::Backend> MakeBackend(const StorePtr& store,
                                              const GroupOptions& options) {
  return options.backend == CommBackend::kGloo
             ? MakeGlooBackend(store, options)
             : MakeNcclBackend(store, options);
}

// Gloo's thread releases a finished work and its tensor slightly later. If it
// were the last owner, it would free memory on its own thread, where this
// thread's memory profiling does not see it. So while profiling is on, wait for
// the release. Gives up if another owner keeps the work.
void WaitForRelease(const WorkPtr& work) {
  if (!c10::memoryProfilingEnabled()) return;
  for (int i = 0; i < 100'000 && work.use_count() > 1; ++i) {
    std::this_thread::yield();
  }
}

// Calls the backend directly: c10d's dispatched operators would add a schema
// look-up and boxing to each call.
class C10dGroup final : public ProcessGroup {
 public:
  C10dGroup(const StorePtr& store, const GroupOptions& options,
            const BackendMaker& make_backend)
      : store_(store), options_(options), make_backend_(make_backend) {
    const bool gloo = options.backend == CommBackend::kGloo;
    // Creating NCCL's backend does not involve other ranks yet. Without a GPU,
    // every rank fails here, before any rank waits for another in Gloo.
    backend_ = make_backend(store, options);
    if (!gloo) {
      GroupOptions on_cpu = options;
      on_cpu.backend = CommBackend::kGloo;
      cpu_group_ = std::make_unique<C10dGroup>(SubStore("cpu", store), on_cpu,
                                               make_backend);
    }
    group_ = c10::make_intrusive<c10d::ProcessGroup>(store, options.rank,
                                                     options.size);
    const auto type = gloo ? c10d::ProcessGroup::BackendType::GLOO
                           : c10d::ProcessGroup::BackendType::NCCL;
    group_->setBackend(gloo ? c10::kCPU : c10::kCUDA, type, backend_);
    group_->setDefaultBackend(type);
  }

  ~C10dGroup() override {
    if (closed_) return;
    try {
      backend_->abort();
    } catch (const std::exception&) {
      // A destructor cannot report errors; the failed rank's was reported.
    }
  }

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  CommBackend backend() const override { return options_.backend; }
  ProcessGroup& cpu_group() override {
    return cpu_group_ == nullptr ? *this : *cpu_group_;
  }

  Collective StartAllReduce(const at::Tensor& tensor) override {
    Record(CollectiveKind::kAllReduce, tensor);
    return Start({tensor}, [&] { return Reduce(tensor, c10d::ReduceOp::SUM); });
  }

  Collective StartReduceScatter(const at::Tensor& output,
                                const at::Tensor& input) override {
    Record(CollectiveKind::kReduceScatter, input);
    if (options_.backend == CommBackend::kGloo) {
      return StartDirectReduceScatter(*backend_, output, input);
    }
    at::Tensor mine = output, all = input;
    return Start({mine, all},
                 [&] { return backend_->_reduce_scatter_base(mine, all); });
  }

  Collective StartAllGather(const at::Tensor& output,
                            const at::Tensor& input) override {
    Record(CollectiveKind::kAllGather, output);
    if (options_.backend == CommBackend::kGloo) {
      CopyUnlessSame(input, ChunkOf(output));
      return StartDirectAllGather(*backend_, output);
    }
    at::Tensor all = output, mine = input;
    return Start({all, mine},
                 [&] { return backend_->_allgather_base(all, mine); });
  }

  void AllReduceMax(const at::Tensor& tensor) override {
    Record(CollectiveKind::kAllReduce, tensor);
    Wait([&] { return Reduce(tensor, c10d::ReduceOp::MAX); });
  }

  void Broadcast(const at::Tensor& tensor, int root) override {
    ProcessGroup::Record({.kind = CollectiveKind::kBroadcast,
                          .bytes = static_cast<int64_t>(tensor.nbytes()),
                          .root = root});
    std::vector<at::Tensor> tensors = {tensor};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    Wait([&] { return backend_->broadcast(tensors, options); });
  }

  void ReduceScatter(const at::Tensor& output,
                     const at::Tensor& input) override {
    if (options_.backend == CommBackend::kNccl) {
      return Await(StartReduceScatter(output, input));
    }
    Record(CollectiveKind::kReduceScatter, input, /*async_op=*/false);
    Communicate([&] { RingReduceScatter(*backend_, input); });
    CopyUnlessSame(ChunkOf(input), output);
  }

  void AllGather(const at::Tensor& output, const at::Tensor& input) override {
    GatherBlocking(output, input, kUsualTag);
  }

  void AllGatherApart(const at::Tensor& output,
                      const at::Tensor& input) override {
    GatherBlocking(output, input, kUsualTag + 1);
  }

  void Barrier() override {
    Wait([&] { return backend_->barrier(); });
  }

  // Unavailable, with c10d's reason, if the ranks do not meet in time.
  static absl::StatusOr<std::unique_ptr<ProcessGroup>> Meet(
      const StorePtr& store, const GroupOptions& options,
      const BackendMaker& make_backend) {
    std::unique_ptr<ProcessGroup> group;
    try {
      Communicate([&] {
        group = std::make_unique<C10dGroup>(store, options, make_backend);
        // Gloo lets a rank continue once its own connections exist. If it
        // exited before the others were connected, they would consider it
        // failed.
        group->cpu_group().Barrier();
      });
    } catch (const c10::Error& error) {
      return absl::UnavailableError(
          absl::StrCat("did not meet all ", options.size,
                       " ranks: ", error.what_without_backtrace()));
    }
    return group;
  }

  absl::StatusOr<ProcessGroup*> Split(const std::vector<int>& colors) override {
    if (colors.size() != static_cast<std::size_t>(options_.size)) {
      return absl::InvalidArgumentError(
          absl::StrCat(colors.size(), " colors are given; allowed: one for ",
                       "each of ", options_.size, " ranks"));
    }
    const auto known = parts_.find(colors);
    if (known != parts_.end()) return known->second.get();
    const auto end = colors.begin() + options_.rank;
    GroupOptions part = options_;
    part.rank = static_cast<int>(std::count(colors.begin(), end, *end));
    part.size =
        static_cast<int>(std::count(colors.begin(), colors.end(), *end));
    ASSIGN_OR_RETURN(
        auto group,
        Meet(SubStore(absl::StrCat("split", parts_.size(), ".color", *end),
                      store_),
             part, make_backend_));
    return parts_.emplace(colors, std::move(group)).first->second.get();
  }

  void Close() override {
    for (const auto& [colors, part] : parts_) part->Close();
    if (cpu_group_ != nullptr) CheckNccl();
    backend_->shutdown();
    if (cpu_group_ != nullptr) cpu_group_->Close();
    closed_ = true;
  }

  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const override {
    return group_;
  }

 private:
  // NCCL may report an error to one rank, but all have waited for it.
  void CheckNccl() {
    const std::string mine = NcclFailure(*backend_);
    const at::Tensor any = at::full({1}, mine.empty() ? 0.0 : 1.0);
    cpu_group_->AllReduceMax(any);
    if (any.item<double>() == 0) return;
    C10_THROW_ERROR(
        DistBackendError,
        absl::StrCat("a collective of NCCL failed",
                     mine.empty() ? " on another rank" : ": ", mine));
  }

  void GatherBlocking(const at::Tensor& output, const at::Tensor& input,
                      int tag) {
    if (options_.backend == CommBackend::kNccl) {
      return Await(StartAllGather(output, input));
    }
    Record(CollectiveKind::kAllGather, output, /*async_op=*/false);
    CopyUnlessSame(input, ChunkOf(output));
    Communicate([&] { RingAllGather(*backend_, output, tag); });
  }

  void Record(CollectiveKind kind, const at::Tensor& whole,
              bool async_op = true) {
    ProcessGroup::Record({.kind = kind,
                          .bytes = static_cast<int64_t>(whole.nbytes()),
                          .async_op = async_op});
  }

  Collective Start(std::vector<at::Tensor> tensors,
                   const std::function<WorkPtr()>& start) {
    WorkPtr work;
    try {
      Communicate([&] { work = start(); });
    } catch (const c10::DistBackendError& error) {
      // c10d only says that the communicator was aborted.
      const std::string cause = NcclFailure(*backend_);
      if (cause.empty()) throw;
      C10_THROW_ERROR(DistBackendError,
                      absl::StrCat(error.what_without_backtrace(), cause));
    }
    const bool over_gloo = options_.backend == CommBackend::kGloo;
    return [work = std::move(work), tensors = std::move(tensors), over_gloo] {
      Communicate([&] { work->wait(); });
      if (over_gloo) WaitForRelease(work);
    };
  }

  void Wait(const std::function<WorkPtr()>& start) { Await(Start({}, start)); }

  WorkPtr Reduce(const at::Tensor& tensor, c10d::ReduceOp operation) {
    std::vector<at::Tensor> tensors = {tensor};
    c10d::AllreduceOptions options;
    options.reduceOp = std::move(operation);
    return backend_->allreduce(tensors, options);
  }

  StorePtr store_;
  GroupOptions options_;
  BackendMaker make_backend_;
  std::map<std::vector<int>, std::unique_ptr<ProcessGroup>>
      parts_;                             // by colors
  std::unique_ptr<C10dGroup> cpu_group_;  // null over Gloo
  c10::intrusive_ptr<c10d::Backend> backend_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  bool closed_ = false;
};

}  // namespace

void Communicate(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    TORCH_CHECK_WITH(DistNetworkError, false, error.what());
  }
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> ProcessGroup::Join(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank is ", options.rank, " of ", options.size,
                     "; allowed: 0 to one less than the number of ranks"));
  }
  return C10dGroup::Meet(store, options, MakeBackend);
}

std::unique_ptr<ProcessGroup> ProcessGroup::Over(
    const BackendMaker& make_backend, const GroupOptions& options) {
  return std::make_unique<C10dGroup>(c10::make_intrusive<c10d::HashStore>(),
                                     options, make_backend);
}

std::unique_ptr<ProcessGroup> ProcessGroup::Fake(const GroupOptions& options) {
  return Over(
      [](const StorePtr&, const GroupOptions& part) {
        return c10::make_intrusive<FakeBackend>(part.rank, part.size);
      },
      options);
}

at::Tensor ProcessGroup::ChunkOf(const at::Tensor& all) const {
  const int64_t n = all.size(0) / size();
  return all.narrow(0, rank() * n, n);
}

CollectiveRecorder::CollectiveRecorder(ProcessGroup& group) : group_(group) {
  TORCH_CHECK(group.recorder_ == nullptr, "the group is recorded already");
  group.recorder_ = this;
}

CollectiveRecorder::~CollectiveRecorder() { group_.recorder_ = nullptr; }

Traffic CollectiveRecorder::traffic() const {
  Traffic traffic;
  for (const CollectiveCall& call : calls_) {
    const bool sends =
        call.kind != CollectiveKind::kBroadcast || call.root == group_.rank();
    traffic.Add(call.kind, sends ? call.bytes : 0);
  }
  return traffic;
}

}  // namespace trainbench

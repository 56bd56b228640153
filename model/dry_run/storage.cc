// SPDX-License-Identifier: MIT

#include "model/dry_run/storage.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace trainbench::dry {
namespace {

using c10::DispatchKey;

// The context of a dry storage's pointer.
struct Block {
  c10::Storage meta;
  int64_t bytes;
  c10::Device device;
  void* address = nullptr;
};

void Report(const Block& block, int64_t bytes) {
  if (bytes == 0) return;
  c10::reportMemoryUsageToProfiler(block.address, bytes, 0, 0, block.device);
}

void Delete(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  Report(*block, -block->bytes);
}

// Returns a unique address that no process can use: bits 62 and 63 differ, so
// an access traps. Aligned like LibTorch's allocators, because kernels check
// it.
void* NextAddress(int64_t bytes) {
  constexpr std::uintptr_t kAlignment = 512;
  static std::atomic<std::uintptr_t> next = std::uintptr_t{1} << 62;
  const auto size = static_cast<std::uintptr_t>(bytes);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(
      next.fetch_add((size + kAlignment - 1) / kAlignment * kAlignment));
}

c10::DataPtr MakeBlock(const c10::Storage& meta, c10::Device device) {
  const auto bytes = static_cast<int64_t>(meta.nbytes());
  auto block = std::make_unique<Block>(Block{meta, bytes, device});
  if (bytes > 0) block->address = NextAddress(bytes);
  Report(*block, bytes);
  void* const address = block->address;
  return {address, block.release(), &Delete, device};
}

Block* BlockOf(const at::Tensor& x) {
  if (!x.defined() || !x.has_storage()) return nullptr;
  return x.storage().data_ptr().cast_context<Block>(&Delete);
}

c10::Storage MakeStorage(std::size_t bytes, c10::DataPtr data,
                         c10::Allocator* allocator = nullptr) {
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, std::move(data), allocator,
      /*resizable=*/false));
}

c10::Storage MetaStorage(std::size_t bytes) {
  return MakeStorage(bytes, c10::DataPtr(nullptr, c10::Device(c10::kMeta)));
}

// For callers that reallocate a storage, as model/distributed/fsdp does.
class DryAllocator final : public c10::Allocator {
 public:
  explicit DryAllocator(c10::Device device) : device_(device) {}
  c10::DataPtr allocate(std::size_t bytes) override {
    return MakeBlock(MetaStorage(bytes), device_);
  }
  void copy_data(void*, const void*, std::size_t) const override {}

 private:
  const c10::Device device_;
};

// Never destroyed, because storages point to it.
c10::Allocator* AllocatorOf(c10::Device device) {
  static std::mutex mutex;
  static auto& all =
      *new std::unordered_map<c10::Device, std::unique_ptr<DryAllocator>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<DryAllocator>& found = all[device];
  if (found == nullptr) found = std::make_unique<DryAllocator>(device);
  return found.get();
}

}  // namespace

DispatchKey KeyOf(c10::Device device) {
  TORCH_CHECK(device.is_cpu() || device.is_cuda(), "a dry run has no device ",
              device, "; allowed: cpu, cuda");
  return device.is_cuda() ? DispatchKey::CUDA : DispatchKey::CPU;
}

bool IsDry(const at::Tensor& x) { return BlockOf(x) != nullptr; }

at::Tensor In(c10::Storage storage, DispatchKey key, const at::Tensor& like) {
  at::Tensor x = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), like.dtype());
  c10::TensorImpl* const impl = x.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(),
                              like.storage_offset());
  // Wrapped numbers have a lower priority in type promotion.
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  return x;
}

at::Tensor MetaOf(const at::Tensor& x) {
  const Block* const block = BlockOf(x);
  c10::Storage storage =
      block != nullptr ? block->meta : MetaStorage(x.storage().nbytes());
  return In(std::move(storage), DispatchKey::Meta, x);
}

at::Tensor NewLike(const at::Tensor& meta, c10::Device device) {
  return In(MakeStorage(meta.storage().nbytes(),
                        MakeBlock(meta.storage(), device), AllocatorOf(device)),
            KeyOf(device), meta);
}

void Resize(const at::Tensor& dry, const at::Tensor& meta) {
  c10::StorageImpl* const storage = dry.storage().unsafeGetStorageImpl();
  if (storage->nbytes() != meta.storage().nbytes()) {
    storage->set_data_ptr(MakeBlock(meta.storage(), dry.device()));
    storage->set_nbytes(meta.storage().nbytes());
  }
  if (dry.sizes() != meta.sizes() || dry.strides() != meta.strides()) {
    dry.unsafeGetTensorImpl()->set_sizes_and_strides(
        meta.sizes(), meta.strides(), meta.storage_offset());
  }
}

}  // namespace trainbench::dry

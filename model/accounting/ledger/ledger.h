// SPDX-License-Identifier: MIT
// The tensors of a step, in the order in which the step makes and frees them.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LEDGER_LEDGER_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LEDGER_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/spec/component.h"

namespace trainbench::ledger {

class Ledger;

// A tensor of the ledger. As of an at::Tensor, copies are the same tensor, and
// it is freed with the last of them. The ledger outlives them.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept { Swap(other); }
  Tensor& operator=(const Tensor& other) { return *this = Tensor(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor old = std::move(other);
    Swap(old);
    return *this;
  }
  ~Tensor() { Reset(); }

  explicit operator bool() const { return ledger_ != nullptr; }
  void Reset();
  int64_t bytes() const;
  bool is_shared() const;  // there is another copy

 private:
  friend class Ledger;

  void Swap(Tensor& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(index_, other.index_);
  }

  Ledger* ledger_ = nullptr;
  std::size_t index_ = 0;
};

template <typename... Tensors>
void Free(Tensors&... tensors) {
  (tensors.Reset(), ...);
}

// Adds a gradient to the sum of others, which needs no tensor of its own.
inline void AddInPlace(Tensor& sum, Tensor gradient) {
  if (!sum) sum = std::move(gradient);
}

// Elements, and how they follow from the sizes of the model: "B h T^2".
struct TensorSize {
  const char* formula = "";
  int64_t elements = 0;
};

enum class TensorType { kFloat, kBfloat16, kLong, kBool };

const char* TypeName(TensorType type);  // "float", "bfloat16", "long", "bool"
int64_t BytesPerElement(TensorType type);

// All texts are literals.
struct TensorName {
  // NOLINTNEXTLINE(google-explicit-constructor): most names are one literal.
  TensorName(const char* name, const char* of_what = "")
      : text(name), of(of_what) {}

  std::string Joined() const { return std::string(text) + of; }

  const char* text;
  const char* of;  // goes on where `text` ends
};

struct TensorRecord {
  TensorName name;
  Component component;
  TensorSize size;
  TensorType type;
  int64_t layer = -1;  // -1: outside the blocks
  int uses = 0;        // 0: freed

  int64_t bytes() const { return BytesPerElement(type) * size.elements; }
};

// A part of the step, and its highest point.
struct LedgerMoment {
  TensorName name;
  int64_t bytes = 0;           // the most that was alive
  int64_t gradient_bytes = 0;  // gradients of parameters among them
  std::size_t event = 0;       // how many events led there
};

struct LedgerEvent {
  std::size_t tensor;  // in tensors()
  bool freed;          // else made
};

class Ledger {
 public:
  // What follows belongs to this moment.
  void Enter(const TensorName& moment);
  // What follows belongs to the block with this index, or -1.
  void EnterLayer(int64_t layer) { layer_ = layer; }
  int64_t layer() const { return layer_; }

  Tensor Make(const TensorName& name, Component component,
              const TensorSize& size, TensorType type);
  // Bytes that come (or go, if negative) without tensors of their own here,
  // and how many of them are gradients of parameters.
  void Add(int64_t bytes, int64_t gradient_bytes = 0);
  // The tensor is a complete gradient of a parameter from now on.
  void CountGradient(const Tensor& tensor) { gradients_ += tensor.bytes(); }

  int64_t live() const { return live_; }
  int64_t gradients() const { return gradients_; }
  const std::vector<LedgerMoment>& moments() const { return moments_; }
  // The highest moment; there must be one.
  const LedgerMoment& peak() const;
  const std::vector<TensorRecord>& tensors() const { return tensors_; }
  // The tensors that were alive after so many events, in the order of making.
  std::vector<TensorRecord> AliveAfter(std::size_t events) const;
  const std::vector<LedgerEvent>& events() const { return events_; }

 private:
  friend class Tensor;

  void Free(std::size_t index);
  void Raise(int64_t bytes);

  int64_t live_ = 0;
  int64_t gradients_ = 0;
  int64_t layer_ = -1;
  std::vector<TensorRecord> tensors_;
  std::vector<LedgerEvent> events_;
  std::vector<LedgerMoment> moments_;
};

}  // namespace trainbench::ledger

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LEDGER_LEDGER_H_

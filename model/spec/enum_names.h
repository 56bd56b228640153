// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_SPEC_ENUM_NAMES_H_
#define TRAINBENCH_MODEL_SPEC_ENUM_NAMES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/spec/not_allowed.h"

namespace trainbench {

// The names of an enumeration with values 0, 1, ..., in order:
//
//   enum class Precision { kFp32, kTf32 };
//   inline constexpr EnumNames<Precision, 2> PrecisionName{"fp32", "tf32"};
//
// PrecisionName(Precision::kFp32) is "fp32"; a value without a name throws
// std::out_of_range.
template <typename Enum, std::size_t kCount>
class EnumNames {
 public:
  template <typename... Texts>
  explicit constexpr EnumNames(Texts... names) : names_{names...} {
    static_assert(sizeof...(Texts) == kCount, "one name for each value");
  }

  constexpr absl::string_view operator()(Enum value) const {
    return names_.at(static_cast<std::size_t>(value));
  }

  // The name of the value, or `none` without one.
  std::string Or(std::optional<Enum> value, absl::string_view none) const {
    return std::string(value ? (*this)(*value) : none);
  }

  // All values, in order.
  static constexpr std::array<Enum, kCount> values() {
    std::array<Enum, kCount> all = {};
    for (std::size_t i = 0; i < kCount; ++i) all[i] = static_cast<Enum>(i);
    return all;
  }

  // "fp32, tf32".
  std::string Joined() const { return absl::StrJoin(names_, ", "); }

  // The value with this name. InvalidArgument names the value and lists all
  // names.
  absl::StatusOr<Enum> Parse(absl::string_view what,
                             absl::string_view name) const {
    for (const Enum value : values()) {
      if (name == (*this)(value)) return value;
    }
    return TextNotAllowed(what, name, Joined());
  }

 private:
  std::array<absl::string_view, kCount> names_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_ENUM_NAMES_H_

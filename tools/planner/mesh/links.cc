// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/links.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/spec/config.h"
#include "model/spec/not_allowed.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

constexpr double kLeast = 1e-6, kMost = 1e9;

absl::Status CheckAmount(absl::string_view what, double value) {
  if (value >= kLeast && value <= kMost) return absl::OkStatus();
  return NotAllowed(what, value, absl::StrCat(kLeast, " to ", kMost));
}

absl::StatusOr<Link> ParseLink(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double gb_per_s = 0, us = 0;
  if (parts.size() != 3 || !IsName(parts[0]) ||
      !absl::SimpleAtod(parts[1], &gb_per_s) ||
      !absl::SimpleAtod(parts[2], &us)) {
    return absl::InvalidArgumentError(
        absl::StrCat("links has '", text,
                     "'; allowed: NAME:GB_PER_S:US, separated by commas"));
  }
  const std::string link = absl::StrCat("links has '", text, "': ");
  RETURN_IF_ERROR(CheckAmount(link + "GB_PER_S", gb_per_s));
  RETURN_IF_ERROR(CheckAmount(link + "US", us));
  return Link{parts[0], {us, 1e6 / (gb_per_s * 1e9)}};
}

}  // namespace

absl::StatusOr<std::vector<Link>> ParseLinks(absl::string_view text) {
  std::vector<Link> links;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    ASSIGN_OR_RETURN(auto link, ParseLink(item));
    for (const Link& other : links) {
      if (other.name == link.name) {
        return absl::InvalidArgumentError(
            absl::StrCat("links has '", link.name, "' twice; allowed: once"));
      }
    }
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace trainbench

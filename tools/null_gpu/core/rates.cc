// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/rates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

constexpr size_t kNearest = 5;

}  // namespace

double Rates::Peak(Arithmetic arithmetic) const {
  switch (arithmetic) {
    case Arithmetic::kBf16:
    case Arithmetic::kFp16:
      return bf16;
    case Arithmetic::kTf32:
      return tf32;
    default:
      return fp32;
  }
}

double Rates::ProductShare(double flops_us, double bytes_us) const {
  std::vector<std::pair<double, double>> near;  // distance, log of the share
  for (const auto& [product_flops_us, product_bytes_us, share] : products) {
    near.emplace_back(std::hypot(std::log(product_flops_us / flops_us),
                                 std::log(product_bytes_us / bytes_us)),
                      std::log(share));
  }
  const size_t count = std::min(kNearest, near.size());
  std::partial_sort(near.begin(),
                    near.begin() + static_cast<std::ptrdiff_t>(count),
                    near.end());
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += near[i].second;
  return std::exp(sum / static_cast<double>(count));
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Rates, fp32, tf32, bf16, memory,
                                   memory_share, attention, attention_half_seq,
                                   attention_backward, link, link_us, host_link,
                                   products)

Rates ReadRates(const std::string& file) {
  const std::string place = "the rates in " + file + ": ";
  try {
    const auto json = nlohmann::json::parse(std::ifstream(file));
    const auto values = json.flatten();
    for (const auto& [name, value] : values.items()) {
      if (value <= 0) Die(place + name + " is not above 0");
    }
    return json.get<Rates>();
  } catch (const nlohmann::json::exception& error) {
    Die(place + error.what());
  }
}

}  // namespace null_gpu

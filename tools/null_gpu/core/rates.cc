// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/rates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

constexpr size_t kNearest = 5;

double Distance(const Rates::Product& product, double flops_us,
                double bytes_us) {
  return std::hypot(std::log(product.flops_us / flops_us),
                    std::log(product.bytes_us / bytes_us));
}

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
  for (const Product& product : products) {
    near.emplace_back(Distance(product, flops_us, bytes_us),
                      std::log(product.share));
  }
  const size_t count = std::min(kNearest, near.size());
  std::partial_sort(near.begin(),
                    near.begin() + static_cast<std::ptrdiff_t>(count),
                    near.end());
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += near[i].second;
  return std::exp(sum / static_cast<double>(count));
}

Rates ReadRates(const std::string& file) {
  Rates rates;
  const std::map<std::string, double*> values = {
      {"fp32", &rates.fp32},
      {"tf32", &rates.tf32},
      {"bf16", &rates.bf16},
      {"memory", &rates.memory},
      {"memory_share", &rates.memory_share},
      {"attention", &rates.attention},
      {"attention_half_seq", &rates.attention_half_seq},
      {"attention_backward", &rates.attention_backward},
      {"link", &rates.link},
      {"link_us", &rates.link_us},
      {"host_link", &rates.host_link}};
  const auto refuse = [&file](const std::string& why, const std::string& what) {
    Die("the rates in " + file + " " + why + " \"" + what + "\"");
  };
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    bool is_valid = values.contains(name);
    if (is_valid) words >> *values.at(name);
    if (name == "product") {
      auto& [flops_us, bytes_us, share] = rates.products.emplace_back();
      words >> flops_us >> bytes_us >> share;
      is_valid = std::min({flops_us, bytes_us, share}) > 0;
    }
    if (!words || !is_valid) refuse("have a line", line);
  }
  for (const auto& [name, value] : values) {
    if (*value <= 0) refuse("lack", name);
  }
  if (rates.products.empty()) refuse("lack", "products");
  return rates;
}

}  // namespace null_gpu

// SPDX-License-Identifier: MIT
// Times that follow each other as those of a noisy machine do.

#ifndef TRAINBENCH_TESTS_SUPPORT_CORRELATED_SERIES_H_
#define TRAINBENCH_TESTS_SUPPORT_CORRELATED_SERIES_H_

#include <cmath>
#include <random>
#include <vector>

namespace trainbench {

// Of mean and median 100 and variance 1; neighbours correlate by `rho`.
class CorrelatedSeries {
 public:
  CorrelatedSeries(double rho, unsigned seed) : rho_(rho), random_(seed) {
    state_ = Normal();
  }

  double Next() {
    const double value = 100 + state_;
    state_ = rho_ * state_ + std::sqrt(1 - rho_ * rho_) * Normal();
    return value;
  }

  std::vector<double> Take(int count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(Next());
    return values;
  }

 private:
  // Nearly; the standard library's may differ between versions.
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_()) / 0x1p32;
    return sum;
  }

  const double rho_;
  std::mt19937 random_;
  double state_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_CORRELATED_SERIES_H_

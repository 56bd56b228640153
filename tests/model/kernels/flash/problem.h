// SPDX-License-Identifier: MIT
// A random attention problem and the expected results of the kernels.

#ifndef TRAINBENCH_TESTS_MODEL_KERNELS_FLASH_PROBLEM_H_
#define TRAINBENCH_TESTS_MODEL_KERNELS_FLASH_PROBLEM_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "model/kernels/flash/attention.h"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {

// [batch, heads, seq, d_head] in float64.
struct Reference {
  std::vector<double> o;
  std::vector<double> log_sum;
  std::vector<double> delta;  // products of o and its gradient
  std::vector<double> grad_q;
  std::vector<double> grad_k;
  std::vector<double> grad_v;
};

// Computes attention by its definition, from contiguous inputs.
inline Reference Attend(const FlashShape& s, const std::vector<double>& q,
                        const std::vector<double>& k,
                        const std::vector<double>& v,
                        const std::vector<double>& grad_o) {
  const int64_t d = s.d_head;
  const size_t count = q.size();
  Reference r{std::vector<double>(count),     std::vector<double>(count / d),
              std::vector<double>(count / d), std::vector<double>(count),
              std::vector<double>(count),     std::vector<double>(count)};
  const auto dot = [d](const double* x, const double* y) {
    double sum = 0;
    for (int64_t c = 0; c < d; ++c) sum += x[c] * y[c];
    return sum;
  };
  std::vector<double> p(s.seq);
  for (int64_t row = 0; row < s.batch * s.heads * s.seq; ++row) {
    const int64_t first = row / s.seq * s.seq;
    const int64_t seen = s.causal ? row - first + 1 : s.seq;
    double top = -1e300;
    double sum = 0;
    for (int64_t j = 0; j < seen; ++j) {
      p[j] = s.scale * dot(&q[row * d], &k[(first + j) * d]);
      top = std::max(top, p[j]);
    }
    for (int64_t j = 0; j < seen; ++j) sum += p[j] = std::exp(p[j] - top);
    r.log_sum[row] = top + std::log(sum);
    for (int64_t j = 0; j < seen; ++j) {
      p[j] /= sum;
      for (int64_t c = 0; c < d; ++c) {
        r.o[row * d + c] += p[j] * v[(first + j) * d + c];
      }
    }
    r.delta[row] = dot(&grad_o[row * d], &r.o[row * d]);
    for (int64_t j = 0; j < seen; ++j) {
      const int64_t key = (first + j) * d;
      const double slope =
          s.scale * p[j] * (dot(&grad_o[row * d], &v[key]) - r.delta[row]);
      for (int64_t c = 0; c < d; ++c) {
        r.grad_v[key + c] += p[j] * grad_o[row * d + c];
        r.grad_q[row * d + c] += slope * k[key + c];
        r.grad_k[key + c] += slope * q[row * d + c];
      }
    }
  }
  return r;
}

// Inputs are [batch, heads, seq, d_head], outputs [batch, seq, heads, d_head].
template <class T>
class Problem {
 public:
  Problem(Tensors& t, const FlashShape& shape)
      : shape_(shape), width_(shape.heads * shape.d_head) {
    const int64_t n = count();
    const int64_t d = shape.d_head;
    const HeadStrides in{shape.seq * width_, shape.seq * d, d};
    const T* q = t.Input<T>(n);
    const T* k = t.Input<T>(n);
    const T* v = t.Input<T>(n);
    const T* grad_o = t.Input<T>(n);
    reference_ = Attend(shape, Gathered(q, in), Gathered(k, in),
                        Gathered(v, in), Gathered(grad_o, out_));
    forward = {shape,
               {q, in},
               {k, in},
               {v, in},
               {t.Output<T>(n), out_},
               t.Output<float>(n / d)};
    backward = {shape,
                {q, in},
                {k, in},
                {v, in},
                {forward.o.data, out_},
                forward.log_sum,
                {grad_o, out_},
                {t.Output<T>(n), out_},
                {t.Output<T>(n), out_},
                {t.Output<T>(n), out_},
                t.Output<float>(n / d),
                t.Output<float>(n)};
  }

  int64_t count() const { return shape_.batch * shape_.seq * width_; }

  double ErrorOf(const HeadOutput& tensor,
                 const std::vector<double>& expected) const {
    const std::vector<double> actual =
        Gathered(static_cast<const T*>(tensor.data), tensor.strides);
    return RelativeError(actual.data(), expected);
  }
  const Reference& reference() const { return reference_; }

  FlashForwardArgs forward;
  FlashBackwardArgs backward;

 private:
  std::vector<double> Gathered(const T* from,
                               const HeadStrides& strides) const {
    std::vector<double> to(count());
    for (size_t i = 0; i < to.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / shape_.d_head;
      const int64_t matrix = row / shape_.seq;
      to[i] = ToFloat(from[matrix / shape_.heads * strides.batch +
                           matrix % shape_.heads * strides.head +
                           row % shape_.seq * strides.token +
                           static_cast<int64_t>(i) % shape_.d_head]);
    }
    return to;
  }

  FlashShape shape_;
  int64_t width_;
  HeadStrides out_{shape_.seq * width_, shape_.d_head, width_};
  Reference reference_;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_TESTS_MODEL_KERNELS_FLASH_PROBLEM_H_

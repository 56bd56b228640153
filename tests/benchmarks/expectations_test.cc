// SPDX-License-Identifier: MIT
// An expectation that no case matches would never be judged.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "fixtures/experiment/experiment.h"
#include "tests/benchmarks/listed_cases.h"

namespace trainbench {
namespace {

using nlohmann::json;
using Parameters = std::map<std::string, std::string>;

Parameters ParametersOf(const Case& bench_case) {
  Parameters parameters(bench_case.name.words().begin(),
                        bench_case.name.words().end());
  for (const auto& [key, value] : bench_case.name.values()) {
    parameters[key] = std::to_string(value);
  }
  return parameters;
}

bool Has(const Parameters& parameters, const json& selection) {
  for (const auto& [key, value] : selection.items()) {
    const auto found = parameters.find(key);
    if (found == parameters.end() || found->second != value) return false;
  }
  return true;
}

Parameters Without(Parameters parameters, const json& keys) {
  for (const auto& [key, value] : keys.items()) parameters.erase(key);
  return parameters;
}

// Returns whether one of the cases is a row of the quantity and another one is
// the row that it is compared with; along a parameter, if two cases differ only
// in it.
bool IsMet(const json& quantity, const std::vector<Parameters>& cases) {
  const std::string along = quantity.at("along");
  std::set<Parameters> others;
  for (const Parameters& other : cases) {
    if (Has(other, quantity.at("versus"))) {
      others.insert(Without(other, quantity.at("versus")));
    }
  }
  std::map<Parameters, std::set<std::string>> points;
  for (const Parameters& own : cases) {
    if (!Has(own, quantity.at("rows"))) continue;
    if (!others.contains(Without(own, quantity.at("versus")))) continue;
    if (along.empty()) return true;
    if (!own.contains(along)) continue;
    points[Without(own, {{along, ""}})].insert(own.at(along));
  }
  return absl::c_any_of(
      points, [](const auto& line) { return line.second.size() > 1; });
}

// Returns the cases of the suites that answer questions, keyed by experiment.
std::map<std::string, std::vector<Parameters>> ListAll(DeviceKind device) {
  std::map<std::string, std::vector<Parameters>> all;
  for (const Suite suite : kSuites) {
    if (suite == Suite::kSmoke) continue;
    for (const Case& bench_case : ListedCases(suite, device)) {
      all[ExperimentOf(bench_case)].push_back(ParametersOf(bench_case));
    }
  }
  return all;
}

class ExpectationsTest : public testing::TestWithParam<DeviceKind> {};

TEST_P(ExpectationsTest, EachIsAboutACaseOfSomeSuite) {
  const auto all = ListAll(GetParam());
  std::set<std::string> expecting;
  for (const std::string& text : ListExpectations(
           {}, ListedDevice(GetParam()),
           ExperimentsOf(ListedCases(Suite::kQuick, GetParam())))) {
    const json expectation = json::parse(text);
    const std::string experiment = expectation.at("experiment");
    expecting.insert(experiment);
    EXPECT_TRUE(IsMet(expectation.at("quantity"), all.at(experiment))) << text;
  }
  for (const auto& [experiment, cases] : all) {
    EXPECT_TRUE(expecting.contains(experiment)) << experiment;
  }
}

TEST(ExpectationsOfGpusTest, AbsoluteRatesAreAnH100s) {
  const auto count = [](const std::string& name) {
    Device device = ListedDevice(DeviceKind::kCuda);
    device.name = name;
    return ListExpectations({}, device, {"all_reduce", "flash_attention"})
        .size();
  };
  for (const char* other :
       {"NVIDIA A40", "NVIDIA H100 PCIe", "NVIDIA H100 NVL",
        "NVIDIA GH200 480GB", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"}) {
    EXPECT_EQ(count(other), 3) << other;
  }
  EXPECT_EQ(count("NVIDIA H100 80GB HBM3"), 6);
  EXPECT_EQ(count("NVIDIA H200"), 6);
}

INSTANTIATE_TEST_SUITE_P(Devices, ExpectationsTest,
                         testing::Values(DeviceKind::kCpu, DeviceKind::kCuda),
                         [](const auto& device) {
                           return device.param == DeviceKind::kCpu ? "Cpu"
                                                                   : "Gpu";
                         });

}  // namespace
}  // namespace trainbench

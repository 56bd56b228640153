// SPDX-License-Identifier: MIT
// GoogleTest and GoogleMock, with short names for the matchers that tests use.

#ifndef TRAINBENCH_TESTS_SUPPORT_MATCHERS_H_
#define TRAINBENCH_TESTS_SUPPORT_MATCHERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainbench {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::FieldsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Le;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_MATCHERS_H_

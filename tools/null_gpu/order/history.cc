// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/history.h"

#include <algorithm>

namespace null_gpu {
namespace {

void AddReadTo(std::vector<Touch>& touches, const Touch& touch) {
  for (Touch& earlier : touches) {
    if (!earlier.writes && earlier.moment.stream == touch.moment.stream) {
      earlier = touch;
      return;
    }
  }
  touches.push_back(touch);
}

}  // namespace

void History::Cut(const char* at) {
  auto piece = pieces_.upper_bound(at);
  if (piece == pieces_.begin()) return;
  --piece;
  if (piece->first == at || piece->second.end <= at) return;
  pieces_.emplace(at, piece->second);
  piece->second.end = at;
}

std::optional<Touch> History::FindUnknown(const char* begin, size_t bytes,
                                          const Clock& clock) const {
  auto piece = pieces_.upper_bound(begin);
  if (piece != pieces_.begin()) --piece;
  for (; piece != pieces_.end() && piece->first < begin + bytes; ++piece) {
    if (piece->second.end <= begin) continue;
    for (const Touch& touch : piece->second.touches) {
      if (!clock.Knows(touch.moment)) return touch;
    }
  }
  return std::nullopt;
}

void History::Forget(const char* begin, size_t bytes) {
  Cut(begin);
  Cut(begin + bytes);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(begin + bytes));
}

void History::AddRead(const char* begin, const char* end, const Touch& touch) {
  for (auto piece = pieces_.lower_bound(begin); begin < end; ++piece) {
    if (piece == pieces_.end() || piece->first > begin) {
      const char* const next =
          piece != pieces_.end() ? std::min(piece->first, end) : end;
      piece = pieces_.emplace(begin, Piece{next, {touch}}).first;
    } else {
      AddReadTo(piece->second.touches, touch);
    }
    begin = piece->second.end;
  }
}

std::optional<Touch> History::Add(const Access& access, const Touch& touch,
                                  const Clock& clock) {
  const char* const end = access.begin + access.bytes;
  Cut(access.begin);
  Cut(end);
  std::optional<Touch> conflict;
  for (auto piece = pieces_.lower_bound(access.begin);
       piece != pieces_.end() && piece->first < end && !conflict; ++piece) {
    for (const Touch& earlier : piece->second.touches) {
      if ((earlier.writes || touch.writes) && !clock.Knows(earlier.moment)) {
        conflict = earlier;
      }
    }
  }
  if (touch.writes) {
    Forget(access.begin, access.bytes);
    pieces_.emplace(access.begin, Piece{end, {touch}});
  } else {
    AddRead(access.begin, end, touch);
  }
  return conflict;
}

}  // namespace null_gpu

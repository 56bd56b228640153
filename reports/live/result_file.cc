// SPDX-License-Identifier: MIT

#include "reports/live/result_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "fixtures/base/counter_table.h"
#include "reports/live/run_compat.h"

namespace trainbench {
namespace {

using nlohmann::ordered_json;

// As Google Benchmark ends a row.
constexpr absl::string_view kEndOfRow = "\n    }";

std::string Dump(const ordered_json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false,
                    ordered_json::error_handler_t::replace);
}

// Google Benchmark copies labels and context (e.g. a command line) as they are,
// but JSON forbids invalid UTF-8 and control characters in them. Outside of
// strings it writes no control character but newlines, so all others can be
// escaped.
std::string Repaired(const std::string& text) {
  const std::string utf8 = ordered_json::parse(Dump(text)).get<std::string>();
  std::string out;
  out.reserve(utf8.size());
  for (const char c : utf8) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 || c == '\n') {
      out += c;
    } else {
      absl::StrAppendFormat(&out, "\\u%04x", code);
    }
  }
  return out;
}

// Removes counters that are NaN or infinite, which JSON cannot hold. False if
// the time is too, e.g. the coefficient of variation of a mean of 0.
bool KeepFinite(BenchmarkRun& run) {
  std::erase_if(run.counters, [](const auto& counter) {
    return !std::isfinite(counter.second.value);
  });
  if (!std::isfinite(run.cpu_accumulated_time)) run.cpu_accumulated_time = 0;
  return std::isfinite(run.real_accumulated_time);
}

std::string Entry(const BenchmarkRun& run, const RowStatus& status) {
  ordered_json entry = {{"name", run.run_name.str()},
                        {"repetition_index", run.repetition_index},
                        {"reason", status.reason}};
  if (status.predicted_peak_bytes) {
    entry["predicted_peak_bytes"] = *status.predicted_peak_bytes;
  }
  return Dump(entry);
}

std::string List(absl::string_view key,
                 const std::vector<std::string>& entries) {
  if (entries.empty()) return absl::StrCat("  \"", key, "\": [],\n");
  return absl::StrCat("  \"", key, "\": [\n    ",
                      absl::StrJoin(entries, ",\n    "), "\n  ],\n");
}

const std::vector<std::string>& ListCounters() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> objects;
    for (const CounterSpec& counter : CounterTable()) {
      objects.push_back(Dump({{"counter", counter.name},
                              {"unit", counter.unit},
                              {"kind", counter.kind},
                              {"better", counter.better},
                              {"meaning", counter.meaning}}));
    }
    return objects;
  }();
  return list;
}

}  // namespace

ResultFile::ResultFile(std::string path, StatusLookup lookup, std::ostream* err)
    : file_(path.empty() ? std::nullopt
                         : std::make_optional<AtomicFile>(std::move(path))),
      lookup_(std::move(lookup)),
      err_(*err) {}

absl::Status ResultFile::CheckWritable(const std::string& path) {
  return path.empty() ? absl::OkStatus() : AtomicFile(path).CheckWritable();
}

const std::string& ResultFile::TempPath() const {
  static const std::string* const kNone = new std::string();
  return file_ ? file_->temp_path() : *kNone;
}

bool ResultFile::ReportContext(const Context& context) {
  given_ = &GetOutputStream();
  SetOutputStream(&pending_);
  JSONReporter::ReportContext(context);
  skipped_ = kept_.skipped;
  errors_ = kept_.errors;
  tables_ = kept_.tables;
  is_after_kept_ = !kept_.benchmarks.empty();
  if (is_after_kept_) {
    pending_ << "    " << absl::StrJoin(kept_.benchmarks, ",\n    ");
  }
  Save();
  begun_ = status_.ok();
  return begun_;
}

void ResultFile::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> good;
  for (const Run& run : runs) {
    Run published = PublishedRun(run);
    const RowStatus status = Classify(published, lookup_);
    const bool counted = counts_.Add(published.run_name.str(),
                                     IsAggregate(published), status.kind);
    if (status.kind == RowStatus::Kind::kGood) {
      TakeTables(published.run_name.str(), status);
      if (KeepFinite(published)) good.push_back(std::move(published));
    } else if (counted) {
      const bool is_skip = status.kind == RowStatus::Kind::kSkipped;
      (is_skip ? skipped_ : errors_).push_back(Entry(published, status));
    }
  }
  // The base class knows of no row before its own.
  if (is_after_kept_ && !good.empty()) {
    pending_ << ",\n";
    is_after_kept_ = false;
  }
  for (Run& run : good) {
    const RunLabel label = ReadLabel(run.report_label);
    run.report_label = label.text;
    JSONReporter::ReportRuns({run});
    AddObjects(label);
  }
  Save();
}

// To the row that the base class has just written.
void ResultFile::AddObjects(const RunLabel& label) {
  std::string text = pending_.str();
  if (label.parameters.empty() || !absl::EndsWith(text, kEndOfRow)) return;
  text.resize(text.size() - kEndOfRow.size());
  pending_.str("");
  pending_ << text << ",\n      \"parameters\": " << label.parameters
           << ",\n      \"findings\": " << FindingsObject(label) << kEndOfRow;
}

// Repetitions and aggregates of a case have the same tables.
void ResultFile::TakeTables(const std::string& case_name,
                            const RowStatus& status) {
  if (!tabled_.insert(case_name).second) return;
  for (const auto& [list, table] : status.tables) {
    ordered_json entry = {{"case", case_name}};
    entry.update(ordered_json::parse(table));
    tables_[list].push_back(Dump(entry));
  }
}

// Google Benchmark calls this even if ReportContext returned false.
void ResultFile::Finalize() {
  if (!begun_) return;
  complete_ = true;
  Save();
}

void ResultFile::TakePending() {
  body_ += Repaired(pending_.str());
  pending_.str("");
}

std::string ResultFile::Document() const {
  std::string tables;
  for (const auto& [list, entries] : tables_) {
    absl::StrAppend(&tables, List(list, entries));
  }
  return absl::StrCat(
      body_, "\n  ],\n", List("skipped", skipped_), List("errors", errors_),
      List("questions", statements_.questions),
      List("expectations", statements_.expectations),
      List("counters", ListCounters()), tables,
      "  \"complete\": ", complete_ ? "true" : "false", "\n}\n");
}

void ResultFile::Save() {
  TakePending();
  const bool was_ok = status_.ok();
  // Writes the whole document, so that a later success heals an earlier
  // failure.
  status_ = Write();
  if (was_ok && !status_.ok()) err_ << status_.message() << std::endl;
}

absl::Status ResultFile::Write() const {
  const bool once = !file_ || file_->is_stream();
  if (once && !complete_) return absl::OkStatus();
  if (file_) return file_->Replace(Document());
  // The owner of the stream reports what it could not write.
  *given_ << Document() << std::flush;
  return absl::OkStatus();
}

}  // namespace trainbench

#pragma once
// Folding the names of repeated things: `a_0/k`, `a_1/k`, `a_2/k` become `a_{0..2}/k`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shard {

/// One name for many that differ only in numbers: `{0..3}` for a run of three or more, `{0,1}` and
/// `{0..3,7}` otherwise. Several numbers may differ if every combination occurs
/// (`a_{0..3}/b_{0,1}`). One name is itself; empty when the names do not fold. Numbers with leading
/// zeros are text. A range in a name, as folded plans have it, is its numbers.
std::string fold_names(const std::vector<std::string>& names);

/// The names as few words as possible: folded where they fold, joined by `, ` in order of first
/// appearance.
std::string join_folded(const std::vector<std::string>& names);

/// A line of a table before folding: rows fold when their keys are equal and their names fold.
struct FoldItem {
  std::string name;
  std::string key;
};

/// Positions of the items that make one row, in order of first appearance; each group's names fold.
std::vector<std::vector<std::size_t>> fold_groups(const std::vector<FoldItem>& items);

/// How many names a folded plan's `a_{3..996}/k` stands for; 1 for a plain name.
std::int64_t count_names(const std::string& name);

/// All of them, in order.
std::vector<std::string> unfold_name(const std::string& name);

}  // namespace shard

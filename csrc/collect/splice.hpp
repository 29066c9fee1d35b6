// SPDX-License-Identifier: MIT
// How are the chunks (fragments) of several threads merged?
//
// A *seam* is a cell whose parts were found in several fragments. Its *traces* are the regions' facets along its facets.
// Fragments are ordered as in the recursion: a fragment, and then the fragments that it gave away, the last one first. So
// everything has the position that a single thread would have given it. Nothing is moved: the fragments are the parts of the
// whole. Then seams are joined; seams of fragments that were given away later come first, because they are inside the earlier
// ones. Nothing depends on the thread that found a fragment, or on the time. Cost: proportional to the facets along the seams.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "collect/collect.hpp"
#include "collect/whole.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The operations that a cell's join needs, on facets by their names.
class AcrossParts {
 public:
  explicit AcrossParts(Whole& whole) : whole_(whole) {}

  void match(std::int64_t here, std::int64_t there) { whole_.match(here, there); }

  FacetRun joined(const FacetRun& before, const FacetRun& after) {
    whole_.link(before.last) = {~after.first};
    return {before.first, after.last};
  }

  void zip(const FacetRun& forward, const FacetRun& backward) { zip_facets(*this, forward, backward, reversed_); }

  std::int64_t following(std::int64_t name) {
    const std::int64_t next = whole_.link(name).following();
    return next < 0 || is_name(next) ? next : name_of(part_of(name), next);
  }

  void unite_ends(std::int64_t here, std::int64_t there) {
    whole_.unite(first(here), last(there));
    whole_.unite(last(here), first(there));
  }

 private:
  // The vertices at the ends of a facet.
  std::int64_t first(std::int64_t facet) const { return name_of(part_of(facet), collected(facet).corners[index_of(facet)]); }
  std::int64_t last(std::int64_t facet) const {
    const Collected& source = collected(facet);
    return name_of(part_of(facet), source.corners[source.end_of(index_of(facet))]);
  }
  const Collected& collected(std::int64_t facet) const { return *whole_.parts[part_of(facet)].collected; }

  Whole& whole_;
  std::vector<std::int64_t> reversed_;
};

template <class Cell>
class Splice {
 public:
  using Trace = typename Cell::Trace;

  Splice(Fragments<Cell>& fragments, Whole& whole) : whole_(whole), by_number_(std::size_t(fragments.count())) {
    for (Harvest<Cell>& harvest : fragments.harvests) {
      harvest.end_fragment();
      for (Fragment<Cell>& fragment : harvest.fragments) by_number_[std::size_t(fragment.number)] = &fragment;
    }
    parts_.assign(by_number_.size(), no_part);
  }

  // If the work was stopped, parts that were never begun are missing, and seams stay open.
  void run(bool finished) {
    put_in_order();
    for (const Fragment<Cell>* giver : by_number_)
      if (giver != nullptr)
        for (const int number : giver->given) adopt(*giver, number);
    if (!finished) return;
    AcrossParts across(whole_);
    for (std::size_t number = by_number_.size(); number-- > 0;) join(*by_number_[number], across);
  }

 private:
  static constexpr std::size_t no_part = std::numeric_limits<std::size_t>::max();

  void put_in_order() {
    std::vector<int> waiting{0};
    while (!waiting.empty()) {
      const int number = waiting.back();
      waiting.pop_back();
      const Fragment<Cell>* fragment = by_number_[std::size_t(number)];
      if (fragment == nullptr) continue;
      parts_[std::size_t(number)] = whole_.parts.size();
      whole_.append(*fragment->source, fragment->begin, fragment->end);
      waiting.insert(waiting.end(), fragment->given.begin(), fragment->given.end());
    }
  }

  void adopt(const Fragment<Cell>& giver, int number) {
    const Fragment<Cell>* fragment = by_number_[std::size_t(number)];
    if (fragment == nullptr) return;
    for (const auto& [here, there] : fragment->adopted) whole_.unite(name_of(part(giver), there), name_of(part(*fragment), here));
  }

  // The fragments that this one gave away have been joined, so the traces of their cells are complete. All other traces are as the
  // thread that found them left them.
  void join(const Fragment<Cell>& fragment, AcrossParts& across) {
    std::size_t given = fragment.given.size();
    const Trace* joined = nullptr;
    for (const Seam<Cell>& seam : fragment.seams) {
      for (int child = 0; child < seam.cut.count; ++child) {
        Trace* traces = seam.cut.traces[child];
        const bool is_given = child >= seam.cut.count - seam.given;
        const Fragment<Cell>& finder = is_given ? *by_number_[std::size_t(fragment.given[--given])] : fragment;
        if (is_given ? !finder.seams.empty() : traces == joined) continue;
        name(traces, seam.cut.children[child].facet_count(), part(finder));
      }
      Cell::join(seam.cell, seam.cut, seam.traces, across);
      joined = seam.traces;
    }
  }

  static void name(FacetRun* runs, int count, std::size_t part) {
    for (FacetRun* run = runs; run < runs + count; ++run)
      if (!run->empty()) *run = {name_of(part, run->first), name_of(part, run->last)};
  }

  std::size_t part(const Fragment<Cell>& fragment) const { return parts_[std::size_t(fragment.number)]; }

  Whole& whole_;
  std::vector<Fragment<Cell>*> by_number_;
  std::vector<std::size_t> parts_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions

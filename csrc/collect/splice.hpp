// SPDX-License-Identifier: MIT
// How do the fragments that several threads collected become one whole?
//
// In the order of the recursion, each behind the other: a fragment, and then those that it gave away, the last one first.
// Vertices, corners, facets and regions so have the numbers that one thread would have given them, and everything that
// refers to them is moved by as much. Then what could not be joined is: seams, those of fragments that were given away
// later first, for they are within the others'. Nothing depends on which thread found what, or when.
// Cost: one copy of everything, and a join for each seam.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collect/collect.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Splice {
 public:
  Splice(Fragments<Cell>& fragments, Collected& whole) : whole_(whole), by_number_(std::size_t(fragments.count())) {
    for (Harvest<Cell>& harvest : fragments.harvests) {
      harvest.end_fragment();
      whole.matched += harvest.collected.matched;
      for (Fragment<Cell>& fragment : harvest.fragments) by_number_[std::size_t(fragment.number)] = &fragment;
    }
    places_.resize(by_number_.size());
  }

  // Where the work was stopped, parts that nobody had begun are missing, and seams stay open.
  void run(std::size_t pattern_bytes, bool finished) {
    Complex<Cell> complex(whole_, pattern_bytes);
    std::vector<int> waiting{0};
    while (!waiting.empty()) {
      const int number = waiting.back();
      waiting.pop_back();
      const Fragment<Cell>* fragment = by_number_[std::size_t(number)];
      if (fragment == nullptr) continue;
      append(*fragment);
      waiting.insert(waiting.end(), fragment->given.begin(), fragment->given.end());
    }
    for (std::int64_t& corner : whole_.corners) corner = vertex(corner);
    for (const Fragment<Cell>* fragment : by_number_)
      if (fragment != nullptr)
        for (const auto& [left, right] : fragment->same) whole_.unite(vertex(left), vertex(right));
    if (!finished) return;
    for (std::size_t number = by_number_.size(); number-- > 0;) join(*by_number_[number], complex);
  }

 private:
  void append(const Fragment<Cell>& fragment) {
    const Collected& source = *fragment.source;
    const Extents& begin = fragment.begin;
    const Extents& end = fragment.end;
    const Extents place = places_[std::size_t(fragment.number)] = Extents(whole_);
    const std::int64_t corners = place.corners - begin.corners;
    const std::int64_t facets = place.facets - begin.facets;
    CollectedVertex* vertex = whole_.vertices.extend(std::size_t(end.vertices - begin.vertices));
    for (std::int64_t i = begin.vertices; i < end.vertices; ++i, ++vertex) {
      *vertex = source.vertices[i];
      if (vertex->same >= 0) vertex->same += place.vertices - begin.vertices;
    }
    copy(source.corners, begin.corners, end.corners, whole_.corners);
    CollectedFacet* facet = whole_.facets.extend(std::size_t(end.facets - begin.facets));
    for (std::int64_t i = begin.facets; i < end.facets; ++i, ++facet) {
      *facet = source.facets[i];
      facet->first += corners;
      facet->last += corners;
      if (facet->link != CollectedFacet::no_link) facet->link += facet->link >= 0 ? facets : -facets;
    }
    RegionEnds* ends = whole_.ends.extend(std::size_t(end.regions - begin.regions));
    for (std::int64_t i = begin.regions; i < end.regions; ++i, ++ends)
      *ends = {source.ends[i].corners + corners, source.ends[i].facets + facets};
    const std::int64_t bytes = std::int64_t(source.pattern_bytes);
    copy(source.patterns, begin.regions * bytes, end.regions * bytes, whole_.patterns);
  }

  template <class T>
  static void copy(const GrowingArray<T>& source, std::int64_t begin, std::int64_t end, GrowingArray<T>& target) {
    T* first = target.extend(std::size_t(end - begin));
    if (end > begin) std::copy_n(&source[begin], end - begin, first);
  }

  std::int64_t vertex(std::int64_t name) const {
    return places_[std::size_t(name / vertices_of_fragment)].vertices + name % vertices_of_fragment;
  }

  // Fragments that it gave away have been joined, and with their seams the chains of their cells. All others are as the
  // thread knew them that found them.
  void join(const Fragment<Cell>& fragment, Complex<Cell>& complex) {
    std::size_t given = fragment.given.size();
    const Chain* joined = nullptr;
    for (const Seam<Cell>& seam : fragment.seams) {
      for (int child = 0; child < seam.cut.count; ++child) {
        Chain* chains = seam.cut.chains[child];
        const bool is_given = child >= seam.cut.count - seam.given;
        const Fragment<Cell>& finder = is_given ? *by_number_[std::size_t(fragment.given[--given])] : fragment;
        if (is_given ? !finder.seams.empty() : chains == joined) continue;
        move(chains, seam.cut.children[child].facet_count(), moved(finder));
      }
      complex.join(seam.cell, seam.cut, seam.chains);
      joined = seam.chains;
    }
  }

  std::int64_t moved(const Fragment<Cell>& fragment) const {
    return places_[std::size_t(fragment.number)].facets - fragment.begin.facets;
  }

  static void move(Chain* chains, int count, std::int64_t by) {
    for (Chain* chain = chains; chain < chains + count; ++chain)
      if (chain->first >= 0) *chain = {chain->first + by, chain->last + by};
  }

  Collected& whole_;
  std::vector<Fragment<Cell>*> by_number_;
  std::vector<Extents> places_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions

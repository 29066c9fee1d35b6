// SPDX-License-Identifier: MIT
// Where on the stack does a section begin and end?
//
// A section (task/section.hpp) is the work of one thread from one path to another. Cells on the way to either are always cut,
// even if they could be finished otherwise. Cells that the section does not contain completely are never joined, nor are
// cells that contain a cell without wanted regions (task/network.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernel/frame.hpp"
#include "task/monitor.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class SectionEnds {
 public:
  // `section` is null if everything is requested.
  SectionEnds(Section* section, Monitor& monitor) : section_(section), monitor_(monitor) {}

  bool any() const { return section_ != nullptr; }
  const Path& begin() const { return section_->begin; }
  const Path& end() const { return section_->end; }

  // Returns whether the section ends in the last of this many cells on the stack, and so far in all that contain it.
  bool is_within(std::size_t depth) const { return depth == ending_; }
  // Returns whether the section contains the last of this many cells on the stack completely.
  bool has_all_of(std::size_t depth) const { return depth > begun_; }

  // Whether a path leads to a region of the last of this many cells on the stack, if that is swept; and the region's number.
  static bool is_region(const Path& path, std::size_t depth) { return path[depth - 1] >= first_region_in_path; }
  static std::int64_t region(const Path& path) { return path.back() - first_region_in_path; }

  // The number of regions that the section may still have.
  std::int64_t left(std::int64_t count) const {
    return section_ == nullptr ? std::numeric_limits<std::int64_t>::max() : std::max(std::int64_t{0}, section_->most - count);
  }

  // Starts with the whole domain; false if the section is empty.
  bool start() {
    section_->require_order();
    if (section_->ends && section_->end.empty()) return false;
    ending_ = section_->ends ? 1 : 0;
    return true;
  }

  // The last of this many cells on the stack is left without its regions.
  void leave_open(std::size_t depth) { begun_ = std::max(begun_, depth - 1); }
  // A new cell follows on the stack after this many.
  void enter_child(std::size_t depth) { begun_ = std::min(begun_, depth); }

  // The node at which the section begins has been reached.
  void reached() { begun_ = highest(section_->begin).size(); }

  // Returns whether a cell on the way to an end is counted in the section: the one that has the first of its leaves.
  bool counts(const Path& path, std::size_t depth) const {
    return is_first_from(path, depth - 1) == (&path == &section_->begin);
  }

  // Returns whether the section ends before the next child of the last of this many cells, with `count` regions so far.
  template <class Cell>
  __attribute__((noinline)) bool before_next_child(const Frames<Cell>& stack, std::size_t depth, std::int64_t count) {
    if (count >= section_->most) {
      section_->next = path_to<Cell>(stack, depth);
      section_->next.push_back(stack[depth - 1].next_child);
      const bool more = !section_->ends || section_->next != highest(section_->end);
      if (more) monitor_.tell();  // even after a short time: the caller that resumes here needs the progress
      section_->more = more;
      return true;
    }
    if (depth != ending_ || stack[depth - 1].next_child != section_->end[depth - 1]) return false;
    return ending_++ == section_->end.size();
  }

  // Returns whether the section ends within the last of this many cells on the stack, which was swept: before this one of its
  // regions.
  template <class Cell>
  bool is_within_swept(const Frames<Cell>& stack, std::size_t depth, std::int64_t collected, std::int64_t regions) {
    if (collected == regions) return false;
    section_->next = path_to<Cell>(stack, depth);
    section_->next.push_back(int(first_region_in_path + collected));
    const bool more = !section_->ends || section_->next != section_->end;
    if (more) monitor_.tell();
    section_->more = more;
    return true;
  }

 private:
  Section* section_;
  Monitor& monitor_;
  std::size_t begun_ = 0;   // height of the highest-numbered cell that stays open, such as one that the section begins within
  std::size_t ending_ = 0;  // height of the lowest cell so far that the section ends in
};

}  // namespace REGIONS_TARGET
}  // namespace regions

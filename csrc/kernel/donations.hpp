// SPDX-License-Identifier: MIT
// How does a thread give a part of its work to an idle thread?
//
// The highest cell with a child that was not begun gives its last such child away. A thread therefore always keeps the first
// part of its work, in the order of the recursion. The receiving thread restricts the network to the child, and reads decided
// parts above it in the donor's memory, which is kept as long as it may be read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernel/frame.hpp"
#include "task/crew.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Donations {
 public:
  // Memory that outlives its cells, because parts of them were given away.
  struct Memory {
    Arena arena;
    std::shared_ptr<Memory> below;
  };

  struct Part : Crew::Part {
    Frames<Cell> parent;  // [1]
    int child = 0;
    int number = 0;
    std::vector<std::uint8_t> pieces;
    std::vector<std::uint8_t> pattern;
    std::shared_ptr<Memory> memory;
  };

  // `crew` is null if there are no other threads.
  Donations(Crew* crew, Arena& arena) : crew_(crew), arena_(arena) {}

  bool are_wanted() const { return crew_ != nullptr && crew_->hungry(); }

  // Height of the lowest cell that has given a child away; 0 if there is none.
  std::size_t height() const { return height_; }
  const std::shared_ptr<Memory>& memory() const { return kept_; }

  // The next part for this thread, or null if all work is done.
  std::unique_ptr<Part> take(Monitor& monitor) {
    std::unique_ptr<Crew::Part> part = crew_->take(monitor);
    return std::unique_ptr<Part>(static_cast<Part*>(part.release()));
  }

  // The work continues in a part, whose cells are in the donor's memory.
  void begin(const Part& part) { below_ = part.memory; }

  // Gives a child away, if there is one. All cells above the lowest one that has given a child away have no unstarted
  // children left.
  template <class Collector>
  void give(Frames<Cell>& stack, std::size_t depth, Collector& collector, const std::vector<std::uint8_t>& pieces,
            const std::vector<std::uint8_t>& pattern) {
    for (std::size_t height = std::max(height_, std::size_t{1}); height <= depth; ++height) {
      Frame<Cell>& frame = stack[height - 1];
      if (frame.next_child == 0 || frame.next_child == frame.cut.count - frame.given) continue;
      if (kept_ == nullptr) {
        kept_ = std::make_shared<Memory>();
        kept_->below = below_;
      }
      auto part = std::make_unique<Part>();
      part->parent.assign(1, frame);
      part->child = frame.cut.count - 1 - frame.given;
      part->number = collector.give();
      part->pieces = pieces;
      part->pattern = pattern;
      part->memory = kept_;
      crew_->give(std::move(part));
      ++frame.given;
      height_ = height;
      return;
    }
  }

  // Copies the vertices of a stolen cell into this thread's collector.
  template <class Collector>
  void adopt_vertices(Cell& cell, Collector& collector) {
    constexpr int D = Cell::dimension;
    const std::size_t count = std::size_t(cell.count);
    const Vertex<D>** vertices = arena_.template take<const Vertex<D>*>(count);
    Vertex<D>* copies = arena_.template take<Vertex<D>>(count);
    for (int i = 0; i < cell.count; ++i) {
      copies[i] = *cell.vertices[i];
      vertices[i] = &copies[i];
      if (i < cell.count - Cell::outer) collector.adopt(copies[i]);
    }
    cell.vertices = vertices;
  }

  // The part is done, or there was an exception. Other threads may still read its memory.
  void keep_memory() noexcept {
    if (kept_ != nullptr) std::swap(kept_->arena, arena_);
    kept_ = nullptr;
    below_ = nullptr;
    height_ = 0;
    arena_.reset();
  }

 private:
  Crew* crew_;
  Arena& arena_;
  std::size_t height_ = 0;
  std::shared_ptr<Memory> kept_;   // this part's memory, if it is kept
  std::shared_ptr<Memory> below_;  // of the cells that contain this part
};

}  // namespace REGIONS_TARGET
}  // namespace regions

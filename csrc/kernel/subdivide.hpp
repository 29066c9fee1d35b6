// SPDX-License-Identifier: MIT
// Which regions does the network have in the domain?
//
// The recursion takes a cell and the network restricted to it. If nothing is undecided, the cell is a region. Otherwise it cuts
// the cell along one of the lowest undecided layer's lines (the one with the largest smaller side) and continues with
// each child and the network restricted to it. Every cut is a true boundary, because lower layers are decided first. So
// nothing has to be merged, and memory is the depth of the recursion. The stack is our own, not the machine's.
//
// Several threads share it (task/crew.hpp). If one is idle, the highest cell with a child that was not begun gives its
// last such child away. A thread therefore always keeps the first part of its work, in the order of the recursion. The thread
// that takes the child restricts the network to it, and reads decided parts above it in the giver's memory, which is kept as
// long as it may be read. Cells with a child that was given away are joined at the end.
//
// A section (task/section.hpp) is the work of one thread from one path to another. Cells on the way to either are always cut,
// even if they could be finished otherwise; cells that the section does not contain completely are never joined.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collect.hpp"
#include "kernel/few_lines.hpp"
#include "kernel/kernel.hpp"
#include "kernel/restrict.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell, class Collector>
class Subdivision {
  static_assert(require_cell<Cell>(), "cells/cell.hpp says what a cell offers");

 public:
  static constexpr int D = Cell::dimension;
  using Trace = typename Cell::Trace;

  Subdivision(const Task& task, Collector& collector, Crew* crew = nullptr)
      : crew_(crew),
        arena_(*memory_),
        network_(task.network),
        domain_(task.domain),
        collector_(collector),
        monitor_(task.monitor),
        outcome_(task.outcome),
        section_(task.section),
        pieces_(std::size_t(network_.total_units), 0),
        pattern_(std::size_t(network_.total_kinks + 7) / 8, 0),
        exact_(network_, task.chart, domain_, pieces_.data(), task.monitor),
        signs_(network_, exact_),
        restriction_(network_, task.chart, domain_, exact_, signs_, arena_, pieces_.data(),
                     Collector::keeps ? pattern_.data() : nullptr),
        few_lines_(network_, arena_, signs_),
        envelope_(signs_, exact_, arena_) {}

  ~Subdivision() {
    keep_what_was_given();
    outcome_.count = collector_.count;
    outcome_.signs = signs_.counts;
  }

  void run() {
    enter_whole();
    subdivide(section_ == nullptr ? 1 : go_to_begin());
  }

  // Runs as one thread of the crew; one of them begins with the whole domain.
  void run_with_others(bool first) {
    if (first) {
      collector_.begin(0);
      run();
    }
    while (const std::unique_ptr<Crew::Part> part = crew_->take(monitor_)) {
      keep_what_was_given();
      const Given& given = static_cast<const Given&>(*part);
      memory_below_ = given.memory;
      pieces_ = given.pieces;
      pattern_ = given.pattern;
      for (int layer = 1; layer <= network_.last(); ++layer) exact_.enter(layer);
      collector_.begin(given.number);
      descend(given.parent[0], given.child, stack_[0]);
      adopt_vertices(stack_[0].cell);
      subdivide(1);
    }
    keep_what_was_given();
  }

  // Runs the recursion above the nodes that `top` takes over; `top` joins the cells that it leaves.
  template <class Top>
  void run_above(Top& top) {
    enter_whole();
    for (std::size_t depth = 1; depth > 0;) {
      Frame& frame = stack_[depth - 1];
      if (frame.next_child == 0) {
        if (top.takes(path_to(depth), frame.cell, frame.traces, frame.network.block_count == 0)) {
          --depth;
          continue;
        }
        cut_above(frame);
      } else {
        arena_.release(frame.mark);
      }
      if (frame.next_child < frame.cut.count) {
        depth = enter_next_child(depth);
      } else {
        --depth;
        top.leave(depth, frame.cell, frame.cut, frame.traces);
      }
    }
  }

  // Enumerates everything below a node, and nothing decided on the way to it; lists facets on the boundary of its cell.
  void run_below(const Path& node, Border& border) {
    enter_whole();
    std::size_t depth = 1;
    for (const int child : node) {
      Frame& frame = stack_[depth - 1];
      if (frame.network.block_count == 0) refuse(node);
      cut_above(frame);
      if (child >= frame.cut.count) refuse(node);
      frame.next_child = child;
      depth = enter_next_child(depth);
    }
    std::swap(stack_[0], stack_[depth - 1]);
    signs_.counts = SignCounts();
    outcome_.cells = 0;
    subdivide(1);
    for (int i = 0; i < stack_[0].cell.facet_count(); ++i) collector_.list(stack_[0].traces[i], border);
  }

 private:
  struct Frame {
    Cell cell;
    Trace* traces;  // of the cell's facets, to be filled
    LocalNetwork<D> network;
    double share;   // fraction of the whole, in equal parts: for the progress
    int next_child;
    int given;      // number of its last children that were given to other threads
    Cut<Cell> cut;
    Arena::Mark mark;
  };

  // Memory that outlives its cells, because parts of them were given away.
  struct Memory {
    Arena arena;
    std::shared_ptr<Memory> below;
  };

  struct Given : Crew::Part {
    std::vector<Frame, AlignedAllocator<Frame>> parent;  // [1]
    int child = 0;
    int number = 0;
    std::vector<std::uint8_t> pieces;
    std::vector<std::uint8_t> pattern;
    std::shared_ptr<Memory> memory;
  };

  void enter_whole() {
    Frame& root = stack_[0];
    root.cell = whole_domain();
    root.traces = arena_.template take<Trace>(std::size_t(root.cell.facet_count()));
    root.network = restriction_.whole(root.cell);
    root.share = 1;
    root.next_child = 0;
    root.given = 0;
  }

  __attribute__((noinline)) void cut_above(Frame& frame) {
    ++outcome_.cells;
    monitor_.work(1 + frame.network.lines.count);
    cut(frame);
  }

  // Runs with this many cells on the stack.
  void subdivide(std::size_t depth) {
    while (depth > 0) {
      if (crew_ != nullptr && crew_->hungry()) give(depth);
      Frame& top = stack_[depth - 1];
      if (top.next_child == 0 && (depth == ending_ ? cut_on_way(top, section_->end, depth) : close(top))) {
        --depth;
        continue;
      }
      if (top.next_child > 0 && depth >= shared_) arena_.release(top.mark);
      if (top.next_child == top.cut.count - top.given) {
        if (depth <= shared_)
          collector_.join_later(top.cell, top.cut, top.given, top.traces, memory_kept_);
        else if (depth > begun_)
          collector_.join(top.cell, top.cut, top.traces);
        --depth;
        continue;
      }
      if (section_ != nullptr && ends_before_next_child(depth)) return;
      depth = enter_next_child(depth);
    }
  }

  // Returns the number of cells on the stack afterwards.
  std::size_t enter_next_child(std::size_t depth) {
    const int child = stack_[depth - 1].next_child++;
    if (depth == stack_.size()) stack_.emplace_back();
    descend(stack_[depth - 1], child, stack_[depth]);
    return depth + 1;
  }

  // ---- sections ----

  // Returns the number of cells on the stack afterwards, 0 if the section has ended.
  std::size_t go_to_begin() {
    section_->require_order();
    const Path& begin = section_->begin;
    if (section_->ends && section_->end.empty()) return 0;
    ending_ = section_->ends ? 1 : 0;
    std::size_t depth = 1;
    for (const int child : begin) {
      Frame& frame = stack_[depth - 1];
      cut_on_way(frame, begin, depth);
      frame.next_child = child;
      monitor_.finished(frame.share / frame.cut.count * child);
      if (ends_before_next_child(depth)) return 0;
      depth = enter_next_child(depth);
    }
    begun_ = highest(begin).size();
    return depth;
  }

  // Cuts a cell that a path leads into.
  __attribute__((noinline)) bool cut_on_way(Frame& frame, const Path& path, std::size_t depth) {
    if (frame.network.block_count == 0) refuse(path);
    if (is_first_from(path, depth - 1) == (&path == &section_->begin)) ++outcome_.cells;
    monitor_.work(1 + frame.network.lines.count);
    cut(frame);
    if (path[depth - 1] >= frame.cut.count) refuse(path);
    return false;
  }

  __attribute__((noinline)) bool ends_before_next_child(std::size_t depth) {
    begun_ = std::min(begun_, depth);
    if (collector_.count >= section_->most) {
      section_->next = path_to(depth);
      section_->next.push_back(stack_[depth - 1].next_child);
      const bool more = !section_->ends || section_->next != highest(section_->end);
      if (more) monitor_.tell();  // even after a short time: the caller that resumes here needs the progress
      section_->more = more;
      return true;
    }
    if (depth != ending_ || stack_[depth - 1].next_child != section_->end[depth - 1]) return false;
    return ending_++ == section_->end.size();
  }

  // The path of the last of this many cells on the stack.
  Path path_to(std::size_t depth) const {
    Path path;
    for (std::size_t height = 1; height < depth; ++height) path.push_back(stack_[height - 1].next_child - 1);
    return path;
  }

  // Only cells below those that have given something away have children that were not begun.
  void give(std::size_t depth) {
    for (std::size_t height = std::max(shared_, std::size_t{1}); height <= depth; ++height) {
      Frame& frame = stack_[height - 1];
      if (frame.next_child == 0 || frame.next_child == frame.cut.count - frame.given) continue;
      if (memory_kept_ == nullptr) {
        memory_kept_ = std::make_shared<Memory>();
        memory_kept_->below = memory_below_;
      }
      auto part = std::make_unique<Given>();
      part->parent.assign(1, frame);
      part->child = frame.cut.count - 1 - frame.given;
      part->number = collector_.give();
      part->pieces = pieces_;
      part->pattern = pattern_;
      part->memory = memory_kept_;
      crew_->give(std::move(part));
      ++frame.given;
      shared_ = height;
      return;
    }
  }

  // Copies the vertices of a stolen cell into this thread's collector.
  void adopt_vertices(Cell& cell) {
    const std::size_t count = std::size_t(cell.count);
    const Vertex<D>** vertices = arena_.template take<const Vertex<D>*>(count);
    Vertex<D>* copies = arena_.template take<Vertex<D>>(count);
    for (int i = 0; i < cell.count; ++i) {
      copies[i] = *cell.vertices[i];
      vertices[i] = &copies[i];
      if (i < cell.count - Cell::outer) collector_.adopt(copies[i]);
    }
    cell.vertices = vertices;
  }

  // The part is done, or there was an exception. Other threads may still read its memory.
  void keep_what_was_given() noexcept {
    if (memory_kept_ != nullptr) std::swap(memory_kept_->arena, arena_);
    memory_kept_ = nullptr;
    memory_below_ = nullptr;
    shared_ = 0;
    arena_.reset();
  }

  void descend(const Frame& parent, int which, Frame& child) {
    child.cell = parent.cut.children[which];
    child.traces = parent.cut.traces[which];
    child.share = parent.share / parent.cut.count;
    child.next_child = 0;
    child.given = 0;
    child.network = restriction_.restricted(parent.network, child.cell, parent.network.best_line, parent.cut.sides[which],
                                            parent.cut.winners != nullptr ? parent.cut.winners[which] : nullptr);
  }

  // Finishes the cell if possible (true), otherwise cuts it.
  bool close(Frame& frame) {
    ++outcome_.cells;
    const LocalNetwork<D>& network = frame.network;
    const bool undecided = network.block_count > 0;
    std::int64_t regions = undecided ? unknown : 1;
    if (!undecided) {
      collector_.region(frame.cell, pattern_.data(), frame.traces);
    } else if (!Collector::keeps && network.block_count == 1 && network.frontier == network_.last() &&
               network.only_lines && is_bounded(frame.cell)) {
      regions = arrangement_.count(network.lines, frame.cell);
    } else if (!Collector::keeps && undecided && network.block_count == 2) {
      regions = few_lines_.count(network, frame.cell);
      if (regions != unknown) {
        outcome_.cells += few_lines_.parts();
        monitor_.work(few_lines_.parts());
      }
    }
    if (undecided && regions != unknown) collector_.count += regions;
    monitor_.found(collector_.count);
    monitor_.work(1 + network.lines.count);
    if (regions == unknown) {
      cut(frame);
      if (!restriction_.is_last_line(network)) return false;
      finish_children(frame);
    }
    monitor_.finished(frame.share);
    return true;
  }

  // For a cell that was cut by the last remaining line: its children are regions.
  void finish_children(Frame& frame) {
    for (int child = 0; child < frame.cut.count; ++child) {
      restriction_.decide_last_line(frame.network, frame.cut.sides[child],
                                    frame.cut.winners != nullptr ? frame.cut.winners[child] : nullptr);
      collector_.region(frame.cut.children[child], pattern_.data(), frame.cut.traces[child]);
    }
    outcome_.cells += frame.cut.count;
    collector_.join(frame.cell, frame.cut, frame.traces);
  }

  static bool is_bounded(const Cell& cell) {
    return std::all_of(cell.vertices, cell.vertices + cell.count,
                       [](const Vertex<D>* vertex) { return vertex->position[0] != 0; });
  }

  void cut(Frame& frame) {
    const int layer = frame.network.blocks[0].layer;
    if (network_.layers[std::size_t(layer)].has_maxima())
      cut_among_arms(frame, layer);
    else
      cut_along(frame, layer, *frame.network.blocks[0].rows[frame.network.lines.owners[frame.network.best_line]]);
    for (int child = 0; child < frame.cut.count; ++child)
      frame.cut.traces[child] = arena_.template take<Trace>(std::size_t(frame.cut.children[child].facet_count()));
    frame.mark = arena_.mark();
  }

  // Cuts along the line of the only remaining pair of a unit's arms, or into several parts.
  __attribute__((noinline)) void cut_among_arms(Frame& frame, int layer) {
    const Block<D>& block = frame.network.blocks[0];
    const int first = frame.network.lines.owners[frame.network.best_line];
    const int end = block.end_of_unit(first);
    if (end - first > 2) {
      arms_.assign(block.rows + first, block.rows + end);
      return envelope_.cut(network_, layer, arms_, frame.cell, collector_, frame.cut);
    }
    Row<D>* row = arena_.template take<Row<D>>(1);
    *row = difference_of(*block.rows[first], *block.rows[first + 1]);
    cut_along(frame, layer, *row);
    frame.cut.winners = arena_.template take<const Row<D>*>(std::size_t(frame.cut.count));
    for (int child = 0; child < frame.cut.count; ++child)
      frame.cut.winners[child] = block.rows[first + (frame.cut.sides[child] == Side::active)];
  }

  // Cuts along the best line, whose form belongs to this row.
  void cut_along(Frame& frame, int layer, const Row<D>& row) {
    const LocalNetwork<D>& network = frame.network;
    const Cell& cell = frame.cell;
    const int line = network.best_line;
    const int breakpoint = network.lines.breakpoints[line];
    const int corners = cell.count - Cell::outer;
    int* signs = arena_.take<int>(std::size_t(corners));
    const Layer& here = network_.layers[std::size_t(layer)];
    for (int i = 0; i < corners; ++i) {
      signs[i] = signs_.at_vertex(layer, row, network.lines, line, *cell.vertices[i]);
      assert(here.inputs > 32 || signs[i] == exact_.sign(layer, row.unit, breakpoint, cell.vertices[i]->name));
    }
    frame.cut.signs = signs;
    Facet<D>* facet = arena_.template take<Facet<D>>(1);
    *facet = {here.kink(row.unit, breakpoint), &row, here.breakpoint(row.unit, breakpoint)};
    Cell::cut(cell, *facet, exact_, arena_, collector_, frame.cut);
  }

  Cell whole_domain() {
    Vertex<D>* vertices = arena_.take<Vertex<D>>(std::size_t(domain_.count));
    for (int i = 0; i < domain_.count; ++i) {
      Vertex<D>& vertex = vertices[i];
      vertex = Vertex<D>{};
      std::copy_n(domain_.generators + std::size_t(i) * (D + 1), D + 1, vertex.position);
      vertex.name.generator = i;
      std::fill_n(vertex.name.boundaries, D, -1 - Boundary(i));
    }
    const Cell cell = Cell::whole(vertices, domain_.count, exact_, arena_);  // may place the vertices
    for (int i = 0; i < domain_.count; ++i) collector_.identify(vertices[i]);
    return cell;
  }

  Crew* crew_;  // null if there are no other threads
  BorrowedArena memory_;
  Arena& arena_;
  const Network& network_;
  const Domain& domain_;
  Collector& collector_;
  Monitor& monitor_;
  Outcome& outcome_;  // complete when this is destroyed, even by an exception
  Section* section_;  // null if everything is requested
  std::vector<std::uint8_t> pieces_;
  std::vector<std::uint8_t> pattern_;
  Exact exact_;
  Signs<Cell> signs_;
  Restriction<Cell> restriction_;
  typename Cell::Arrangement arrangement_;
  FewLines<Cell> few_lines_;
  Envelope<Cell> envelope_;
  std::vector<const Row<D>*> arms_;  // of the unit for which a cell is cut
  using Frames = std::vector<Frame, AlignedAllocator<Frame>>;
  Frames stack_ = Frames(1);              // finished ones stay, to be overwritten
  std::size_t begun_ = 0;                 // height of the lowest cell that the section begins within, not with
  std::size_t ending_ = 0;                // height of the lowest cell so far that the section ends in
  std::size_t shared_ = 0;                // height of the lowest cell that has given a child away
  std::shared_ptr<Memory> memory_kept_;   // this part's memory, if it is kept
  std::shared_ptr<Memory> memory_below_;  // of the cells that contain this part
};

}  // namespace REGIONS_TARGET
}  // namespace regions

// SPDX-License-Identifier: MIT
// Where do the outputs of decided units stand?
//
// Where rows have all columns, with everything else of the cell. Where layers read patches they are many, and most are read
// once, by a layer that is brought in on the same cell: so they are in two arenas in turns, and what is written for one layer
// is replaced when the next but one is brought in. Those of the frontier are read on parts of the cell, and copied.
// Invariant: what is in use is not replaced before `turn` was called twice.
#pragma once

#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class Outputs {
 public:
  explicit Outputs(Arena& of_cells) : arena_(&of_cells) {}

  // Where they are now.
  Arena& arena() { return *arena_; }

  // On another cell: nothing that was written in turns is read any more.
  void begin_turns() { write_to(turns_[0]); }

  // A layer is brought in, which reads those of now.
  void turn() { write_to(arena_ == &turns_[0] ? turns_[1] : turns_[0]); }

 private:
  void write_to(Arena& arena) {
    arena.clear();
    arena_ = &arena;
  }

  Arena turns_[2];
  Arena* arena_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions

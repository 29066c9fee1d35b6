// SPDX-License-Identifier: MIT
// Where are the outputs of decided units stored?
//
// If rows have all columns, outputs are stored in the arena of the cell, like all its data. If layers read patches, there are
// many outputs, and most are read once, by a layer that is brought in on the same cell. They are therefore stored in two
// alternating arenas: the outputs for one layer are replaced two layers later. Outputs of the frontier are copied, because
// parts of the cell read them.
// Invariant: nothing in use is replaced before `turn` has been called twice.
#pragma once

#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class Outputs {
 public:
  explicit Outputs(Arena& of_cells) : arena_(&of_cells) {}

  // The current arena.
  Arena& arena() { return *arena_; }

  // Starts another cell: alternating arenas are no longer read.
  void begin_turns() { write_to(turns_[0]); }

  // A layer is brought in that reads the current outputs.
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

// SPDX-License-Identifier: MIT
// Which kinks of a layer have the same line?
#pragma once

#include <cstdint>
#include <vector>

#include "task/network.hpp"

namespace regions {

// Layer::same_line, from its weights, biases and breakpoints.
std::vector<std::int32_t> same_lines(const Layer& layer);

}  // namespace regions

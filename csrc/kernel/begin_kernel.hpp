// SPDX-License-Identifier: MIT
// What does each kernel include before its instructions are chosen? It is compiled for every machine, and shared.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "memory/arena.hpp"
#include "rows/lanes.hpp"

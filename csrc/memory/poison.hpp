// SPDX-License-Identifier: MIT
// What tells that memory of an arena is used by someone it does not belong to?
//
// The address sanitizer, which knows what malloc gave out, but not how an arena divides it. So in its build an arena
// leaves a gap behind everything it gives out, and poisons all that it has not given out or that was given back. In any
// other build these functions do nothing.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace regions {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool poisons = true;
inline void poison(const void* memory, std::size_t bytes) { __asan_poison_memory_region(memory, bytes); }
inline void unpoison(const void* memory, std::size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
#else
constexpr bool poisons = false;
inline void poison(const void*, std::size_t) {}
inline void unpoison(const void*, std::size_t) {}
#endif

}  // namespace regions

// SPDX-License-Identifier: MIT
// How are accesses to memory of an arena detected after it was freed?
//
// The address sanitizer knows the allocations of malloc, but not how an arena divides them. In its build an arena
// therefore leaves a gap behind each allocation, and poisons everything that is not allocated or was freed. In any
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

// SPDX-License-Identifier: MIT
// How is the same done with many things by several threads, when it is known beforehand what there is to do?
//
// Each takes the next thing until there is none. The calling thread works as well, and no thread outlives the call. What one
// throws comes out of it, when all others have done what they had begun.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace regions {

// `work(i)` for each i below `count`.
template <class Work>
void side_by_side(int workers, std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto take_turns = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (std::size_t other = 1; other < std::size_t(workers) && other < count; ++other) threads.emplace_back(take_turns);
  } catch (const std::exception&) {  // no more threads to be had: those that there are will do
  }
  take_turns();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace regions

// SPDX-License-Identifier: MIT
// Runs the tests that the other files here register.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

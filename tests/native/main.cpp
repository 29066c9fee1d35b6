// SPDX-License-Identifier: MIT
// The program that runs what the other files here register.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

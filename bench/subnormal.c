// SPDX-License-Identifier: MIT
// How many products and quotients of subnormal numbers does the core compute?
//
// Preloaded, this replaces fesetenv, with which the core sets the processor to strict arithmetic. In the mode "count" the processor
// also interrupts each operation with a subnormal operand or result; it is counted, repeated without the interrupt, and
// the next one interrupts again. Sums are left out, because no processor is slow there. In the mode "flush" the processor
// takes subnormal numbers for zero. For x86-64 and Linux.
#define _GNU_SOURCE
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <xmmintrin.h>

static const unsigned standard = 0x1f80, denormal = 1u << 8, underflow = 1u << 11, flushed = 0x8040;
static const unsigned long single_step = 1ul << 8;
static long counted;
static int mode;  // 'c' or 'f'

long subnormal_operations(void) { return counted; }

// Whether an instruction multiplies, divides, or takes a root, also together with a sum.
static int is_product(const unsigned char* code) {
  int map = 1;  // of opcodes: 1 is 0F, 2 is 0F 38
  if (*code == 0xc5) {
    code += 2;
  } else if (*code == 0xc4) {
    map = code[1] & 0x1f;
    code += 3;
  } else if (*code == 0x62) {
    map = code[1] & 7;
    code += 4;
  } else {
    while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || (*code & 0xf0) == 0x40) ++code;
    ++code;
  }
  return map == 1 ? *code == 0x51 || *code == 0x59 || *code == 0x5e : map == 2 && *code >= 0x96 && *code <= 0xbf;
}

static void on_subnormal(int number, siginfo_t* info, void* place) {
  (void)number, (void)info;
  ucontext_t* here = place;
  counted += is_product((const unsigned char*)here->uc_mcontext.gregs[REG_RIP]);
  here->uc_mcontext.fpregs->mxcsr = standard;
  here->uc_mcontext.gregs[REG_EFL] |= single_step;
}

static void after_it(int number, siginfo_t* info, void* place) {
  (void)number, (void)info;
  ucontext_t* here = place;
  here->uc_mcontext.fpregs->mxcsr = standard & ~(denormal | underflow);
  here->uc_mcontext.gregs[REG_EFL] &= ~single_step;
}

static void begin(void) {
  const char* wanted = getenv("REGIONS_SUBNORMAL");
  mode = wanted ? *wanted : 'f';
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_subnormal;
  sigaction(SIGFPE, &action, NULL);
  action.sa_sigaction = after_it;
  sigaction(SIGTRAP, &action, NULL);
}

int fesetenv(const fenv_t* environment) {
  if (!mode) begin();
  const unsigned strict = mode == 'c' ? standard & ~(denormal | underflow) : standard | flushed;
  _mm_setcsr(environment == FE_DFL_ENV ? strict : standard);
  return 0;
}

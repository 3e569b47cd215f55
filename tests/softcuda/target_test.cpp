// target_test.cpp -- softcuda/src/target: stacks, faults, floating-point modes, calls that keep all
// registers. Links neither LLVM nor the runtime.
#include "target/faults.h"
#include "target/float_environment.h"
#include "target/pause.h"
#include "target/switch_stack.h"
#include "target/ticks.h"
#include "target/vector_facts.h"

#include <array>
#include <cfenv>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/mman.h>

namespace {

using namespace softcuda;
using target::Access;

int failures = 0;

void check(bool is_right, const char *what) {
    if (is_right)
        return;
    std::printf("wrong: %s\n", what);
    ++failures;
}

// Stacks.

void *main_stack, *fiber_stack;
int resumed = 0;

void count(void *step) {
    volatile double kept = 1; // in a register or on this stack
    for (;;) {
        kept = kept * 2;
        resumed += *static_cast<int *>(step) * static_cast<int>(kept);
        scu_switch_stack(&fiber_stack, main_stack);
    }
}

void test_switches() {
    alignas(16) static std::array<std::byte, 65536> stack;
    int step = 3;
    fiber_stack = target::prepare_stack(stack.data() + stack.size(), count, &step);
    for (int i = 0; i < 4; ++i)
        scu_switch_stack(&main_stack, fiber_stack);
    check(resumed == 3 * (2 + 4 + 8 + 16), "the values of a fiber");
}

// Faults.

sigjmp_buf jump;
Access seen;
std::uint64_t seen_stack, seen_return;

void on_fault(int, siginfo_t *, void *context) {
    const auto &interrupted = *static_cast<ucontext_t *>(context);
    seen = target::faulting_access(interrupted);
    seen_stack = target::stack_pointer(interrupted);
    seen_return = target::return_register(interrupted);
    siglongjmp(jump, 1);
}

void test_fault(Access wanted, const char *what, const std::function<void()> &access) {
    const volatile char here = 0;
    if (sigsetjmp(jump, 1) == 0) {
        access();
        return check(false, what);
    }
    check(seen == wanted, what);
    const std::uint64_t stack = reinterpret_cast<std::uint64_t>(&here);
    check(stack - seen_stack < 4096 || seen_stack - stack < 4096, "the stack pointer of a fault");
}

void test_faults() {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (const int signal : {SIGSEGV, SIGBUS})
        sigaction(signal, &action, nullptr);
    void *page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto *byte = static_cast<volatile char *>(page);
    auto *word = static_cast<volatile std::uint64_t *>(page);
    auto *real = static_cast<volatile double *>(page);
    static volatile double result;
    test_fault(Access::Read, "a load of a byte", [&] { (void)*byte; });
    test_fault(Access::Write, "a store of a byte", [&] { *byte = 1; });
    test_fault(Access::Read, "a load of a word", [&] { (void)*word; });
    test_fault(Access::Write, "a store of a word", [&] { *word = 1; });
    test_fault(Access::Read, "a load of a double", [&] { result = *real; });
    test_fault(Access::Write, "a store of a double", [&] { *real = result; });
    test_fault(Access::Write, "an atomic sum",
               [&] { __atomic_fetch_add(word, std::uint64_t{1}, __ATOMIC_SEQ_CST); });
    test_fault(Access::Write, "a compare and swap", [&] {
        std::uint64_t old = 0;
        __atomic_compare_exchange_n(word, &old, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    });
#if defined(__aarch64__)
#define TEST_ACCESS(wanted, text)                                                                  \
    test_fault(wanted, text, [&] { asm volatile(text : : "r"(page) : "x1", "x30", "v0", "v1"); })
    TEST_ACCESS(Access::Read, "ldr q0, [%0]");
    TEST_ACCESS(Access::Write, "str q0, [%0]");
    TEST_ACCESS(Access::Read, "ldur d0, [%0, #3]");
    TEST_ACCESS(Access::Write, "stur s0, [%0, #3]");
    TEST_ACCESS(Access::Read, "ldp q0, q1, [%0]");
    TEST_ACCESS(Access::Write, "stp q0, q1, [%0]");
    TEST_ACCESS(Access::Read, "ld1 {v0.4s, v1.4s}, [%0]");
    TEST_ACCESS(Access::Write, "st1 {v0.4s, v1.4s}, [%0]");
    TEST_ACCESS(Access::Read, "ld1 {v0.s}[1], [%0]");
    TEST_ACCESS(Access::Write, "st1 {v0.s}[1], [%0]");
    TEST_ACCESS(Access::Read, "ld1r {v0.4s}, [%0]");
    TEST_ACCESS(Access::Read, "ldar w1, [%0]");
    TEST_ACCESS(Access::Write, "stlr w1, [%0]");
    TEST_ACCESS(Access::Read, "ldrsw x1, [%0]");
    TEST_ACCESS(Access::Read, "ldr x1, [%0, xzr]");
    TEST_ACCESS(Access::Write, "str x1, [%0, xzr]");
    TEST_ACCESS(Access::Read, "bl 1f\n b 2f\n 1: ldr x1, [%0]\n ret\n 2:");
    check(target::is_behind_call(seen_return), "the return address of a function without a frame");
#undef TEST_ACCESS
#endif
}

// Floating-point modes.

void test_modes() {
    std::fesetround(FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    volatile double one = 1, zero = 0, sum = 0;
    {
        const StandardFloats standard;
        sum = one + 0x1p-60;
        check(sum == 1, "to nearest within the scope");
        sum = zero / zero;
    }
    check(std::fegetround() == FE_UPWARD, "the rounding mode after the scope");
    check(std::fetestexcept(FE_INVALID) == 0, "the flags after the scope");
    sum = one + 0x1p-60;
    check(sum > 1, "upwards after the scope");
    std::fesetround(FE_TONEAREST);
}

void test_changes_of_standard_modes() {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_OVERFLOW);
    volatile double zero = 0, sum = 0;
    {
        const StandardFloats standard;
        sum = zero / zero;
        std::fesetround(FE_DOWNWARD);
    }
    static_cast<void>(sum);
    check(std::fegetround() == FE_TONEAREST, "a rounding mode that was set within the scope");
    check(std::fetestexcept(FE_INVALID | FE_OVERFLOW) == FE_OVERFLOW,
          "a flag from before, and none of the scope");
    std::feclearexcept(FE_ALL_EXCEPT);
}

// Calls that keep all registers.

std::uint64_t passed = 0;

} // namespace

extern "C" {
void scu_check_places(std::uint64_t first) {
    passed = first;
    // Overwrites what a usual function may.
#if defined(__aarch64__)
    asm volatile("movi v0.16b, #1\n movi v8.16b, #3\n movi v31.16b, #7\n mov x0, #0\n mov x9, #5\n"
                 "mov x15, #7\n mov x18, #0"
                 :
                 :
                 : "v0", "v8", "v31", "x0", "x9", "x15", "x18");
#else
    asm volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm15, %%xmm15\n xorl %%eax, %%eax\n"
                 "xorl %%edi, %%edi\n xorl %%r11d, %%r11d"
                 :
                 :
                 : "xmm0", "xmm15", "rax", "rdi", "r11", "cc");
#endif
}
void scu_check_addresses() {}
void scu_load_lanes() {}
void scu_store_lanes() {}
void scu_texture() {}
}

namespace {

void test_preserved_registers() {
    alignas(16) static std::array<std::uint64_t, 10> before, after;
    for (std::size_t i = 0; i < before.size(); ++i)
        before[i] = 0x0101010101010101 * (i + 1);
#if defined(__aarch64__)
    asm volatile("mov x16, %0\n ldp q0, q8, [x16]\n ldr q31, [x16, #32]\n"
                 "ldp x0, x9, [x16, #48]\n ldp x15, x18, [x16, #64]\n mov x20, %1\n"
                 "bl scu_check_places_preserving\n"
                 "stp q0, q8, [x20]\n str q31, [x20, #32]\n"
                 "stp x0, x9, [x20, #48]\n stp x15, x18, [x20, #64]"
                 :
                 : "r"(before.data()), "r"(after.data())
                 : "x0", "x9", "x15", "x16", "x17", "x18", "x20", "x30", "v0", "v8", "v31",
                   "memory", "cc");
    check(passed == before[6], "the argument of a call that keeps registers");
    check(before == after, "the registers after the call");
#else
    asm volatile("movups (%0), %%xmm0\n movups 16(%0), %%xmm15\n movq 32(%0), %%rax\n"
                 "movq 40(%0), %%rdi\n movq 48(%0), %%r11\n"
                 "call scu_check_places_preserving\n"
                 "movups %%xmm0, (%1)\n movups %%xmm15, 16(%1)\n movq %%rax, 32(%1)\n"
                 "movq %%rdi, 40(%1)\n movq %%r11, 48(%1)"
                 :
                 : "b"(before.data()), "r"(after.data())
                 : "xmm0", "xmm15", "rax", "rdi", "r11", "memory", "cc");
    check(passed == before[5], "the argument of a call that keeps registers");
    check(std::memcmp(before.data(), after.data(), 56) == 0, "the registers after the call");
#endif
}

void test_rest() {
    const std::uint64_t begin = target::ticks();
    target::pause();
    check(target::ticks() >= begin, "the clock");
    check(target::levels().front().name == "native", "the first level");
    const auto no_feature = [](const char *) { return false; };
    check(target::facts_of(no_feature).register_bits == 128, "the least vector unit");
}

} // namespace

int main() {
    test_switches();
    test_faults();
    test_modes();
    test_changes_of_standard_modes();
    test_preserved_registers();
    test_rest();
    std::printf("%d failures\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

// guard.cpp -- signal handlers that turn faults in kernels into return values.
//
// The handlers run on a separate stack, because a fault may be the overflow of the thread's
// stack. They touch nothing but the thread's guard: `current_guard` is in static TLS, so that
// reading it in a handler allocates nothing even in a thread that never called this library.
#undef _FORTIFY_SOURCE // its longjmp check does not know of signal stacks
#include "rt/guard.h"

#include "rt/code_ranges.h"
#include "rt/fiber.h"
#include "rt/reserved_range.h"
#include "rt/thread_owned.h"
#include "target/faults.h"
#include "target/ticks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace softcuda::rt {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local Guard *current_guard = nullptr;

/// The lowest address of the calling thread's stack, to distinguish its overflow from other faults.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t lowest_of_stack = 0;
/// The location of the lowest address of another stack, while the thread runs on it.
[[gnu::tls_model("initial-exec")]] thread_local const StackRange *watched_stack = nullptr;

constexpr std::array kFaultSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::uint64_t kStackGuardBytes = std::uint64_t{1} << 20;

/// The handlers that ours replaced. A program may install its own after ours; ours then go in
/// again, and there is one more record. Records live as long as the process, since a handler may
/// read them at any time.
struct Replaced {
    std::array<struct sigaction, kFaultSignals.size()> actions{};
    const Replaced *older = nullptr;
};
std::atomic<const Replaced *> last_replaced{nullptr};
/// How many handlers of others the calling thread is in. Each may call the handler that it
/// replaced, which is ours; that call then goes to an older one.
[[gnu::tls_model("initial-exec")]] thread_local unsigned handlers_of_others = 0;

std::atomic<int> interrupt_signal{0};

/// The least time that a call of sigaction() has taken. 0: not measured.
std::atomic<std::uint64_t> quickest_call{0};
/// When a thread has looked at the handlers the last time.
std::atomic<std::uint64_t> looked_at{0};
/// A look is too old after this multiple of quickest_call, about 40 us: another thread of the
/// client may have replaced a handler. It may do so while a kernel runs as well, which takes as
/// long, so that a shorter time would protect nothing.
constexpr std::uint64_t kOldLook = 256;

bool has_looked_lately(std::uint64_t now) noexcept {
    return now - looked_at.load(std::memory_order_relaxed) <
           kOldLook * quickest_call.load(std::memory_order_relaxed);
}

/// The end of the thread's previous ClientCall in which the handlers were known; 0: not known.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t client_returned = 0;
/// Of the ClientCall that is on the thread's stack: whether the handlers are known to be ours.
enum class Handlers : std::uint8_t { NoCall, Unknown, Known };
[[gnu::tls_model("initial-exec")]] thread_local Handlers handlers = Handlers::NoCall;

/// Whether the thread has a stack for handlers.
[[gnu::tls_model("initial-exec")]] thread_local bool is_prepared = false;

FaultReport::Direction direction_of(const ucontext_t &context) {
    switch (target::faulting_access(context)) {
    case target::Access::Read:
        return FaultReport::Direction::Read;
    case target::Access::Write:
        return FaultReport::Direction::Write;
    case target::Access::Unknown:
        break;
    }
    return FaultReport::Direction::Unknown;
}

bool is_stack_overflow(std::uint64_t address) {
    const std::uint64_t begin = watched_stack ? watched_stack->begin : lowest_of_stack;
    return begin != 0 && address < begin && begin - address <= kStackGuardBytes;
}

/// Lets the calling thread get the signals that end guarded calls.
void unblock_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, interrupt_signal);
    for (const int signal : kFaultSignals)
        sigaddset(&set, signal);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// After a jump: the memory below on the stack belongs to frames that never returned.
/// AddressSanitizer clears them itself only if the jump began on the same stack.
void forget_left_frames() {
#if defined(__SANITIZE_ADDRESS__)
    constexpr std::size_t kBytes = std::size_t{256} << 10;
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    const std::uint64_t begin = std::max(here - kBytes, lowest_of_stack);
    __asan_unpoison_memory_region(reinterpret_cast<void *>(begin), here - begin);
#endif
}

bool is_return_address(std::uint64_t word) noexcept {
    return is_generated_code(word - target::longest_call) && is_generated_code(word) &&
           target::is_behind_call(word);
}

/// The position at which generated code called the running function: the first address behind a
/// call above `stack`. Words of a live stack are read as they are, whatever a sanitizer thinks of
/// the frames between.
__attribute__((no_sanitize("address", "thread"))) std::uint64_t
find_caller(std::uint64_t stack, const Guard *guard) noexcept {
    constexpr std::uint64_t kMostBytes = std::uint64_t{64} * 1024;
    // The guard is in a frame that called the code, unless the code runs on a fiber's stack.
    const bool on_fiber =
        watched_stack && stack >= watched_stack->begin && stack < watched_stack->end;
    const std::uint64_t end =
        on_fiber ? watched_stack->end : reinterpret_cast<std::uint64_t>(guard);
    const std::uint64_t bytes = end - stack < kMostBytes ? end - stack : kMostBytes;
    for (std::uint64_t at = (stack + 7) & ~std::uint64_t{7}; at + 8 <= stack + bytes; at += 8) {
        const std::uint64_t word = *reinterpret_cast<const volatile std::uint64_t *>(at);
        if (is_return_address(word))
            return word;
    }
    return 0;
}

/// The same for an interrupted function of the runtime, which may have no frame.
std::uint64_t caller_of(const ucontext_t &context, const Guard *guard) noexcept {
    const std::uint64_t returns_to = target::return_register(context);
    return is_return_address(returns_to) ? returns_to
                                         : find_caller(target::stack_pointer(context), guard);
}

FaultReport report_of(int signal, const siginfo_t &info, const ucontext_t &context) {
    FaultReport report;
    report.signal = signal;
    if (signal == SIGFPE || signal == SIGILL) {
        report.kind = Fault::InvalidInstruction;
        return report;
    }
    report.address = reinterpret_cast<std::uint64_t>(info.si_addr);
    // For an address that no pointer can have, the processor does not say which it was.
    report.address_known = info.si_code > 0 && info.si_code != SI_KERNEL;
    if (report.address_known)
        report.direction = direction_of(context);
    if (signal == SIGSEGV && report.address_known && is_stack_overflow(report.address))
        report.kind = Fault::StackOverflow;
    return report;
}

} // namespace

/// The handlers, which may look into a guard.
struct SignalHandlers {
    static void on_fault(int signal, siginfo_t *info, void *context) {
        Guard *guard = current_guard;
        if (!guard || !guard->armed_)
            return pass_on(signal, info, context);
        const ucontext_t &at = *static_cast<ucontext_t *>(context);
        guard->fault_ = report_of(signal, *info, at);
        if (is_generated_code(target::program_counter(at)))
            guard->fault_.code = target::program_counter(at) + 1;
        else if (guard->fault_.kind != Fault::StackOverflow) // there is no stack to look at
            guard->fault_.code = caller_of(at, guard);
        guard->exit_ = Guard::Exit::Faulted;
        prepare_jump();
        siglongjmp(guard->jump_, 1);
    }

    static void on_interrupt(int, siginfo_t *, void *context) {
        Guard *guard = current_guard;
        if (!guard || !guard->armed_ || !guard->interrupt_ || !guard->interrupt_->load())
            return;
        if (!is_generated_code(target::program_counter(*static_cast<ucontext_t *>(context))))
            return;
        guard->exit_ = Guard::Exit::Interrupted;
        prepare_jump();
        siglongjmp(guard->jump_, 1);
    }

    /// To the handler that ours replaced.
    static void pass_on(int signal, siginfo_t *info, void *context) {
        const auto index = static_cast<std::size_t>(
            std::find(kFaultSignals.begin(), kFaultSignals.end(), signal) - kFaultSignals.begin());
        const Replaced *replaced = last_replaced.load();
        for (unsigned skipped = 0; replaced && skipped < handlers_of_others; skipped++)
            replaced = replaced->older;
        if (replaced && call(replaced->actions.at(index), signal, info, context))
            return;
        // The instruction runs again, faults again, and ends the process as it would have; a signal
        // that somebody sent has to be sent again.
        struct sigaction standard{};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
        if (info->si_code <= 0)
            raise(signal);
    }

    /// False if the action is no handler.
    static bool call(const struct sigaction &action, int signal, siginfo_t *info, void *context) {
        if (!(action.sa_flags & SA_SIGINFO) &&
            (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
            return false;
        handlers_of_others++;
        if (action.sa_flags & SA_SIGINFO)
            action.sa_sigaction(signal, info, context);
        else
            action.sa_handler(signal);
        handlers_of_others--;
        return true;
    }

    static struct sigaction action(void (*handler)(int, siginfo_t *, void *), int flags) {
        struct sigaction action{};
        action.sa_sigaction = handler;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | flags;
        sigemptyset(&action.sa_mask);
        return action;
    }

    /// An unused real-time signal.
    static int free_signal() {
        for (int signal = SIGRTMAX - 4; signal > SIGRTMIN; signal--) {
            struct sigaction present{};
            if (sigaction(signal, nullptr, &present) == 0 && !(present.sa_flags & SA_SIGINFO) &&
                present.sa_handler == SIG_DFL)
                return signal;
        }
        return SIGRTMAX - 4;
    }

    static bool is_ours(const struct sigaction &action) {
        return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_fault;
    }

    static void install_for_faults() {
        auto replaced = std::make_unique<Replaced>();
        for (std::size_t i = 0; i < kFaultSignals.size(); i++) {
            // Not blocked while the handler runs, so jumping out of it leaves nothing blocked.
            const struct sigaction ours = action(on_fault, SA_NODEFER);
            struct sigaction &other = replaced->actions.at(i);
            sigaction(kFaultSignals[i], nullptr, &other);
            if (const Replaced *last = last_replaced; last && is_ours(other))
                other = last->actions.at(i);
            else
                sigaction(kFaultSignals[i], &ours, nullptr);
        }
        const Replaced *last = last_replaced;
        if (last && std::ranges::equal(last->actions, replaced->actions, same_handler))
            return; // the program installs the same ones again and again
        replaced->older = last;
        last_replaced = replaced.release();
    }

    static bool same_handler(const struct sigaction &a, const struct sigaction &b) {
        return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
    }

    /// Installs our handlers again if the program has installed its own.
    static void keep() {
        struct sigaction present{};
        const std::uint64_t begin = target::ticks();
        const int result = sigaction(SIGSEGV, nullptr, &present);
        const std::uint64_t end = target::ticks();
        if (end - begin < quickest_call.load(std::memory_order_relaxed))
            quickest_call.store(end - begin, std::memory_order_relaxed);
        looked_at.store(begin, std::memory_order_relaxed);
        if (result != 0 || is_ours(present))
            return;
        static std::mutex mutex;
        std::lock_guard lock(mutex);
        install_for_faults();
    }

    static void install() {
        install_for_faults();
        quickest_call = target::ticks() == 0 ? 0 : ~std::uint64_t{0};
        for (int i = 0; i < 16; i++)
            keep();
        const int signal = free_signal();
        // Blocked while the handler runs: many may be queued, and each would take some stack.
        const struct sigaction ours = action(on_interrupt, 0);
        sigaction(signal, &ours, nullptr);
        interrupt_signal = signal;
    }
};

namespace {

/// The thread's stack for signal handlers, unless it has one already.
class SignalStack {
  public:
    SignalStack() {
        stack_t present{};
        if (sigaltstack(nullptr, &present) == 0 && !(present.ss_flags & SS_DISABLE))
            return; // the client's, or a sanitizer's
        const std::uint64_t bytes = round_up(stack_bytes(), page_size());
        memory_ = std::make_unique<ReservedRange>(bytes + page_size());
        std::byte *stack = memory_->begin() + page_size();
        if (!memory_->open(stack, bytes))
            throw std::bad_alloc();
        stack_t ours{};
        ours.ss_sp = stack;
        ours.ss_size = bytes;
        sigaltstack(&ours, nullptr);
    }

    ~SignalStack() {
        if (!memory_)
            return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }

  private:
    /// Space for a few nested signals: with the processor's vector state, each needs up to 11 KB.
    static std::uint64_t stack_bytes() {
        return std::uint64_t{64} * 1024 + 8 * std::uint64_t{getauxval(AT_MINSIGSTKSZ)};
    }

    std::unique_ptr<ReservedRange> memory_;
};

void find_stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    void *begin = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &begin, &size) == 0)
        lowest_of_stack = reinterpret_cast<std::uint64_t>(begin) + page_size();
    pthread_attr_destroy(&attributes);
}

} // namespace

Guard::Guard(const std::atomic<bool> *interrupt) noexcept : interrupt_(interrupt) {}

Guard *Guard::current() noexcept { return current_guard; }

void Guard::enter() noexcept {
    armed_ = true;
    current_guard = this;
    handlers_of_others = 0; // a handler may have been left by a jump
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void Guard::leave() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    armed_ = false;
    current_guard = outer_;
    if (exit_ == Exit::Returned)
        return;
    forget_left_frames();
    unblock_signals(); // the handler that was left may have run with some blocked
}

void Guard::fail(const FaultReport &fault) noexcept {
    Guard *guard = current_guard;
    if (!guard)
        std::terminate(); // generated code runs under a guard only
    guard->fault_ = fault;
    guard->fault_.code =
        find_caller(reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)), guard);
    guard->exit_ = Exit::Faulted;
    prepare_jump();
    siglongjmp(guard->jump_, 1);
}

void Guard::poll_interrupt() noexcept {
    Guard *guard = current_guard;
    if (!guard || !guard->armed_ || !guard->interrupt_ || !guard->interrupt_->load())
        return;
    guard->exit_ = Exit::Interrupted;
    prepare_jump();
    siglongjmp(guard->jump_, 1);
}

void watch_stack(const StackRange *stack) noexcept { watched_stack = stack; }

void prepare_thread_for_guards() {
    if (handlers == Handlers::Known && is_prepared)
        return;
    if (!is_prepared) {
        static std::once_flag installed;
        std::call_once(installed, SignalHandlers::install);
        thread_owned<SignalStack>();
        find_stack();
        unblock_signals();
        is_prepared = true;
    }
    SignalHandlers::keep();
    if (handlers == Handlers::Unknown)
        handlers = Handlers::Known;
}

void prepare_worker_for_guards() {
    if (!is_prepared || !has_looked_lately(target::ticks()))
        prepare_thread_for_guards();
}

ClientCall::ClientCall() noexcept {
    const std::uint64_t now = target::ticks();
    const bool is_soon = now - client_returned < quickest_call.load(std::memory_order_relaxed);
    handlers = is_soon && has_looked_lately(now) ? Handlers::Known : Handlers::Unknown;
}

ClientCall::~ClientCall() {
    client_returned = handlers == Handlers::Known ? target::ticks() : 0;
    handlers = Handlers::NoCall;
}

void interrupt_thread(int thread_id) noexcept {
    syscall(SYS_tgkill, getpid(), thread_id, interrupt_signal.load());
}

bool guarded_copy(void *destination, std::uint64_t source, std::size_t bytes) noexcept {
    Guard guard;
    return guard.run([&] {
        std::memcpy(destination, reinterpret_cast<const void *>(source), bytes);
    }) == Guard::Exit::Returned;
}

} // namespace softcuda::rt

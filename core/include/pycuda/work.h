// work.h -- one piece of work on the device: its context, its stream, the graph that records it,
// and the memory that it uses.
//
// Each operation that reaches the device (an operator, a copy, a fill, a launch, a call of a
// library) gets all of these from one Work. The rules are here, and nowhere else:
//
//   context   that of the operands, else the thread's current one. Operands of two devices are an
//             error that names both. The context is current while the operation runs (WorkContext).
//   stream    determined after the context: the one that the caller asks for, else the thread's
//             current stream if it belongs to the context, else the default stream
//             (current_stream()).
//   capture   if the stream is being captured, the graph owns what the work uses: new memory comes
//             from the graph's pool, memory from before the capture is kept, and nothing waits for
//             the stream. Errors that the work finds are thrown after a launch (add_check()).
//   memory    read() and write() return the address of an operand, and record that the stream uses
//             its memory: the memory serves no other array before the work is done. write() also
//             checks that the operand may be written. follow() lets the work wait for the stream of
//             another library. keep_until_done() keeps any other object that the work uses.
//
//     Work work(stream);
//     launch(kernel, {grid, block, 0, work.stream()}, work.write(out), work.read(x), n);
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_memory.h>
#include <pycuda/context.h>
#include <pycuda/failed_check.h>
#include <pycuda/noted_operation.h>
#include <pycuda/stream.h>
#include <pycuda/wait.h>

#include <cuda.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda {

namespace detail {
class CaptureMemory;
}

/// Makes the context of an operation's arrays current in a scope, if it is not. Without arrays,
/// nothing changes. For one thread.
class [[nodiscard]] WorkContext {
  public:
    /// Of no array yet.
    WorkContext() noexcept = default;

    /// Throws std::invalid_argument, which names both devices, if an earlier array is on another
    /// device.
    void add(const Array &array) {
        if (array.memory()) [[likely]]
            add(array.context()->context());
        if (operations_are_noted()) [[unlikely]]
            note_operand(array);
    }
    /// A context that is kept alive in the scope.
    void add(const Context &context) {
        if (home_ == nullptr)
            home_ = &context;
        else if (home_ != &context) [[unlikely]]
            add_other(context);
    }
    /// Whether no context was added.
    bool empty() const noexcept { return home_ == nullptr; }
    /// Makes the context current. Call it once.
    void enter() {
        if (home_ != nullptr) [[likely]]
            enter_home();
    }
    /// The context that enter() has made current, or found to be; null if there is none.
    CUcontext entered() const noexcept { return entered_; }

  private:
    void add_other(const Context &other);
    void note_operand(const Array &array);
    void enter_home();

    const Context *home_ = nullptr; ///< kept alive by the operands
    CUcontext entered_ = nullptr;
    bool has_several_ = false; ///< contexts of one device
    std::optional<ScopedContext> scope_;
    std::unique_ptr<ArrayContext::InCurrent> several_;
    std::unique_ptr<NotedOperation> noted_; ///< if the thread's operation began here
};

/// Work that is queued in one stream in the scope of this object. Only a Work returns an array's
/// address, so no work on arrays can be launched without one.
///
/// Costs nothing if the memory was allocated for this stream. For one thread.
class [[nodiscard]] Work {
  public:
    /// In the current context.
    explicit Work(StreamRef stream) : Work(stream, nullptr) {}
    /// In a context that was entered, which the driver need not be asked for again.
    Work(StreamRef stream, const WorkContext &context) : Work(stream) {
        context_ = context.entered();
    }
    /// For a kernel of this context, which must outlive the object. Memory of another device is
    /// then an error, unless the context has access to it; memory of another context is ordered
    /// before and after the work, whatever its stream.
    Work(StreamRef stream, const Context &context) : Work(stream, &context) {}
    /// As above, for a kernel of the program, which may keep its arguments in variables: a later
    /// kernel may then write without an argument. So each use is as with lend().
    struct KernelOfProgram {};
    Work(StreamRef stream, const Context &context, KernelOfProgram) : Work(stream, &context) {
        lends_ = true;
    }
    Work(Work &&) noexcept = default;
    Work &operator=(Work &&) = delete;
    /// Records the end of the work if memory of another stream was used.
    ~Work() {
        if (noted_ != nullptr) [[unlikely]]
            record();
    }

    /// The stream of the work.
    StreamRef stream() const noexcept { return stream_; }
    /// Whether the work is recorded for a graph, so that it does not run now.
    bool is_captured() const noexcept { return noted_ != nullptr && noted_->capture != nullptr; }
    /// Throws Error, and leaves the capture valid, if the work is captured. For operations that
    /// wait for their result; `what` names the operation if called_function() does not.
    void require_running(std::string_view what) const {
        if (is_captured()) [[unlikely]]
            throw_captured(what);
    }

    /// The address of the array's first element; 0 for an array without elements. Throws Error
    /// (invalid handle) if the memory was freed, or (context is destroyed) if its context has
    /// ended.
    CUdeviceptr read(const Array &array) {
        note(array.memory());
        return array.address();
    }
    /// As above, for work that certainly does not change the elements: what is known about them
    /// stays known (arrays/index_check.h).
    CUdeviceptr read_only(const Array &array) {
        if (array.memory() != nullptr)
            note_use(array.memory());
        return array.address();
    }
    /// As read(), for code that uses the address after this work: from now on, nothing is known
    /// about the elements.
    CUdeviceptr lend(const Array &array) {
        if (array.memory() != nullptr)
            array.memory()->expose();
        return read(array);
    }
    /// As read(), for an array that the work changes. Throws ReadOnlyArray with the array's role
    /// ("out") if the array is read-only.
    CUdeviceptr write(const Array &array, std::string_view role = "the output") {
        array.require_writable(role);
        return read(array);
    }
    /// The address of the start of the memory.
    CUdeviceptr use(const std::shared_ptr<ArrayMemory> &memory) {
        note(memory);
        return memory->address();
    }

    /// Whether all other work that uses the memory, of any stream, was before this work: so that
    /// what this work has read stays true until work that is queued later changes the memory. Call
    /// it after a wait for this work. May be false if that is not known.
    bool was_after_all_uses(ArrayMemory &memory) const;

    /// Lets the work wait for what is now in `producer`, a stream of the current context.
    void follow(StreamRef producer);

    /// Keeps an object until the work is done, or until the graph that records it has ended. For
    /// what the work uses and is not ArrayMemory: host buffers, textures, objects of the program.
    void keep_until_done(std::shared_ptr<void> object);
    /// What was noted so far is not used: nothing is queued after all.
    void forget() noexcept {
        if (!is_captured())
            noted_ = nullptr;
    }
    /// Keeps an object until the graph that records the work has ended. Does nothing if the work is
    /// not captured. For memory whose owner waits for the device before the memory is freed.
    void keep_in_graph(std::shared_ptr<void> object);

    /// For captured work that checks values: the address of an int32 for each failure, 0 before the
    /// launches. If a kernel of a launch sets int32 number i to 1, the next wait for the launch
    /// throws failures[i].
    CUdeviceptr add_check(std::span<const FailedCheck> failures);

  private:
    /// What most work has not: a capture, memory whose home is another stream, objects of
    /// keep_until_done().
    struct Noted {
        std::shared_ptr<detail::CaptureMemory> capture;
        std::vector<std::shared_ptr<ArrayMemory>> away;
        std::vector<std::shared_ptr<void>> kept;
    };

    Work(StreamRef stream, const Context *kernel_context)
        : stream_(stream.is_default() ? StreamRef() : stream), kernel_context_(kernel_context),
          context_(kernel_context != nullptr ? kernel_context->get() : nullptr) {
        if (stream_.get() != nullptr) [[unlikely]]
            find_capture();
    }
    void note(const std::shared_ptr<ArrayMemory> &memory) {
        if (memory == nullptr)
            return;
        lends_ ? memory->expose() : memory->forget_bounds();
        note_use(memory);
    }
    void note_use(const std::shared_ptr<ArrayMemory> &memory) {
        const ArrayContext &home = *memory->context();
        if (home.handle() == context_ && home.context().usable() && !is_captured() &&
            memory->is_at_home(stream_.get())) [[likely]]
            memory->is_fresh_.store(false, std::memory_order_relaxed);
        else
            note_specially(memory);
    }
    void note_specially(const std::shared_ptr<ArrayMemory> &memory);
    Noted &noted();
    /// Whether the memory is of the context of the stream: the default streams of two contexts have
    /// the same handle.
    bool is_in_context(const ArrayMemory &memory);
    void find_capture();
    void note_away(const std::shared_ptr<ArrayMemory> &memory);
    void note_captured(const std::shared_ptr<ArrayMemory> &memory);
    void note_elsewhere(const std::shared_ptr<ArrayMemory> &memory);
    void wait_for_home(const ArrayMemory &memory) const;
    detail::StreamUse record_use(const Context &context) const;
    void record() noexcept;
    Context stream_context() const;
    bool is_ordered_with(const Context &other) const;
    [[noreturn]] static void throw_captured(std::string_view what);

    StreamRef stream_;
    const Context *kernel_context_ = nullptr;
    CUcontext context_ = nullptr; ///< of the stream; null before the first memory is noted
    bool lends_ = false;
    std::unique_ptr<Noted> noted_;
};

/// In the scope of this object, a thread whose current stream is being captured, or would wait for
/// a captured stream, queues work in another stream, and the work is done at the end of the scope.
/// For results that outlive the graph, such as constants that a cache keeps. They must not depend
/// on arrays that the recorded work computes: such a use throws Error, and leaves the capture
/// valid. Nothing changes if no stream is captured.
class [[nodiscard]] WorkOutsideCapture {
  public:
    /// Nothing changes if no stream is captured. Throws Error.
    WorkOutsideCapture();
    ~WorkOutsideCapture();
    WorkOutsideCapture(const WorkOutsideCapture &) = delete;
    WorkOutsideCapture &operator=(const WorkOutsideCapture &) = delete;

  private:
    struct Scope;
    std::unique_ptr<Scope> scope_;
};

/// Memory for the intermediate results of work that is queued in one stream in the scope of this
/// object. It comes from the pools, even if the thread has an allocator.
class [[nodiscard]] Workspace {
  public:
    /// Allocates memory of this size for use in the stream. Throws Error.
    Workspace(const std::shared_ptr<ArrayContext> &context, std::size_t bytes, StreamRef stream);

    /// 0 for 0 bytes.
    CUdeviceptr address() const noexcept { return address_; }
    /// address() as a pointer.
    void *get() const noexcept { return reinterpret_cast<void *>(address_); }

  private:
    Work work_;
    std::shared_ptr<ArrayMemory> memory_;
    CUdeviceptr address_ = 0;
};

/// A copy as a piece of work: after the work of its stream, and done when the call returns.
/// `keep_waiting` is called while earlier work of the stream still runs. If the work is captured,
/// the graph copies the bytes that `from` contains now, and a copy to the host throws Error.
void copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes, Work &work,
                    const KeepWaiting &keep_waiting = {});
/// The same from device memory to the host.
void copy_to_host(void *to, CUdeviceptr from, std::size_t bytes, const Work &work,
                  const KeepWaiting &keep_waiting = {});

} // namespace pycuda

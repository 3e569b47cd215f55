// timeline.h -- the dependencies between the commands of all streams.
//
// Commands form a graph. Each command waits for the previous command of its stream. CUDA's rule for
// the legacy default stream adds edges to and from all blocking streams of the context. A wait for
// an event adds an edge from the command that the event marks:
//
//     stream A    [copy] --> [kernel] --> (event) . . . . . .
//                                |                          .
//     legacy                     +--> [kernel]              .
//                                         |                 v
//     stream B                            +--> [kernel] --> [waits for the event] --> [copy]
//
// A command starts when its last predecessor is done, on the thread that finished the predecessor.
#pragma once

#include "device/command.h"
#include "device/schedule.h"
#include "device/stream.h"

#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::device {

/// The graph of one process: events order streams of different contexts. Any thread may call any
/// function.
class Timeline {
  public:
    /// With a schedule, commands that could start are given to it.
    explicit Timeline(Schedule *schedule = nullptr) noexcept : schedule_(schedule) {}
    [[nodiscard]] Schedule *schedule() const noexcept { return schedule_; }

    /// Appends `command` to `stream`, also after `also` if that is not null. True if the command
    /// need not wait: the caller must then start it. Throws Error(context is destroyed) for a
    /// stream of a context that was torn down.
    [[nodiscard]] bool append(Stream &stream, const std::shared_ptr<Command> &command,
                              const std::shared_ptr<Command> &also = nullptr);

    /// As above, after the latest commands of other streams of the context.
    [[nodiscard]] bool append_after(Stream &stream, const std::shared_ptr<Command> &command,
                                    const std::vector<std::shared_ptr<Stream>> &others);

    /// Marks a command as done and starts the commands that waited only for it.
    void finish(Command &command) noexcept;

    /// Makes progress if commands start only when the client needs them: the client is asking
    /// whether a command is done.
    void let_advance() noexcept {
        if (schedule_)
            schedule_->advance();
    }

    /// The unfinished commands for which a client waits when it synchronises with a stream or a
    /// context.
    [[nodiscard]] std::vector<std::shared_ptr<Command>> pending(const Stream &stream);
    [[nodiscard]] std::vector<std::shared_ptr<Command>>
    pending(const Context &context, HostNotified notified = HostNotified::Yes);

    /// Adds and removes streams; a removed stream keeps its position in the order until its
    /// commands are done.
    void add_stream(const std::shared_ptr<Stream> &stream);
    void remove_stream(const std::shared_ptr<Stream> &stream);
    /// Removes all streams of a context, which accepts no commands afterwards. If some commands are
    /// not done, does nothing and returns them.
    [[nodiscard]] std::vector<std::shared_ptr<Command>> close(Context &context);
    /// With the removed streams whose commands are not done.
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams(Context &context);

  private:
    /// Makes the command the latest one of the stream. Returns the latest one before: drop it after
    /// the lock is released, because it may own modules and memory of the client.
    [[nodiscard]] std::shared_ptr<Command>
    note_work_locked(Stream &stream, const std::shared_ptr<Command> &command);
    [[nodiscard]] bool starts_now(const std::shared_ptr<Command> &command);
    void add_edge(const std::shared_ptr<Command> &before, const std::shared_ptr<Command> &after);
    [[nodiscard]] static std::vector<std::shared_ptr<Command>> unfinished(const StreamSet &set,
                                                                          HostNotified notified);
    [[nodiscard]] static bool is_over(const Stream &stream);
    [[nodiscard]] static bool is_pending(const std::shared_ptr<Command> &command,
                                         HostNotified notified);
    void add_edges_to_all(StreamSet &set, const std::shared_ptr<Command> &after);

    Schedule *const schedule_; ///< or null
    std::mutex mutex_;
};

} // namespace softcuda::device

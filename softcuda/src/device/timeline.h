// timeline.h -- the dependencies between the commands of all streams.
//
// Commands form a graph. Each waits for the one before it in its stream; CUDA's rule for the legacy
// default stream adds edges to and from all blocking streams of the context; an event adds one to
// the command that it marks:
//
//     stream A    [copy] --> [kernel] --> (event) . . . . . .
//                                |                          .
//     legacy                     +--> [kernel]              .
//                                         |                 v
//     stream B                            +--> [kernel] --> [waits for the event] --> [copy]
//
// A command starts when its last predecessor is done, on the thread that finished that one.
#pragma once

#include "device/command.h"
#include "device/stream.h"

#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::device {

/// The graph of one process: events order streams of different contexts. Any thread may call any
/// function.
class Timeline {
  public:
    /// Appends `command` to `stream`, and after `also` where that is not null. True when nothing
    /// has to be waited for: the caller must start the command now. Throws Error(context is
    /// destroyed) for a stream of a context that was torn down.
    [[nodiscard]] bool append(Stream &stream, const std::shared_ptr<Command> &command,
                              const std::shared_ptr<Command> &also = nullptr);

    /// The same, after the latest commands of other streams of the context.
    [[nodiscard]] bool append_after(Stream &stream, const std::shared_ptr<Command> &command,
                                    const std::vector<std::shared_ptr<Stream>> &others);

    /// Marks a command as done and starts the commands that waited only for it.
    void finish(Command &command) noexcept;

    /// The unfinished commands that a client waits for when it synchronises with a stream or a
    /// context.
    [[nodiscard]] std::vector<std::shared_ptr<Command>> pending(const Stream &stream);
    [[nodiscard]] std::vector<std::shared_ptr<Command>>
    pending(const Context &context, HostLearns learns = HostLearns::Yes);

    /// Streams come and go; a removed one keeps its place in the order until its commands are done.
    void add_stream(const std::shared_ptr<Stream> &stream);
    void remove_stream(const std::shared_ptr<Stream> &stream);
    /// Takes away all streams of a context, which from then on takes no commands; or, where some
    /// are not done yet, does nothing and returns them.
    [[nodiscard]] std::vector<std::shared_ptr<Command>> close(Context &context);
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams(Context &context);

  private:
    void add_edge(const std::shared_ptr<Command> &before, const std::shared_ptr<Command> &after);
    [[nodiscard]] static std::vector<std::shared_ptr<Command>> unfinished(const StreamSet &set,
                                                                          HostLearns learns);
    [[nodiscard]] static bool is_over(const Stream &stream);
    [[nodiscard]] static bool is_pending(const std::shared_ptr<Command> &command,
                                         HostLearns learns);
    void add_edges_to_all(StreamSet &set, const std::shared_ptr<Command> &after);

    std::mutex mutex_;
};

} // namespace softcuda::device

// nested_run.h -- a command that runs other work, part by part: conditional nodes, graphs that
// launch graphs.
#pragma once

#include "check/stream_order.h"
#include "device/command.h"
#include "device/stream.h"

#include <cstdint>
#include <memory>

namespace softcuda::device {

/// Each part is put into a private stream when the part before it is done.
class NestedRun : public Command {
  public:
    explicit NestedRun(Stream &stream);

    void start() noexcept final;

  protected:
    /// Puts the next part into `inner`; returns false if there is none. Called on the host thread,
    /// so parts of many runs do not nest on a stack. May throw Error: then the run is over.
    virtual bool run_next(Stream &inner) = 0;
    /// Called at the end, also after an error: the run releases what it holds.
    virtual void end() noexcept {}

  private:
    template <class Body> void attempt(Body &&body) noexcept;
    void look_later();
    void look(CUresult error);
    void finish() noexcept;

    std::uint64_t interrupts_;
    std::shared_ptr<const check::GraphPlace> place_; ///< of all its parts; null: of no graph
    std::shared_ptr<Stream> inner_;
};

/// Puts a run into a stream: later work waits for its last part.
void enqueue_nested(Stream &stream, const std::shared_ptr<NestedRun> &run);

/// Makes later work of `stream` wait for the earlier work of `other`.
void join(Stream &stream, Stream &other);

} // namespace softcuda::device

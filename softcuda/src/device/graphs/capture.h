// capture.h -- stream capture: work is recorded in a graph and does not run.
#pragma once

#include "device/graphs/graph.h"
#include "device/stream.h"

#include <cstdint>
#include <cuda.h>
#include <memory>
#include <optional>
#include <vector>

namespace softcuda::device::capture {

/// Whether any stream of the process captures: a quick test for the functions below.
[[nodiscard]] bool any() noexcept;

/// Starts to record the work of `stream`, in a new graph or, after `dependencies`, in `graph`.
/// Throws Error: illegal state, stream capture unsupported for the legacy stream.
void begin(Stream &stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph = nullptr,
           std::vector<GraphNode *> dependencies = {});

/// Ends the capture that begin() started. Throws Error: illegal state, capture wrong thread,
/// unmatched, unjoined, invalidated.
[[nodiscard]] std::shared_ptr<Graph> end(const Stream &stream);

/// If `stream` captures: adds the work and returns true. Throws Error: capture invalidated; capture
/// implicit if the legacy stream is used while a stream that waits for it captures.
[[nodiscard]] bool add(const Stream &stream, GraphWork work);

/// As add(), for an event's record and for a wait for it, which extend a capture to other streams.
[[nodiscard]] bool record(const Stream &stream, Event &event);
[[nodiscard]] bool wait(Stream &stream, const Event &event);

/// Throws Error(stream capture unsupported) and invalidates the capture, if `stream` captures: for
/// calls that wait. The second function: if any stream of the context captures.
void forbid(const Stream &stream);
void forbid(const Context &context);
/// Throws Error(stream capture unsupported) and invalidates the captures in question, if this
/// thread captures, or any thread in the global mode: for calls that may synchronise with work that
/// is recorded and does not run, such as allocations. thread_mode() can allow them. The second
/// function: unless `stream` captures, which makes the call a node of its graph.
void forbid_unsafe_calls();
void forbid_unsafe_calls(const Stream &stream);

/// The captures that forbid_unsafe_calls() considers in this thread: those of all threads, its own,
/// or none.
[[nodiscard]] CUstreamCaptureMode &thread_mode() noexcept;

/// Throws Error(captured event) if the latest record of `event` is part of a capture.
void require_not_captured(const Event &event);
/// Throws Error(captured event) and invalidates the capture, if the latest record of `event` is
/// part of a capture: for calls that ask whether this record was reached.
void forbid(const Event &event);

struct State {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    std::uint64_t id = 0;
    std::shared_ptr<Graph> graph;
    std::vector<GraphNode *> dependencies;
};
[[nodiscard]] State state(const Stream &stream);
/// As state(), but throws Error(capture implicit), and leaves the capture valid, if `stream` is the
/// legacy stream and a stream that waits for it captures.
[[nodiscard]] State query(const Stream &stream);

/// The dependencies of the stream's next node; `Add` keeps the present dependencies.
enum class Dependencies { Add, Set };
void update_dependencies(const Stream &stream, const std::vector<GraphNode *> &nodes,
                         Dependencies how);

/// Removes a stream, event or node from its capture.
void forget(const Stream &stream) noexcept;
void forget(const GraphNode &node) noexcept;
void forget(const Event &event) noexcept;
void forget(const Context &context) noexcept;

} // namespace softcuda::device::capture

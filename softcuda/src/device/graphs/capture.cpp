// capture.cpp -- the streams that take part in each capture, and the dependencies of their next
// nodes.
//
//     begin(A)   launch k1 in A   record e in A   wait for e in B   launch k2 in B   ...
//
//                A: {} -> {k1}                    B joins: {k1} -> {k2}
//
// Streams and events are keys by address; they are removed when they are destroyed (forget).
#include "device/graphs/capture.h"

#include "device/context.h"
#include "device/error.h"
#include "device/event.h"
#include "device/registry.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>

namespace softcuda::device::capture {
namespace {

/// A capture in progress.
struct Session {
    std::uint64_t id = 0;
    const Stream *origin = nullptr;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    std::shared_ptr<Graph> graph;
    bool spoiled = false;
    bool own_graph = true; ///< else the client's graph
    std::map<const Stream *, std::vector<GraphNode *>>
        ends;                         ///< dependencies of the stream's next node
    std::vector<GraphNode *> orphans; ///< the ends of destroyed streams
};

/// An event that was recorded in a capture.
struct Mark {
    std::shared_ptr<Session> session;
    std::vector<GraphNode *> nodes;
};

std::atomic<int> sessions{0};
std::uint64_t next_id = 1;

std::map<const Stream *, std::shared_ptr<Session>> &by_stream() {
    static auto *const map = new std::map<const Stream *, std::shared_ptr<Session>>;
    return *map;
}

std::map<const Event *, Mark> &by_event() {
    static auto *const map = new std::map<const Event *, Mark>;
    return *map;
}

std::shared_ptr<Session> session_of(const Stream &stream) {
    const auto position = by_stream().find(&stream);
    return position == by_stream().end() ? nullptr : position->second;
}

/// The session that makes the use of the legacy stream of this context an error: that stream would
/// have to wait for work that is recorded and does not run. Null if there is none.
std::shared_ptr<Session> session_against_legacy(const Context &context) {
    for (const auto &[other, capturing] : by_stream())
        if (&other->context() == &context && other->kind() == Stream::Kind::Blocking)
            return capturing;
    return nullptr;
}

/// The session that records work in `stream`, or null.
std::shared_ptr<Session> session_for_work(const Stream &stream) {
    std::shared_ptr<Session> session = session_of(stream);
    if (session) {
        require(!session->spoiled, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        return session;
    }
    if (stream.kind() != Stream::Kind::Legacy)
        return nullptr;
    if (const std::shared_ptr<Session> capturing = session_against_legacy(stream.context())) {
        capturing->spoiled = true;
        throw Error(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    return nullptr;
}

void drop(const std::shared_ptr<Session> &session) {
    std::erase_if(by_stream(), [&](const auto &entry) { return entry.second == session; });
    std::erase_if(by_event(), [&](const auto &entry) { return entry.second.session == session; });
    sessions--;
    if (session->own_graph) // clients may have its handle
        registry<Graph>().remove(session->graph.get());
}

bool contains(const std::vector<GraphNode *> &nodes, const GraphNode *node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// Whether the next node of the origin depends on all work that other streams added.
bool is_joined(const Session &session) {
    const std::vector<GraphNode *> &tail = session.ends.at(session.origin);
    std::vector<const GraphNode *> pending(tail.begin(), tail.end());
    std::unordered_set<const GraphNode *> reached;
    while (!pending.empty()) {
        const GraphNode *node = pending.back();
        pending.pop_back();
        if (reached.insert(node).second)
            pending.insert(pending.end(), node->dependencies.begin(), node->dependencies.end());
    }
    const auto is_reached = [&](const GraphNode *end) { return reached.contains(end); };
    return std::ranges::all_of(session.orphans, is_reached) &&
           std::ranges::all_of(session.ends, [&](const auto &entry) {
               return std::ranges::all_of(entry.second, is_reached);
           });
}

} // namespace

bool any() noexcept { return sessions.load(std::memory_order_acquire) != 0; }

void begin(Stream &stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
           std::vector<GraphNode *> dependencies) {
    require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
            CUDA_ERROR_INVALID_VALUE);
    require(stream.kind() != Stream::Kind::Legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    std::lock_guard lock(graph_mutex());
    require(!session_of(stream), CUDA_ERROR_ILLEGAL_STATE);
    auto session = std::make_shared<Session>();
    session->id = next_id++;
    session->origin = &stream;
    session->mode = mode;
    session->thread = std::this_thread::get_id();
    session->own_graph = graph == nullptr;
    session->graph = graph ? std::move(graph) : std::make_shared<Graph>();
    session->ends[&stream] = std::move(dependencies);
    by_stream()[&stream] = session;
    sessions++;
}

std::shared_ptr<Graph> end(const Stream &stream) {
    std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Session> session = session_of(stream);
    require(session != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    if (session->origin != &stream) {
        session->spoiled = true;
        throw Error(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    drop(session); // by any thread, even if it does not get the graph
    require(session->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                session->thread == std::this_thread::get_id(),
            CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    require(!session->spoiled, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    require(is_joined(*session), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    return session->graph;
}

bool add(const Stream &stream, GraphWork work) {
    std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Session> session = session_for_work(stream);
    if (!session)
        return false;
    std::vector<GraphNode *> &ends = session->ends[&stream];
    ends = {&session->graph->add(std::move(work), ends)};
    return true;
}

bool record(const Stream &stream, Event &event) {
    std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Session> session = session_for_work(stream);
    if (!session) {
        by_event().erase(&event); // its latest record is not part of a capture
        return false;
    }
    by_event()[&event] = {session, session->ends[&stream]};
    return true;
}

bool wait(Stream &stream, const Event &event) {
    std::lock_guard lock(graph_mutex());
    const auto mark = by_event().find(&event);
    const std::shared_ptr<Session> session = session_for_work(stream);
    if (mark == by_event().end()) {
        if (event.captured()) { // in a capture that has ended
            if (session)
                session->spoiled = true;
            throw Error(CUDA_ERROR_INVALID_VALUE);
        }
        if (!session)
            return false;
        if (!event.recorded())
            return true;
        session->spoiled = true; // the graph would depend on work outside of it
        throw Error(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    }
    if (session && session != mark->second.session) {
        session->spoiled = mark->second.session->spoiled = true;
        throw Error(CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (stream.kind() == Stream::Kind::Legacy) {
        mark->second.session->spoiled = true;
        throw Error(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    by_stream()[&stream] = mark->second.session;
    std::vector<GraphNode *> &ends = mark->second.session->ends[&stream];
    for (GraphNode *node : mark->second.nodes)
        if (!contains(ends, node))
            ends.push_back(node);
    return true;
}

void forbid(const Stream &stream) {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    if (const std::shared_ptr<Session> session = session_for_work(stream)) {
        session->spoiled = true;
        throw Error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
}

void forbid(const Context &context) {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    bool found = false;
    for (const auto &[stream, session] : by_stream()) {
        if (&stream->context() != &context)
            continue;
        session->spoiled = true;
        found = true;
    }
    require(!found, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUstreamCaptureMode &thread_mode() noexcept {
    static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return mode;
}

void forbid_unsafe_calls() {
    const CUstreamCaptureMode mode = thread_mode();
    if (!any() || mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return;
    std::lock_guard lock(graph_mutex());
    bool found = false;
    for (const auto &[stream, session] : by_stream()) {
        const bool is_own = session->thread == std::this_thread::get_id();
        const bool is_global =
            mode == CU_STREAM_CAPTURE_MODE_GLOBAL && session->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (session->mode == CU_STREAM_CAPTURE_MODE_RELAXED || !(is_own || is_global))
            continue;
        session->spoiled = true;
        found = true;
    }
    require(!found, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void forbid_unsafe_calls(const Stream &stream) {
    if (any() && state(stream).status == CU_STREAM_CAPTURE_STATUS_NONE)
        forbid_unsafe_calls();
}

void require_not_captured(const Event &event) {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    require(!by_event().contains(&event), CUDA_ERROR_CAPTURED_EVENT);
}

void forbid(const Event &event) {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    const auto mark = by_event().find(&event);
    if (mark == by_event().end())
        return;
    mark->second.session->spoiled = true;
    throw Error(CUDA_ERROR_CAPTURED_EVENT);
}

State state(const Stream &stream) {
    std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Session> session = session_of(stream);
    if (!session)
        return {};
    if (session->spoiled)
        return {.status = CU_STREAM_CAPTURE_STATUS_INVALIDATED,
                .id = session->id,
                .graph = nullptr,
                .dependencies = {}};
    return {.status = CU_STREAM_CAPTURE_STATUS_ACTIVE,
            .id = session->id,
            .graph = session->graph,
            .dependencies = session->ends[&stream]};
}

State query(const Stream &stream) {
    if (stream.kind() == Stream::Kind::Legacy) {
        std::lock_guard lock(graph_mutex());
        require(session_against_legacy(stream.context()) == nullptr,
                CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    return state(stream);
}

void update_dependencies(const Stream &stream, const std::vector<GraphNode *> &nodes,
                         Dependencies how) {
    std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Session> session = session_of(stream);
    require(session != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    require(!session->spoiled, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    for (const GraphNode *node : nodes)
        require(node && &node->graph() == session->graph.get(), CUDA_ERROR_INVALID_VALUE);
    std::vector<GraphNode *> &ends = session->ends[&stream];
    if (how == Dependencies::Set)
        ends.clear();
    for (GraphNode *node : nodes)
        if (!contains(ends, node))
            ends.push_back(node);
}

void forget(const Stream &stream) noexcept {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Session> session = session_of(stream);
    if (!session)
        return;
    if (session->origin == &stream)
        return drop(session);
    // The end of the capture checks whether its work is joined.
    const std::vector<GraphNode *> &ends = session->ends[&stream];
    session->orphans.insert(session->orphans.end(), ends.begin(), ends.end());
    session->ends.erase(&stream);
    by_stream().erase(&stream);
}

void forget(const GraphNode &node) noexcept {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    for (const auto &[stream, session] : by_stream()) {
        std::erase(session->ends[stream], &node);
        std::erase(session->orphans, &node);
    }
    for (auto &[event, mark] : by_event())
        std::erase(mark.nodes, &node);
}

void forget(const Context &context) noexcept {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    std::vector<std::shared_ptr<Session>> gone;
    for (const auto &[stream, session] : by_stream())
        if (&stream->context() == &context &&
            std::find(gone.begin(), gone.end(), session) == gone.end())
            gone.push_back(session);
    for (const std::shared_ptr<Session> &session : gone)
        drop(session);
}

void forget(const Event &event) noexcept {
    if (!any())
        return;
    std::lock_guard lock(graph_mutex());
    by_event().erase(&event);
}

} // namespace softcuda::device::capture

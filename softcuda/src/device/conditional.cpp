// conditional.cpp -- evaluates the value on the host thread when the node is reached.
//
// Bodies are launched into a private stream of the node. After each body, that stream evaluates the
// value again; the node is done when no body is selected.
#include "device/conditional.h"

#include "device/command.h"
#include "device/context.h"
#include "device/error.h"
#include "device/graph.h"
#include "device/host_function.h"
#include "device/memory_pool.h"
#include "device/system.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace softcuda::device {
namespace {

struct ConditionTable {
    std::mutex mutex;
    std::map<CUgraphConditionalHandle, std::weak_ptr<Condition>> known;
};

/// Never destroyed: destructors of clients may still free graphs.
ConditionTable &condition_table() {
    static auto *const instance = new ConditionTable;
    return *instance;
}

/// The index of the body that a value selects; the number of bodies if none is selected.
std::size_t chosen(CUgraphConditionalNodeType type, std::uint32_t value, std::size_t count) {
    switch (type) {
    case CU_GRAPH_COND_TYPE_WHILE:
        return value != 0 ? 0 : count;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return std::min<std::size_t>(value, count);
    default:
        return value != 0 ? 0 : 1;
    }
}

/// A conditional node in a stream.
class ConditionalRun final : public Command {
  public:
    ConditionalRun(Stream &stream, const ConditionalWork &work,
                   std::vector<std::shared_ptr<GraphExec>> bodies)
        : Command(stream.context()), type_(work.type), condition_(work.condition),
          bodies_(std::move(bodies)), interrupts_(context().interrupts()),
          inner_(std::make_shared<Stream>(stream.context(), Stream::Kind::NonBlocking,
                                          stream.priority())) {}

    void start() noexcept override {
        tell_host(); // so that the bodies know that it is done
        attempt([&] { look_later(); });
    }

  private:
    template <class Body> void attempt(Body &&body) noexcept {
        try {
            return body();
        } catch (const Error &error) {
            context().set_passing_error(error.result());
        } catch (const std::bad_alloc &) {
            context().set_passing_error(CUDA_ERROR_OUT_OF_MEMORY);
        } catch (...) {
            context().set_passing_error(CUDA_ERROR_UNKNOWN);
        }
        finish();
    }

    void look_later() {
        auto self = std::static_pointer_cast<ConditionalRun>(shared_from_this());
        enqueue_host_function(
            *inner_, [self](CUresult error) { self->attempt([&] { self->look(error); }); },
            HostFunction::OnError::Call);
    }

    void look(CUresult error) {
        if (context().interrupts() != interrupts_)
            context().set_passing_error(CUDA_ERROR_LAUNCH_FAILED);
        else if (error == CUDA_SUCCESS && run_chosen())
            return;
        finish();
    }

    /// False if there is no body to run.
    bool run_chosen() {
        if (over_)
            return false;
        const std::size_t body = chosen(type_, condition_->value(), bodies_.size());
        if (body >= bodies_.size())
            return false;
        over_ = type_ != CU_GRAPH_COND_TYPE_WHILE;
        bodies_[body]->launch(*inner_);
        look_later();
        return true;
    }

    void finish() noexcept {
        const std::shared_ptr<Stream> inner =
            std::move(inner_); // its last command refers to this command
        ask_host();
        System::get().timeline().finish(*this);
    }

    CUgraphConditionalNodeType type_;
    std::shared_ptr<Condition> condition_;
    std::vector<std::shared_ptr<GraphExec>> bodies_;
    std::uint64_t interrupts_;
    std::shared_ptr<Stream> inner_;
    bool over_ = false; ///< a body has run that runs only once
};

} // namespace

std::shared_ptr<Condition> Condition::make(Context &context, std::uint32_t value, Default assign) {
    std::shared_ptr<Condition> made(new Condition(
        GraphMemory::make(PoolPlace::of(context.device()), context, 8), value, assign));
    made->set(value);
    std::lock_guard lock(condition_table().mutex);
    condition_table().known[made->handle()] = made;
    return made;
}

Condition::~Condition() {
    std::lock_guard lock(condition_table().mutex);
    condition_table().known.erase(handle());
}

std::shared_ptr<Condition> Condition::find(CUgraphConditionalHandle handle) {
    std::lock_guard lock(condition_table().mutex);
    const auto position = condition_table().known.find(handle);
    return position == condition_table().known.end() ? nullptr : position->second.lock();
}

std::uint32_t Condition::value() const noexcept {
    return __atomic_load_n(reinterpret_cast<const std::uint32_t *>(memory_->address()),
                           __ATOMIC_ACQUIRE);
}

void Condition::set(std::uint32_t value) noexcept {
    __atomic_store_n(reinterpret_cast<std::uint32_t *>(memory_->address()), value,
                     __ATOMIC_RELEASE);
}

void Condition::enqueue_default(Stream &stream, const std::shared_ptr<Condition> &condition) {
    if (condition->assign_ == Default::Assign)
        enqueue_action(stream, [condition] { condition->set(condition->default_); });
}

ConditionalBodies::ConditionalBodies(std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        graphs.push_back(std::make_shared<NodeGraph>(std::make_shared<Graph>()));
        handles.push_back(reinterpret_cast<CUgraph>(&graphs.back()->graph()));
    }
}

void enqueue_conditional(Stream &stream, const ConditionalWork &work,
                         const std::vector<std::shared_ptr<GraphExec>> &bodies) {
    System::get().host_thread().start(); // if this fails, the client gets the error
    auto run = std::make_shared<ConditionalRun>(stream, work, bodies);
    if (System::get().timeline().append(stream, run))
        run->start();
}

} // namespace softcuda::device

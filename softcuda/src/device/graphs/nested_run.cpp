// nested_run.cpp -- after each part, the private stream asks for the next one.
#include "device/graphs/nested_run.h"

#include "device/context.h"
#include "device/error.h"
#include "device/event.h"
#include "device/host_function.h"
#include "device/system.h"

#include <new>
#include <utility>

namespace softcuda::device {

NestedRun::NestedRun(Stream &stream)
    : Command(stream.context()), interrupts_(context().interrupts()),
      place_(check::GraphPlaceScope::present()),
      inner_(std::make_shared<Stream>(stream.context(), Stream::Kind::NonBlocking,
                                      stream.priority())) {}

void NestedRun::start() noexcept {
    order_before_host(); // so that the parts know that it is done
    attempt([&] { look_later(); });
}

template <class Body> void NestedRun::attempt(Body &&body) noexcept {
    const check::GraphPlaceScope scope(place_);
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

void NestedRun::look_later() {
    auto self = std::static_pointer_cast<NestedRun>(shared_from_this());
    enqueue_host_function(
        *inner_, [self](CUresult error) { self->attempt([&] { self->look(error); }); },
        HostFunction::OnError::Call);
}

void NestedRun::look(CUresult error) {
    if (context().interrupts() != interrupts_)
        context().set_passing_error(CUDA_ERROR_LAUNCH_FAILED);
    else if (error == CUDA_SUCCESS && run_next(*inner_))
        return look_later();
    finish();
}

void NestedRun::finish() noexcept {
    const std::shared_ptr<Stream> inner =
        std::move(inner_); // its last command refers to this command
    end();
    ask_host();
    System::get().timeline().finish(*this);
}

void enqueue_nested(Stream &stream, const std::shared_ptr<NestedRun> &run) {
    System::get().host_thread().start(); // if this fails, the client gets the error
    if (System::get().timeline().append(stream, run))
        run->start();
}

void join(Stream &stream, Stream &other) {
    Event reached(other.context(), CU_EVENT_DISABLE_TIMING);
    reached.record(other);
    reached.hold(stream);
}

} // namespace softcuda::device

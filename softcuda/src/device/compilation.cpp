// compilation.cpp -- compiles kernels on the worker pool.
#include "device/compilation.h"

#include "device/fault_log.h"
#include "device/system.h"

#include <exception>
#include <new>
#include <utility>

namespace softcuda::device {

Compilation::Compilation(Context &context, std::string kernel,
                         std::shared_ptr<compiler::CompileJob> job)
    : Command(context), kernel_(std::move(kernel)), job_(std::move(job)) {}

std::shared_ptr<Compilation> Compilation::begin(Context &context, const std::string &kernel,
                                                std::shared_ptr<compiler::CompileJob> job) {
    auto made = std::make_shared<Compilation>(context, kernel, std::move(job));
    if (made->job_->finished())
        made->run();
    else
        System::get().pool().submit(std::shared_ptr<rt::Job>(made));
    return made;
}

void Compilation::run() noexcept {
    if (claimed_.exchange(true))
        return;
    compile();
    System::get().timeline().finish(*this);
}

void Compilation::compile() noexcept {
    try {
        code_ = std::exchange(job_, nullptr)->finish();
    } catch (const std::bad_alloc &) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "there is not enough memory");
    } catch (const std::exception &failure) {
        fail(CUDA_ERROR_NOT_SUPPORTED, failure.what());
    }
}

void Compilation::fail(CUresult result, const char *reason) noexcept {
    failure_ = result;
    try {
        log_fault("kernel `" + kernel_ + "` cannot be compiled: " + reason);
    } catch (const std::bad_alloc &) { // then the report is missing
    }
}

} // namespace softcuda::device

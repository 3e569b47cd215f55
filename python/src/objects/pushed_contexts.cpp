// pushed_contexts.cpp -- keeps contexts alive that a program has pushed without holding a
// reference.
//
// The driver determines the current context. The list here only holds references. If other code
// pops a context that was pushed here, its reference stays until the thread ends.
#include "objects/pushed_contexts.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace pycuda::python {
namespace {

std::vector<Context> &kept() {
    thread_local std::vector<Context> contexts;
    return contexts;
}

void let_go(const Context &context) {
    auto &contexts = kept();
    auto last = std::find(contexts.rbegin(), contexts.rend(), context);
    if (last != contexts.rend())
        contexts.erase(std::next(last).base());
}

} // namespace

void push_and_keep(const Context &context) {
    context.push();
    kept().push_back(context);
}

Context pop_and_let_go() {
    Context popped = Context::pop();
    let_go(popped);
    return popped;
}

void replace_and_keep(const Context &context) {
    const std::optional<Context> old = Context::current();
    context.make_current();
    if (old)
        let_go(*old);
    kept().push_back(context);
}

void detach_and_let_go(Context &context) {
    const Context same = context; // a detached context can still be compared by its handle
    context.detach();
    std::erase(kept(), same);
}

} // namespace pycuda::python

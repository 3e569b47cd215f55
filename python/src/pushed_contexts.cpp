// pushed_contexts.cpp -- what keeps contexts alive that a program pushed and does not hold.
//
// Which context is current is the driver's to say. The list here is not asked for that: it only
// holds references. Where other code pops what was pushed through here, one stays too long, until
// the thread ends.
#include "pushed_contexts.h"

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
    const Context same = context; // a detached one still has its handle to compare with
    context.detach();
    std::erase(kept(), same);
}

} // namespace pycuda::python

// pushed_contexts.h -- what keeps contexts alive that a program pushed and does not hold.
#pragma once

#include <pycuda/context.h>

namespace pycuda::python {

/// Context::push(), and the context lives at least until this thread pops it: a program may drop
/// what `device.make_context()` returned.
void push_and_keep(const Context &context);

/// Context::pop(), and the context need not be kept for this thread any more.
Context pop_and_let_go();

/// Context::make_current(), with the same care for the old and the new top.
void replace_and_keep(const Context &context);

/// Context::detach(); nothing of it is kept for this thread.
void detach_and_let_go(Context &context);

} // namespace pycuda::python

// pushed_contexts.h -- keeps contexts alive that a program has pushed without holding a reference.
#pragma once

#include <pycuda/context.h>

namespace pycuda::python {

/// Context::push(). Also keeps the context alive until this thread pops it, because a program may
/// drop the result of `device.make_context()`.
void push_and_keep(const Context &context);

/// Context::pop(). Also releases this thread's reference.
Context pop_and_let_go();

/// Context::make_current(). Also updates the references for the old and the new top of the stack.
void replace_and_keep(const Context &context);

/// Context::detach(). Also releases this thread's references.
void detach_and_let_go(Context &context);

} // namespace pycuda::python

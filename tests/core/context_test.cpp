// context_test.cpp -- reference counts of contexts, and the current context.
#include "fake_fixture.h"

#include <thread>

namespace pycuda {
namespace {

using testing::HasSubstr;

TEST(Context, PrimaryIsReleasedWithTheLastReference) {
    int before = 0;
    {
        Context context = Context::primary(Device(0));
        before = fake().primary_retains;
        Context copy = context;
        EXPECT_EQ(fake().primary_retains, before);
    }
    EXPECT_EQ(fake().primary_retains, before - 1);
}

TEST(Context, PrimaryContextExistsAsLongAsItsObjects) {
    auto context = std::make_unique<Context>(Context::primary(Device(0)));
    int retained = fake().primary_retains;
    auto memory = std::make_unique<DeviceMemory>(*context, 64);
    context->push();
    context->detach();
    EXPECT_FALSE(context->attached());
    context.reset();
    EXPECT_EQ(fake().primary_retains, retained);
    memory.reset();
    EXPECT_EQ(fake().primary_retains, retained - 1);
    EXPECT_FALSE(Context::current());
}

TEST(Context, DetachesOnce) {
    Context context = Context::primary(Device(0));
    context.detach();
    EXPECT_THAT(message_of([&] { context.detach(); }),
                HasSubstr("cannot detach from invalid context"));
    EXPECT_THAT(message_of([&] { context.push(); }), HasSubstr("detached"));
}

TEST(Context, OwnContextIsDestroyedAtDetachAndItsMemoryIsFreed) {
    Context context = Context::create(Device(0));
    EXPECT_FALSE(context.is_current());
    DeviceMemory memory(context, 64);
    int destroyed = fake().contexts_destroyed;
    context.detach();
    EXPECT_EQ(fake().contexts_destroyed, destroyed + 1);
    EXPECT_NO_THROW(memory.free()); // freed with its context
}

TEST(Context, PopOfAnEmptyStackIsAnError) {
    EXPECT_THAT(message_of([] { Context::pop(); }),
                HasSubstr("context::pop failed: invalid device context - cannot pop non-current"));
}

TEST(Context, NothingIsAllocatedWithoutOne) {
    EXPECT_EQ(message_of([] { DeviceMemory memory(64); }),
              "explicit_context_dependent failed: invalid device context - no currently active "
              "context?");
}

TEST(Context, PopSkipsDestroyedContexts) {
    Context below = Context::primary(Device(0));
    Context gone = Context::create(Device(0));
    Context top = Context::primary(Device(0));
    below.push();
    gone.push();
    top.push();
    gone.detach();
    Context::pop();
    EXPECT_EQ(*Context::current(), below);
    Context::pop();
    EXPECT_FALSE(Context::current());
}

TEST(Context, UsesContextsThatOthersMadeCurrent) {
    CUcontext foreign = nullptr;
    driver().cuDevicePrimaryCtxRetain(&foreign, 0);
    driver().cuCtxPushCurrent(foreign);
    int retained = fake().primary_retains;
    {
        DeviceMemory memory(64);
        EXPECT_EQ(memory.context().get(), foreign);
        EXPECT_EQ(fake().primary_retains,
                  retained + 1); // our reference, in addition to the foreign one
    }
    EXPECT_EQ(fake().primary_retains, retained);
    driver().cuCtxPopCurrent(&foreign);
    driver().cuDevicePrimaryCtxRelease(0);
}

TEST(Context, ScopeRestoresTheCurrentContext) {
    Context context = Context::primary(Device(0));
    {
        ScopedContext outer(context);
        ScopedContext inner(context); // already current, so it changes nothing
        EXPECT_TRUE(context.is_current());
    }
    EXPECT_FALSE(Context::current());
}

TEST(Context, MemoryIsFreedFromAnotherThread) {
    Context context = Context::primary(Device(0));
    std::size_t used = fake().memory_used;
    auto memory = std::make_unique<DeviceMemory>(context, 64);
    std::thread([&] { memory.reset(); }).join();
    EXPECT_EQ(fake().memory_used, used);
}

} // namespace
} // namespace pycuda

// fake_driver.h -- the records of the fake driver library, and its settings for tests.
#pragma once

#include <cstddef>
#include <string>

struct FakeDriver {
    int primary_retains = 0;
    int contexts_created = 0;
    int contexts_destroyed = 0;
    int modules_unloaded = 0;
    int allocations = 0; // calls, including failed ones
    bool has_pinned_memory = true;
    bool has_events = true;
    std::size_t copied = 0; // bytes from the host, by one call for each copy
    std::size_t memory_size = 1 << 20;
    std::size_t memory_used = 0;
    int launches = 0;
    std::string last_arguments; // of the last launch, as bytes
    bool stream_is_busy = false;
    int interrupts = 0;
};

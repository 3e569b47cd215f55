// runtime_functions.cpp -- the table of runtime functions, which are declared in rt/kernel_abi.h.

#include "compiler/runtime_functions.h"

#include "rt/count_abi.h"
#include "rt/device_call_abi.h"
#include "rt/lane_call_abi.h"
#include "rt/watch_abi.h"

namespace softcuda::compiler {

std::span<const jit::RuntimeFunction> runtime_functions() {
    static const jit::RuntimeFunction table[] = {
        {"scu_fault", reinterpret_cast<void *>(&scu_fault)},
        {"scu_check_address", reinterpret_cast<void *>(&scu_check_address)},
        {"scu_check_addresses", reinterpret_cast<void *>(&scu_check_addresses)},
        {"scu_reach_addresses", reinterpret_cast<void *>(&scu_reach_addresses)},
        {"scu_check_places", reinterpret_cast<void *>(&scu_check_places)},
        {"scu_check_places_preserving", reinterpret_cast<void *>(&scu_check_places_preserving)},
        {"scu_check_addresses_preserving",
         reinterpret_cast<void *>(&scu_check_addresses_preserving)},
        {"scu_load_lanes_preserving", reinterpret_cast<void *>(&scu_load_lanes_preserving)},
        {"scu_store_lanes_preserving", reinterpret_cast<void *>(&scu_store_lanes_preserving)},
        {"scu_is_space", reinterpret_cast<void *>(&scu_is_space)},
        {"scu_load_lanes", reinterpret_cast<void *>(&scu_load_lanes)},
        {"scu_store_lanes", reinterpret_cast<void *>(&scu_store_lanes)},
        {"scu_vprintf", reinterpret_cast<void *>(&scu_vprintf)},
        {"scu_assertfail", reinterpret_cast<void *>(&scu_assertfail)},
        {"scu_lane_barrier_arrive", reinterpret_cast<void *>(&scu_lane_barrier_arrive)},
        {"scu_malloc", reinterpret_cast<void *>(&scu_malloc)},
        {"scu_free", reinterpret_cast<void *>(&scu_free)},
        {"scu_device_call", reinterpret_cast<void *>(&scu_device_call)},
        {"scu_barrier", reinterpret_cast<void *>(&scu_barrier)},
        {"scu_barrier_arrive", reinterpret_cast<void *>(&scu_barrier_arrive)},
        {"scu_call_lanes", reinterpret_cast<void *>(&scu_call_lanes)},
        {"scu_next_place", reinterpret_cast<void *>(&scu_next_place)},
        {"scu_lane_barrier", reinterpret_cast<void *>(&scu_lane_barrier)},
        {"scu_yield", reinterpret_cast<void *>(&scu_yield)},
        {"scu_pause", reinterpret_cast<void *>(&scu_pause)},
        {"scu_preempt", reinterpret_cast<void *>(&scu_preempt)},
        {"scu_runtime_call", reinterpret_cast<void *>(&scu_runtime_call)},
        {"scu_surface", reinterpret_cast<void *>(&scu_surface)},
        {"scu_texture", reinterpret_cast<void *>(&scu_texture)},
        {"scu_texture_preserving", reinterpret_cast<void *>(&scu_texture_preserving)},
        {"scu_watch_access", reinterpret_cast<void *>(&scu_watch_access)},
        {"scu_watch_texture", reinterpret_cast<void *>(&scu_watch_texture)},
        {"scu_watch_row", reinterpret_cast<void *>(&scu_watch_row)},
        {"scu_watch_block", reinterpret_cast<void *>(&scu_watch_block)},
        {"scu_watch_arrival", reinterpret_cast<void *>(&scu_watch_arrival)},
        {"scu_watch_pass", reinterpret_cast<void *>(&scu_watch_pass)},
        {"scu_watch_fence", reinterpret_cast<void *>(&scu_watch_fence)},
        {"scu_watch_meeting", reinterpret_cast<void *>(&scu_watch_meeting)},
        {"scu_watch_copies", reinterpret_cast<void *>(&scu_watch_copies)},
        {"scu_watch_barrier", reinterpret_cast<void *>(&scu_watch_barrier)},
        {"scu_count_begin", reinterpret_cast<void *>(&scu_count_begin)},
        {"scu_count_access", reinterpret_cast<void *>(&scu_count_access)},
        {"scu_globaltimer", reinterpret_cast<void *>(&scu_globaltimer)},
        {"scu_nanosleep", reinterpret_cast<void *>(&scu_nanosleep)},
    };
    return table;
}

} // namespace softcuda::compiler

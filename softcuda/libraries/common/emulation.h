// emulation.h -- the settings by which a client permits a library to emulate floating-point numbers
// with integers. They are kept. Nothing is emulated: results have the precision of their type.
#pragma once

#include "handle.h"

namespace softlib {

struct Emulation {
    int strategy = 0;            ///< CUDA_EMULATION_STRATEGY_DEFAULT
    int special_values = 0xffff; ///< CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT
    int mantissa_control = 0;    ///< CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC
    int max_mantissa_bits = 0;
    int mantissa_bit_offset = 0;

    static bool is_strategy(int value) { return value >= 0 && value <= 2; }
    static bool is_mask(int value) { return value == 0xffff || (value & ~3) == 0; }
    static bool is_control(int value) { return value == 0 || value == 1; }
    static bool is_bits(int value) { return value >= 0 && value <= 4096; }
    static bool is_offset(int value) { return value >= -4096 && value <= 4096; }
};

} // namespace softlib

/// Defines the functions that set and get a setting.
#define SOFTLIB_SETTING(Call, Handle, prefix, name, field, is_valid)                               \
    SOFTLIB_HANDLE_FUNCTION(Call, prefix##Set##name, (Handle handle, int value), {                 \
        softlib::require(is_valid(value), #field);                                                 \
        call.handle.field = value;                                                                 \
    })                                                                                             \
    SOFTLIB_HANDLE_FUNCTION(Call, prefix##Get##name, (Handle handle, int *value), {                \
        softlib::require(value != nullptr, "the result's address");                                \
        *value = call.handle.field;                                                                \
    })
#define SOFTLIB_EMULATION(Call, Handle, prefix)                                                    \
    SOFTLIB_SETTING(Call, Handle, prefix, EmulationStrategy, emulation.strategy,                   \
                    softlib::Emulation::is_strategy)                                               \
    SOFTLIB_SETTING(Call, Handle, prefix, EmulationSpecialValuesSupport, emulation.special_values, \
                    softlib::Emulation::is_mask)                                                   \
    SOFTLIB_SETTING(Call, Handle, prefix, FixedPointEmulationMantissaControl,                      \
                    emulation.mantissa_control, softlib::Emulation::is_control)                    \
    SOFTLIB_SETTING(Call, Handle, prefix, FixedPointEmulationMaxMantissaBitCount,                  \
                    emulation.max_mantissa_bits, softlib::Emulation::is_bits)                      \
    SOFTLIB_SETTING(Call, Handle, prefix, FixedPointEmulationMantissaBitOffset,                    \
                    emulation.mantissa_bit_offset, softlib::Emulation::is_offset)

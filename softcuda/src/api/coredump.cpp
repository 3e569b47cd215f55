// coredump.cpp -- settings of core dumps of failed kernels.
//
// Core dumps are not written, because scuLastFault() describes a failed kernel, and a debugger can
// inspect kernels while they run. So a request to write a dump is refused. Programs set the other
// settings in any case, so they are checked, stored and returned. A context has the settings of the
// process until it sets its own.
#include "api/call.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>

using namespace softcuda;
using device::Context;

namespace {

constexpr std::size_t kLongestText = 1024; // with the final zero

enum class Kind { Bool, Number, Text };

struct Setting {
    int id;
    Kind kind;
    bool value;  ///< the default of a bool setting
    bool writes; ///< true would request a dump
};

constexpr Setting kSettings[] = {
    {CU_COREDUMP_ENABLE_ON_EXCEPTION, Kind::Bool, false, true},
    {CU_COREDUMP_TRIGGER_HOST, Kind::Bool, true, false},
    {CU_COREDUMP_LIGHTWEIGHT, Kind::Bool, false, false},
    {CU_COREDUMP_ENABLE_USER_TRIGGER, Kind::Bool, false, true},
    {CU_COREDUMP_FILE, Kind::Text, false, false},
    {CU_COREDUMP_PIPE, Kind::Text, false, false},
    {7, Kind::Number, false, false}, // CU_COREDUMP_GENERATION_FLAGS, of CUDA 12.5
};

const Setting &find(CUcoredumpSettings id) {
    for (const Setting &setting : kSettings)
        if (setting.id == static_cast<int>(id))
            return setting;
    throw device::Error(CUDA_ERROR_INVALID_VALUE);
}

/// Values by the id of a context (0 for the process) and by the setting, as the client's bytes.
struct Table {
    std::mutex mutex;
    std::map<std::uint64_t, std::map<int, std::string>> values;
};

/// Never destroyed: clients may query at exit.
Table &table() {
    static auto *const instance = new Table;
    return *instance;
}

template <class Number> std::string bytes_of(Number number) {
    return {reinterpret_cast<const char *>(&number), sizeof number};
}

std::string default_text(int id) {
    char host[HOST_NAME_MAX + 1] = {};
    gethostname(host, sizeof host - 1);
    const char *prefix = id == CU_COREDUMP_FILE ? "core.cuda." : "corepipe.cuda.";
    std::string text = std::string(prefix) + host + "." + std::to_string(getpid());
    text.resize(kLongestText);
    return text;
}

std::string default_of(const Setting &setting) {
    switch (setting.kind) {
    case Kind::Bool:
        return bytes_of(setting.value);
    case Kind::Number:
        return bytes_of(0);
    case Kind::Text:
        break;
    }
    return default_text(setting.id);
}

/// A client's value with the length of the setting. Throws Error.
std::string checked(const Setting &setting, const void *value, std::size_t bytes) {
    const std::size_t length = default_of(setting).size();
    const bool is_text = setting.kind == Kind::Text;
    device::require(is_text ? bytes > 0 && bytes <= length : bytes == length,
                    CUDA_ERROR_INVALID_VALUE);
    std::string result(static_cast<const char *>(value), bytes);
    result.resize(length);
    device::require(!is_text || result.back() == '\0', CUDA_ERROR_INVALID_VALUE);
    device::require(!setting.writes || result.front() == 0, CUDA_ERROR_NOT_SUPPORTED);
    return result;
}

std::string value_of(std::uint64_t context, const Setting &setting) {
    std::lock_guard lock(table().mutex);
    for (const std::uint64_t owner : {context, std::uint64_t{0}}) {
        const auto &values = table().values[owner];
        if (const auto found = values.find(setting.id); found != values.end())
            return found->second;
    }
    return default_of(setting);
}

void get(std::uint64_t context, CUcoredumpSettings id, void *value, std::size_t *bytes) {
    api::require_non_null(bytes);
    const std::string wanted = value_of(context, find(id));
    if (!value) {
        *bytes = wanted.size();
        return;
    }
    const bool is_text = find(id).kind == Kind::Text;
    const std::size_t least = is_text ? std::strlen(wanted.c_str()) + 1 : wanted.size();
    device::require(*bytes >= least, CUDA_ERROR_INVALID_VALUE);
    std::memcpy(value, wanted.data(), std::min(*bytes, wanted.size()));
}

void set(std::uint64_t context, CUcoredumpSettings id, const void *value,
         const std::size_t *bytes) {
    api::require_non_null(value, bytes);
    const Setting &setting = find(id);
    std::string wanted = checked(setting, value, *bytes);
    std::lock_guard lock(table().mutex);
    table().values[context][setting.id] = std::move(wanted);
}

} // namespace

CUresult cuCoredumpGetAttribute(CUcoredumpSettings id, void *value, std::size_t *bytes) {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &context) { get(context.id(), id, value, bytes); });
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings id, void *value, std::size_t *bytes) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &) { get(0, id, value, bytes); });
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings id, void *value, std::size_t *bytes) {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &context) { set(context.id(), id, value, bytes); });
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings id, void *value, std::size_t *bytes) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &) { set(0, id, value, bytes); });
}

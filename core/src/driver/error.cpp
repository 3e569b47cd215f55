// error.cpp -- the names, messages and classes of the driver's results, from results.def.
#include <pycuda/error.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pycuda {
namespace {

struct ResultRow {
    int code;
    ErrorKind kind;
    const char *name;
    const char *text;
};

constexpr ResultRow rows[] = {
#define PYCUDA_RESULT(name, code, kind, text) {code, ErrorKind::kind, #name, text},
#include <abi/results.def>
};

// Sorted by code, because a row is found by binary search.
static_assert(std::is_sorted(std::begin(rows), std::end(rows),
                             [](const ResultRow &a, const ResultRow &b) {
                                 return a.code < b.code;
                             }));

const ResultRow *find_row(CUresult result) noexcept {
    int code = static_cast<int>(result);
    auto row = std::lower_bound(std::begin(rows), std::end(rows), code,
                                [](const ResultRow &row, int code) { return row.code < code; });
    return row != std::end(rows) && row->code == code ? row : nullptr;
}

/// The name of our own check of a launch's arguments.
constexpr std::string_view launch_check = "function::launch_kernel";

std::string message(const std::string &function, CUresult result, const std::string &extra) {
    if (function == launch_check && !extra.empty())
        return extra; // the driver was not called, and the text names the kernel
    std::string text = function + " failed: " + result_text(result);
    if (!extra.empty())
        text += " - " + extra;
    return text;
}

} // namespace

std::string result_name(CUresult result) {
    const ResultRow *row = find_row(result);
    return row ? row->name : "CUresult " + std::to_string(static_cast<int>(result));
}

std::string result_text(CUresult result) {
    const ResultRow *row = find_row(result);
    return row ? row->text : "error " + std::to_string(static_cast<int>(result));
}

ErrorKind error_kind(CUresult result) noexcept {
    const ResultRow *row = find_row(result);
    return row ? row->kind : ErrorKind::Logic;
}

Error::Error(std::string function, CUresult result, std::string extra)
    : std::runtime_error(message(function, result, extra)), function_(std::move(function)),
      result_(result), extra_(std::move(extra)) {}

DriverNotFound::DriverNotFound(std::string function, std::string explanation)
    : Error(std::move(function), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, std::move(explanation)) {}

Interrupted::Interrupted(std::string function)
    : Error(std::move(function), CUDA_ERROR_NOT_READY, "the wait was interrupted") {}

void throw_error(const char *function, CUresult result, std::string extra) {
    throw Error(function, result, std::move(extra));
}

} // namespace pycuda

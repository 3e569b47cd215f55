// error.cpp -- names and texts of results, from the shared table.
#include "device/error.h"

namespace softcuda::device {
namespace {

struct ResultRow {
    int code;
    const char *name;
    const char *text;
};

constexpr ResultRow kResults[] = {
#define PYCUDA_RESULT(name, code, kind, text) {code, #name, text},
#include "abi/results.def"
};

const ResultRow *find(CUresult result) noexcept {
    for (const ResultRow &row : kResults)
        if (row.code == static_cast<int>(result))
            return &row;
    return nullptr;
}

} // namespace

const char *result_name(CUresult result) noexcept {
    const ResultRow *row = find(result);
    return row ? row->name : nullptr;
}

const char *result_text(CUresult result) noexcept {
    const ResultRow *row = find(result);
    return row ? row->text : nullptr;
}

const char *Error::what() const noexcept {
    const char *text = result_text(result_);
    return text ? text : "unknown driver error";
}

} // namespace softcuda::device

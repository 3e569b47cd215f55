// module.cpp -- loads device code and looks up its kernels and variables.
#include <pycuda/module.h>

#include "context/outside_captures.h"
#include "driver/trace.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/kernel_signature.h>
#include <pycuda/pending_work.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace pycuda {

namespace detail {

CUresult unload_module(CUmodule module) {
    const detail::OutsideCaptures outside;
    return driver().cuModuleUnload.status(module);
}

/// The state that the copies of a Module share.
struct ModuleState {
    Handle<CUmodule, unload_module> handle;
    CallerMutex mutex; // guards the members below
    std::map<std::string, std::vector<ParameterDescription>> descriptions;
    std::vector<std::string> variable_words; // words of the source that may name variables
    std::map<std::string, ParameterLayout> ptx_layouts;        // if the driver has no layouts
    std::vector<std::weak_ptr<const FunctionState>> functions; // all that may still be launched
};

} // namespace detail

namespace {

constexpr std::size_t log_bytes = 32 * 1024;

/// A buffer that the driver's compiler writes its log to.
class LogBuffer {
  public:
    LogBuffer() : text_(log_bytes, '\0') {}
    void *data() { return text_.data(); }
    std::string text() const {
        std::string_view whole(text_.data(), strnlen(text_.data(), text_.size()));
        while (!whole.empty() && (whole.back() == '\n' || whole.back() == ' '))
            whole.remove_suffix(1);
        return std::string(whole);
    }

  private:
    std::string text_;
};

/// ELF is a cubin; the other magic number is a fatbin's. Both contain their own length.
bool is_binary(std::span<const std::byte> image) {
    constexpr unsigned char elf[] = {0x7f, 'E', 'L', 'F'};
    constexpr unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
    return image.size() >= 4 &&
           (std::memcmp(image.data(), elf, 4) == 0 || std::memcmp(image.data(), fatbin, 4) == 0);
}

/// printf calls vprintf, assert calls __assertfail. A fatbin may be compressed.
void note_prints(std::span<const std::byte> image) {
    const std::string_view text(reinterpret_cast<const char *>(image.data()), image.size());
    if (text.starts_with("\x50\xed\x55\xba") || text.find("vprintf") != text.npos ||
        text.find("__assertfail") != text.npos)
        detail::kernels_may_print.store(true, std::memory_order_relaxed);
}

CUresult load_data(CUmodule &handle, const void *image, const JitOptions &user_options,
                   JitLog &log) {
    LogBuffer info;
    LogBuffer error;
    JitOptions options = {
        {CU_JIT_INFO_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(info.data())},
        {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, log_bytes},
        {CU_JIT_ERROR_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(error.data())},
        {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log_bytes},
    };
    options.insert(options.end(), user_options.begin(), user_options.end());
    std::vector<CUjit_option> names;
    std::vector<void *> values;
    for (auto [name, value] : options) {
        names.push_back(name);
        values.push_back(reinterpret_cast<void *>(value));
    }
    const detail::OutsideCaptures outside;
    CUresult result = driver().cuModuleLoadDataEx.status(
        &handle, image, static_cast<unsigned>(names.size()), names.data(), values.data());
    log = {info.text(), error.text()};
    return result;
}

std::string list_names(std::vector<std::string> names) {
    constexpr std::size_t most = 20;
    std::sort(names.begin(), names.end());
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < most; ++i)
        list += (i ? ", " : "") + names[i];
    if (names.size() > most)
        list += " and " + std::to_string(names.size() - most) + " more";
    return list;
}

std::string explain_unknown(const char *what, const std::string &name) {
    return std::string("no ") + what + " \"" + name + "\" in the module";
}

/// The words of the declarations of variables, textures and surfaces in a CUDA C++ source, and
/// some more.
std::vector<std::string> read_variable_words(std::string_view source) {
    std::vector<std::string> words;
    for (const std::string_view start :
         {"__device__", "__constant__", "__managed__", "texture<", "surface<"})
        for (std::size_t at = source.find(start); at != source.npos; at = source.find(start, at)) {
            at += start.size();
            const std::size_t end = std::min(source.find_first_of(";({=", at), source.size());
            std::string word;
            for (; at <= end; ++at) {
                const unsigned char c = at < end ? static_cast<unsigned char>(source[at]) : ' ';
                if (std::isalnum(c) || c == '_')
                    word += static_cast<char>(c);
                else if (!word.empty())
                    words.push_back(std::exchange(word, {}));
            }
        }
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
    return words;
}

/// "no global variable "x" in the module, which has: a, b". The driver says which words are names.
std::string explain_unknown_variable(const std::string &name, CUmodule module,
                                     const std::vector<std::string> &words) {
    std::vector<std::string> known;
    for (const std::string &word : words) {
        AddressRange range;
        if (driver().cuModuleGetGlobal.status(&range.base, &range.size, module, word.c_str()) ==
            CUDA_SUCCESS)
            known.push_back(word);
    }
    const std::string text = explain_unknown("global variable", name);
    return known.empty() ? text : text + ", which has: " + list_names(std::move(known));
}

std::string explain_unknown_kernel(const std::string &name, const std::vector<std::string> &known) {
    std::string text = explain_unknown("kernel", name);
    if (known.empty())
        return text +
               ", which has no kernels: a kernel begins with __global__; of a template, look "
               "up an instance, such as \"" +
               name + "<float>\"";
    text += ", which has: " + list_names(known);
    for (const std::string &other : known)
        if (other != name && plain_name(other) == name)
            return text + "; " + other + " is the C++ name of \"" + name +
                   "\": declare the kernel extern \"C\", or look up this name";
    return text;
}

/// The layout from the driver; empty if the driver cannot report it.
std::optional<ParameterLayout> ask_layout(CUfunction function) {
    if (!driver().cuFuncGetParamInfo.available())
        return std::nullopt;
    const trace::ExpectedResult end(CUDA_ERROR_INVALID_VALUE, "the kernel has no such parameter");
    std::vector<Parameter> parameters;
    for (;;) {
        std::size_t offset = 0;
        std::size_t size = 0;
        CUresult result =
            driver().cuFuncGetParamInfo.status(function, parameters.size(), &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE)
            return ParameterLayout(std::move(parameters)); // the index after the last parameter
        if (result == CUDA_ERROR_NOT_SUPPORTED)
            return std::nullopt;
        check(result, driver().cuFuncGetParamInfo.name());
        parameters.push_back({.offset = static_cast<std::uint32_t>(offset),
                              .size = static_cast<std::uint32_t>(size)});
    }
}

/// For drivers before 12.4, which do not report layouts: the layouts of all kernels in a PTX text.
std::map<std::string, ParameterLayout> read_ptx_layouts(std::string_view ptx) {
    std::map<std::string, ParameterLayout> layouts;
    for (PtxEntry &entry : read_ptx_entries(ptx))
        layouts.emplace(std::move(entry.name), ParameterLayout(std::move(entry.parameters)));
    return layouts;
}

bool all_known(const std::vector<ParameterDescription> &parameters) {
    return !parameters.empty() &&
           std::ranges::none_of(parameters, [](const ParameterDescription &parameter) {
               return parameter.kind == ValueKind::Unknown;
           });
}

/// All that is known about a kernel's parameters, from the driver, the PTX, or only the source.
ParameterLayout find_layout(CUfunction function, const std::string &name,
                            detail::ModuleState &module) {
    std::optional<ParameterLayout> layout = ask_layout(function);
    std::lock_guard lock(module.mutex);
    if (auto read = module.ptx_layouts.find(name); !layout && read != module.ptx_layouts.end())
        layout = read->second;
    auto described = module.descriptions.find(name);
    if (described == module.descriptions.end()) // C++ functions have mangled names
        described = module.descriptions.find(plain_name(name));
    std::vector<ParameterDescription> description;
    if (described != module.descriptions.end())
        description = described->second;
    if (!all_known(description)) // a mangled name has no typedefs, and distinguishes overloads
        if (auto told = read_linker_name(name); !told.empty())
            description = std::move(told);
    if (description.empty() && described == module.descriptions.end())
        return layout.value_or(ParameterLayout());
    if (!layout)
        return ParameterLayout::from_description(description);
    layout->describe(description);
    return *std::move(layout);
}

} // namespace

Module Module::load(std::span<const std::byte> image, const JitOptions &options, JitLog *log) {
    Context context = Context::require_current();
    note_prints(image);
    std::string text; // PTX must end with a zero byte
    const void *data = image.data();
    if (!is_binary(image) && (image.empty() || image.back() != std::byte{0})) {
        text.assign(reinterpret_cast<const char *>(image.data()), image.size());
        data = text.c_str();
    }
    CUmodule handle = nullptr;
    JitLog said;
    CUresult result = load_data(handle, data, options, said);
    if (log)
        *log = said;
    check(result, driver().cuModuleLoadDataEx.name(), [&] { return said.error; });
    Module module = adopt(handle, std::move(context));
    if (!driver().cuFuncGetParamInfo.available() && !is_binary(image))
        module.state_->ptx_layouts =
            read_ptx_layouts({reinterpret_cast<const char *>(image.data()), image.size()});
    return module;
}

Module Module::load_file(const std::filesystem::path &path) {
    if (std::error_code unknown; std::filesystem::is_directory(path, unknown))
        throw Error("cuModuleLoad", CUDA_ERROR_FILE_NOT_FOUND, path.string() + " is a folder");
    std::ifstream file(path, std::ios::binary);
    std::string image{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        throw Error("cuModuleLoad", CUDA_ERROR_FILE_NOT_FOUND, path.string());
    return load(std::as_bytes(std::span(image)));
}

Module Module::adopt(CUmodule handle, Context context) {
    return Module(std::make_shared<detail::ModuleState>(
        Handle<CUmodule, detail::unload_module>::adopt(handle, std::move(context))));
}

Module Module::borrow(CUmodule handle, Context context) {
    detail::kernels_may_print.store(true, std::memory_order_relaxed);
    return Module(std::make_shared<detail::ModuleState>(
        Handle<CUmodule, detail::unload_module>::borrow(handle, std::move(context))));
}

CUmodule Module::get() const {
    if (closed())
        throw Error("module", CUDA_ERROR_INVALID_HANDLE, "the module was closed before");
    return state_->handle.live("module");
}

bool Module::closed() const noexcept { return state_->handle.get() == nullptr; }

void Module::close() {
    std::lock_guard lock(state_->mutex);
    for (const std::weak_ptr<const detail::FunctionState> &known : state_->functions)
        if (const auto function = known.lock())
            function->handle.store(nullptr, std::memory_order_relaxed);
    state_->functions.clear();
    state_->handle.reset();
}

const Context &Module::context() const noexcept { return state_->handle.context(); }

Function Module::function(const std::string &name) const {
    ScopedContext scope(context());
    const detail::OutsideCaptures outside;
    CUfunction handle = nullptr;
    const CUresult result = driver().cuModuleGetFunction.status(&handle, get(), name.c_str());
    check(result, "cuModuleGetFunction", [&] {
        return result == CUDA_ERROR_NOT_FOUND ? explain_unknown_kernel(name, function_names())
                                              : std::string();
    });
    // Else the first launch loads the kernel, which ends a capture.
    if (driver().cuFuncLoad.available())
        driver().cuFuncLoad(handle);
    auto state = std::make_shared<const detail::FunctionState>(
        handle, name, find_layout(handle, name, *state_), state_, context());
    std::lock_guard lock(state_->mutex);
    std::erase_if(state_->functions, [](const auto &known) { return known.expired(); });
    state_->functions.push_back(state);
    return Function(std::move(state));
}

std::vector<std::string> Module::function_names() const {
    const Driver &api = driver();
    if (!api.cuModuleGetFunctionCount.available() || !api.cuModuleEnumerateFunctions.available() ||
        !api.cuFuncGetName.available())
        return {};
    unsigned count = 0;
    if (api.cuModuleGetFunctionCount.status(&count, get()) != CUDA_SUCCESS)
        return {};
    std::vector<CUfunction> functions(count);
    if (count == 0 ||
        api.cuModuleEnumerateFunctions.status(functions.data(), count, get()) != CUDA_SUCCESS)
        return {};
    std::vector<std::string> names;
    for (CUfunction function : functions) {
        const char *name = nullptr;
        if (api.cuFuncGetName.status(&name, function) == CUDA_SUCCESS && name)
            names.emplace_back(name);
    }
    return names;
}

AddressRange Module::global(const std::string &name) const {
    ScopedContext scope(context());
    AddressRange range;
    const CUresult result =
        driver().cuModuleGetGlobal.status(&range.base, &range.size, get(), name.c_str());
    check(result, "cuModuleGetGlobal", [&] {
        if (result != CUDA_ERROR_NOT_FOUND)
            return std::string();
        std::unique_lock lock(state_->mutex);
        const std::vector<std::string> words = state_->variable_words;
        lock.unlock();
        return explain_unknown_variable(name, get(), words);
    });
    return range;
}

void Module::describe(const std::string &name, std::vector<ParameterDescription> parameters) const {
    std::lock_guard lock(state_->mutex);
    state_->descriptions[name] = std::move(parameters);
}

void Module::describe_from_source(std::string_view source) const {
    const std::vector<DeclaredKernel> declared = read_declared_kernels(source);
    for (const DeclaredKernel &kernel : declared)
        if (!kernel.is_template)
            describe(kernel.name, kernel.parameters);
    // Without extern "C", the name of a kernel is mangled. Overloads have the same plain name and
    // are skipped.
    for (const std::string &name : function_names()) {
        const std::string plain = plain_name(name);
        const auto same = [&](const DeclaredKernel &kernel) { return kernel.name == plain; };
        if (plain == name || std::ranges::count_if(declared, same) != 1)
            continue;
        const DeclaredKernel &kernel = *std::ranges::find_if(declared, same);
        if (!kernel.is_template)
            describe(name, kernel.parameters);
    }
    std::lock_guard lock(state_->mutex);
    state_->variable_words = read_variable_words(source);
}

} // namespace pycuda

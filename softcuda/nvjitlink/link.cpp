// link.cpp -- reads inputs and links them: LTO-IR by NVIDIA's library to PTX, PTX by the driver.
#include "link.h"

#include "driver.h"
#include "failure.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

namespace softlink {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kLtoIrMagic = 0x7F4E43ED;
constexpr std::uint32_t kFatBinaryMagic = 0xBA55ED50;
constexpr std::size_t kElfMachine = 18; ///< the position of e_machine, 2 bytes
constexpr std::uint16_t kMachineCuda = 190;

template <class Number> Number number_at(Bytes bytes, std::size_t position) {
    Number number = 0;
    if (bytes.size() >= position + sizeof number)
        std::memcpy(&number, &bytes[position], sizeof number);
    return number;
}

bool begins_with(Bytes bytes, std::string_view text) {
    return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// The type of an input, from its content.
nvJitLinkInputType type_of(Bytes data) {
    if (begins_with(data, "!<arch>\n"))
        return NVJITLINK_INPUT_LIBRARY;
    if (begins_with(data, "\177ELF"))
        return number_at<std::uint16_t>(data, kElfMachine) == kMachineCuda ? NVJITLINK_INPUT_CUBIN
                                                                           : NVJITLINK_INPUT_OBJECT;
    const auto magic = number_at<std::uint32_t>(data, 0);
    if (magic == kFatBinaryMagic)
        return NVJITLINK_INPUT_FATBIN;
    if (magic == kLtoIrMagic)
        return NVJITLINK_INPUT_LTOIR;
    const std::string_view text(reinterpret_cast<const char *>(data.data()), data.size());
    return text.find(".version") != std::string_view::npos ? NVJITLINK_INPUT_PTX
                                                           : NVJITLINK_INPUT_NONE;
}

const char *name_of(nvJitLinkInputType type) {
    switch (type) {
    case NVJITLINK_INPUT_CUBIN:
        return "NVJITLINK_INPUT_CUBIN";
    case NVJITLINK_INPUT_PTX:
        return "NVJITLINK_INPUT_PTX";
    case NVJITLINK_INPUT_LTOIR:
        return "NVJITLINK_INPUT_LTOIR";
    case NVJITLINK_INPUT_FATBIN:
        return "NVJITLINK_INPUT_FATBIN";
    case NVJITLINK_INPUT_OBJECT:
        return "NVJITLINK_INPUT_OBJECT";
    case NVJITLINK_INPUT_LIBRARY:
        return "NVJITLINK_INPUT_LIBRARY";
    case NVJITLINK_INPUT_INDEX:
        return "NVJITLINK_INPUT_INDEX";
    default:
        return nullptr;
    }
}

/// The content's type. Throws unless it is the expected one.
nvJitLinkInputType checked_type(nvJitLinkInputType expected, Bytes data, const std::string &name) {
    const nvJitLinkInputType found = type_of(data);
    if (expected == NVJITLINK_INPUT_ANY && found != NVJITLINK_INPUT_NONE)
        return found;
    const char *word = name_of(expected);
    if (!word)
        throw Failure(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "unsupported input type: " + name);
    // The "cubin" of an earlier link is PTX.
    const bool is_ours = expected == NVJITLINK_INPUT_CUBIN && found == NVJITLINK_INPUT_PTX;
    if (found != expected && !is_ours)
        throw Failure(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                      std::string("ERROR 1: bad input: does not match type ") + word + " " + name);
    return found;
}

CUjitInputType driver_type(nvJitLinkInputType type) {
    switch (type) {
    case NVJITLINK_INPUT_PTX:
        return CU_JIT_INPUT_PTX;
    case NVJITLINK_INPUT_OBJECT:
        return CU_JIT_INPUT_OBJECT;
    case NVJITLINK_INPUT_LIBRARY:
        return CU_JIT_INPUT_LIBRARY;
    default: // a cubin is refused with the reason
        return CU_JIT_INPUT_FATBINARY;
    }
}

nvJitLinkResult result_of(CUresult result) {
    switch (result) {
    case CUDA_ERROR_INVALID_PTX:
        return NVJITLINK_ERROR_PTX_COMPILE;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
        return NVJITLINK_ERROR_ARCH_MISMATCH;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_VALUE:
        return NVJITLINK_ERROR_INVALID_INPUT;
    default:
        return NVJITLINK_ERROR_INTERNAL;
    }
}

/// The texts that the driver passes.
struct Texts {
    struct Text {
        ScuLinkText kind;
        std::string name, content;
    };
    std::vector<Text> programs, infos;
    std::set<std::string> undefined;
    std::string log;

    static void take(void *client, ScuLinkText kind, const char *name, const void *data,
                     std::size_t bytes) {
        auto &texts = *static_cast<Texts *>(client);
        std::string content(static_cast<const char *>(data), bytes);
        if (kind == SCU_LINK_LOG)
            texts.log += content;
        else if (kind == SCU_LINK_UNDEFINED)
            texts.undefined.insert(name);
        else
            (kind == SCU_LINK_INFO ? texts.infos : texts.programs)
                .push_back({kind, name, std::move(content)});
    }

    void check(CUresult result) const {
        if (result != CUDA_SUCCESS)
            throw Failure(result_of(result), log);
    }
};

enum class Undefined { Refused, Kept };

/// The texts of a link by the driver. Throws Failure.
Texts link(const std::vector<Program> &programs, unsigned most_registers, Undefined undefined) {
    std::vector<ScuLinkProgram> inputs;
    for (const Program &program : programs)
        inputs.push_back({program.name.c_str(), program.ptx.c_str()});
    Texts texts;
    const CUresult result = driver().link(inputs.data(), inputs.size(), most_registers,
                                          undefined == Undefined::Kept, Texts::take, &texts);
    if (result == CUDA_ERROR_INVALID_PTX) // a symbol is undefined, or defined twice
        throw Failure(NVJITLINK_ERROR_INTERNAL, texts.log);
    texts.check(result);
    return texts;
}

} // namespace

nvJitLinkResult Link::start(std::span<const char *const> options, int major) {
    try {
        options_ = read_options(options, major);
        return NVJITLINK_SUCCESS;
    } catch (const Failure &failure) {
        log_error(failure.message());
        return failure.result();
    }
}

void Link::log_error(const std::string &message) {
    if (message.empty())
        return;
    errors_ += message;
    if (errors_.back() != '\n')
        errors_ += '\n';
}

void Link::log_info(const std::string &line) { infos_ += line + "\n"; }

void Link::require_inputs_allowed() const {
    require(!is_complete_ && options_.architecture != 0, NVJITLINK_ERROR_INTERNAL);
}

void Link::add(nvJitLinkInputType type, Bytes data, const std::string &name) {
    require_inputs_allowed();
    require(!data.empty(), NVJITLINK_ERROR_INVALID_INPUT);
    type = checked_type(type, data, name);
    if (type != NVJITLINK_INPUT_LTOIR) {
        add_programs(type, data, name);
        return;
    }
    if (!options_.lto)
        throw Failure(NVJITLINK_ERROR_LTO_NOT_ENABLED,
                      "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)");
    add_lto_ir(type, data, name);
}

void Link::add_file(nvJitLinkInputType type, const char *path) {
    std::ifstream file(path, std::ios::binary);
    if (!file.good())
        throw Failure(NVJITLINK_ERROR_INVALID_INPUT, std::string("no such file: ") + path);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    add(type, std::as_bytes(std::span(content)), path);
}

void Link::add_programs(nvJitLinkInputType type, Bytes data, const std::string &name) {
    if (!options_.unknown_ptxas_option.empty())
        throw Failure(NVJITLINK_ERROR_PTX_COMPILE,
                      "ptxas fatal   : Unknown option '" + options_.unknown_ptxas_option + "'");
    Texts texts;
    const bool wants_lto_ir = options_.lto && nvidia() != nullptr;
    texts.check(driver().read_input(driver_type(type), data.data(), data.size(), name.c_str(),
                                    options_.architecture, wants_lto_ir, Texts::take, &texts));
    for (Texts::Text &text : texts.programs) {
        if (text.kind == SCU_LINK_LTO_IR)
            add_lto_ir(NVJITLINK_INPUT_FATBIN, std::as_bytes(std::span(text.content)), text.name);
        else
            programs_.push_back({text.name, std::move(text.content)});
    }
}

void Link::add_lto_ir(nvJitLinkInputType type, Bytes data, const std::string &name) {
    const Nvidia *library = nvidia();
    if (!library)
        throw Failure(NVJITLINK_ERROR_NVVM_COMPILE, name + ": " + kNoNvidia);
    if (!lto_)
        lto_ = std::make_unique<LtoLink>(*library, options_.given);
    lto_->add(type, data, name);
}

void Link::link_lto_ir() {
    Needed needed;
    needed.all = options_.relocatable;
    if (!programs_.empty())
        needed.names = link(programs_, 0, Undefined::Kept).undefined;
    const std::string ptx = lto_->complete(needed);
    if (options_.verbose && !lto_->info_log().empty())
        log_info(lto_->info_log());
    // The driver checks it like other PTX.
    add_programs(NVJITLINK_INPUT_PTX, std::as_bytes(std::span(ptx)), "lto");
}

void Link::link_programs() {
    if (programs_.empty()) { // an empty image, as in NVIDIA's library
        linked_ = ".version 7.0\n.target sm_" + std::to_string(options_.architecture) +
                  "\n.address_size 64\n";
        return;
    }
    const auto undefined = options_.relocatable ? Undefined::Kept : Undefined::Refused;
    Texts texts = link(programs_, options_.most_registers, undefined);
    if (options_.verbose)
        for (const Texts::Text &line : texts.infos)
            log_info("info    : " + line.content);
    linked_ = std::move(texts.programs.at(0).content);
}

void Link::complete() {
    require_inputs_allowed();
    is_complete_ = true;
    const auto begin = std::chrono::steady_clock::now();
    if (options_.ptx && !programs_.empty())
        throw Failure(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                      "ERROR: -ptx requires that all inputs have LTOIR");
    if (options_.lto && !lto_ && nvidia())
        throw Failure(NVJITLINK_ERROR_NVVM_COMPILE,
                      "ERROR NVVM_ERROR_NO_MODULE_IN_PROGRAM (8) in nvvmCompileProgram callback");
    if (lto_)
        link_lto_ir();
    link_programs();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (options_.time)
        log_info("nvJitLinkComplete time to finish: " + std::to_string(took.count()));
}

const std::string &Link::cubin() const {
    require(linked_.has_value() && !options_.ptx, NVJITLINK_ERROR_INTERNAL);
    return *linked_;
}

const std::string &Link::ptx() const {
    require(options_.ptx, NVJITLINK_ERROR_INVALID_INPUT);
    require(linked_.has_value(), NVJITLINK_ERROR_INTERNAL);
    return *linked_;
}

std::string Link::lto_ir() const {
    require(options_.lto, NVJITLINK_ERROR_INVALID_INPUT);
    std::string found = lto_ && linked_ ? lto_->lto_ir() : std::string();
    require(!found.empty(), NVJITLINK_ERROR_INTERNAL);
    return found;
}

} // namespace softlink

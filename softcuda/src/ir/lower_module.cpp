// lower_module.cpp -- variables, the layout of parameters, and functions that are not inlined.
#include "ir/lower_module.h"

#include "ir/lower.h"
#include "ir/lower_calls.h"
#include "ir/lower_families.h"
#include "ir/lower_function.h"
#include "ir/read_debug_info.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace softcuda::ir {

namespace {

/// Far more than a GPU has memory for; keeps sizes from overflowing.
constexpr std::uint64_t kMostVariable = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostConstant = 64 * 1024; ///< bytes of a module's constant variables
/// An initialiser is kept in memory as it is.
constexpr std::uint64_t kMostInitial = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostParameters = 32764;

bool takes_memory(const ptx::Function &function) {
    return std::ranges::any_of(function.body, [](const ptx::Statement &statement) {
        const auto *instruction = std::get_if<ptx::Instruction>(&statement);
        return instruction && (instruction->opcode == ptx::Opcode::Alloca ||
                               instruction->opcode == ptx::Opcode::Stacksave);
    });
}

} // namespace

// ---- uses of .param variables ---------------------------------------------------------------

ParamUses::ParamUses(const ptx::Module &module, const ptx::Function &function)
    : module_(module), function_(function) {
    for (const ptx::Statement &statement : function.body) {
        if (const auto *instruction = std::get_if<ptx::Instruction>(&statement)) {
            if (instruction->opcode == ptx::Opcode::Call) {
                note_call(*instruction);
                continue;
            }
            for (const ptx::Operand &operand : instruction->operands)
                note(*instruction, operand);
        }
    }
}

/// The arguments of `rest[]` are in memory: the callee gets only their address.
void ParamUses::note_call(const ptx::Instruction &call) {
    const auto arguments = call.operand(2).elements;
    const ptx::Operand &callee = call.operand(1), &prototype = call.operand(3);
    const std::vector<ptx::Variable> *parameters = nullptr;
    if (callee.symbol.kind == ptx::SymbolKind::Function)
        parameters = &module_.functions[callee.symbol.index].parameters;
    else if (prototype.is(ptx::OperandKind::Prototype))
        parameters = &function_.prototypes[prototype.index].parameters;
    for (std::size_t n = 0; n < arguments.size(); n++) {
        // A call with .calltargets names no types: any argument may be one.
        const bool open = !parameters || (n < parameters->size() && (*parameters)[n].is_open());
        const ptx::SymbolRef symbol = arguments[n].symbol;
        if (open && symbol && symbol.kind != ptx::SymbolKind::Function)
            uses_[{symbol.kind, symbol.index}].address_taken = true;
    }
}

void ParamUses::note(const ptx::Instruction &instruction, const ptx::Operand &operand) {
    for (const ptx::Operand &element : operand.elements)
        note(instruction, element);
    if (!operand.symbol || operand.symbol.kind == ptx::SymbolKind::Function)
        return;
    ParamUse &use = uses_[{operand.symbol.kind, operand.symbol.index}];
    bool access = operand.is(ptx::OperandKind::Address) &&
                  ptx::plain_space(instruction.modifiers.space) == ptx::Space::Param &&
                  (instruction.opcode == ptx::Opcode::Ld || instruction.opcode == ptx::Opcode::St);
    if (!access) {
        use.address_taken = true;
        return;
    }
    std::uint64_t size = bytes_of(instruction.modifiers.type());
    use.granule = static_cast<std::uint32_t>(
        std::gcd(std::uint64_t{use.granule}, std::gcd(operand.integer, size)));
}

ParamUse ParamUses::use(ptx::SymbolRef symbol) const {
    auto found = uses_.find({symbol.kind, symbol.index});
    return found == uses_.end() ? ParamUse{} : found->second;
}

std::uint64_t SharedLayout::place(Key key, std::uint64_t bytes, std::uint32_t align) {
    auto [found, is_new] = offsets.try_emplace(key, 0);
    if (is_new) {
        found->second = aligned(size, align);
        size = found->second + bytes;
    }
    return found->second;
}

// ---- the module -----------------------------------------------------------------------------

ModuleLowering::ModuleLowering(const ptx::Module &source, Module &target, Diagnostics &diagnostics)
    : source_(source), target_(target), diagnostics_(diagnostics),
      calls_(source, target.debug ? CallGraph::Inlining::Never : CallGraph::Inlining::UpToLimit) {
    target_.files.push_back(source.source->name());
    for (const ptx::DebugFile &file : source.files) {
        files_[file.index] = static_cast<std::uint32_t>(target_.files.size());
        target_.files.emplace_back(file.name);
    }
}

void ModuleLowering::run() {
    if (source_.address_bits != 64)
        return error({}, ".address_size " + std::to_string(source_.address_bits) +
                             " is not supported by the software device, only 64");
    if (!calls_.address_taken().empty() || calls_.has_indirect())
        add_functions_variable();
    uses_stack_ = std::ranges::any_of(source_.functions, takes_memory);
    lower_variables();
    read_debug_data();
    lower_functions();
    for (const ptx::Function &function : source_.functions) {
        if (function.is_entry() && function.has_body && !diagnostics_.full())
            lower_kernel(function);
    }
    lower_dispatches();
    for (const KernelShared &variables : kernels_shared_)
        place_shared(variables);
}

void ModuleLowering::error(SourceLocation where, const std::string &message) {
    if (reported_.insert({where.offset, message}).second)
        diagnostics_.error(where, message);
}

bool ModuleLowering::is_library(std::uint32_t ptx_file) const {
    const std::string &name = target_.files.at(file_index(ptx_file));
    if (name.ends_with("/__nv_nvrtc_builtin_header.h")) // NVRTC's own, of textures and surfaces
        return true;
    return name.find("/include/") != std::string::npos &&
           (name.find("cuda") != std::string::npos || name.find("nvidia") != std::string::npos ||
            name.find("nvrtc") != std::string::npos);
}

std::vector<Location> ModuleLowering::find_users_locations(const ptx::Function &function) const {
    const std::vector<ptx::LineInfo> &lines = function.lines;
    // The first inlined line at each place.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> inlined;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (lines[i].inlined)
            inlined.try_emplace({lines[i].file, lines[i].line, lines[i].column}, i);
    std::unordered_map<std::uint32_t, bool> library; // by file
    const auto in_library = [&](std::uint32_t file) {
        auto [found, is_new] = library.try_emplace(file);
        if (is_new)
            found->second = is_library(file);
        return found->second;
    };
    std::vector<std::optional<Location>> found(lines.size());
    std::vector<std::size_t> chain; // of calls that lead to the same line of the user
    for (std::size_t i = 0; i < lines.size(); ++i) {
        Location location;
        for (std::size_t at = i;;) {
            if (found[at]) {
                location = *found[at];
                break;
            }
            const ptx::LineInfo &line = lines[at];
            location = {file_index(line.file), line.line, line.column};
            // Calls in a circle are possible in PTX that no compiler wrote.
            found[at] = location;
            chain.push_back(at);
            if (!line.inlined || !in_library(line.file))
                break;
            // The call may be in an inlined function itself, which its own `.loc` says.
            const auto outer =
                inlined.find({line.inlined_file, line.inlined_line, line.inlined_column});
            if (outer == inlined.end()) {
                location = {file_index(line.inlined_file), line.inlined_line, line.inlined_column};
                break;
            }
            at = outer->second;
        }
        for (const std::size_t at : chain)
            found[at] = location;
        chain.clear();
    }
    std::vector<Location> locations;
    locations.reserve(lines.size());
    for (const std::optional<Location> &location : found)
        locations.push_back(location.value());
    return locations;
}

Location ModuleLowering::users_location(const ptx::Function &function, std::uint32_t line) {
    auto found = users_locations_.find(&function);
    if (found == users_locations_.end())
        found = users_locations_.emplace(&function, find_users_locations(function)).first;
    return found->second.at(line);
}

std::uint32_t ModuleLowering::file_index(std::uint32_t ptx_file) const {
    auto found = files_.find(ptx_file);
    return found == files_.end() ? 0 : found->second;
}

const ParamUses &ModuleLowering::param_uses(const ptx::Function &function) {
    auto found = param_uses_.find(&function);
    if (found == param_uses_.end())
        found = param_uses_.emplace(&function, ParamUses(source_, function)).first;
    return found->second;
}

// ---- variables ------------------------------------------------------------------------------

void ModuleLowering::check_constant_data() {
    std::uint64_t bytes = 0;
    for (const ptx::Variable &v : source_.variables) {
        if (space(v.space) != Space::Constant || v.linkage == ptx::Linkage::Extern)
            continue;
        const std::uint64_t align = std::max<std::uint32_t>(v.alignment, 1);
        bytes = (bytes + align - 1) / align * align + std::min(v.bytes(), kMostVariable);
        if (bytes > kMostConstant)
            return error(v.location, "'" + std::string(v.name) +
                                         "' uses too much constant data: " + std::to_string(bytes) +
                                         " bytes with the variables before it, a module has " +
                                         std::to_string(kMostConstant));
    }
}

void ModuleLowering::lower_variables() {
    check_constant_data();
    for (std::uint32_t i = 0; i < source_.variables.size(); i++) {
        Space in = space(source_.variables[i].space);
        if (in != Space::Global && in != Space::Constant)
            continue;
        variables_[{nullptr, i}] = static_cast<std::uint32_t>(target_.variables.size());
        target_.variables.push_back(lower_variable(source_.variables[i]));
    }
    for (std::uint32_t i = 0; i < source_.variables.size(); i++) {
        if (auto found = variables_.find({nullptr, i}); found != variables_.end())
            lower_initializer(source_.variables[i], target_.variables[found->second]);
    }
}

GlobalVariable ModuleLowering::lower_variable(const ptx::Variable &variable) {
    GlobalVariable made;
    made.name = variable.name;
    made.space = space(variable.space);
    made.managed = variable.managed;
    made.visible = variable.linkage != ptx::Linkage::Internal;
    made.external = variable.linkage == ptx::Linkage::Extern;
    made.size = variable.bytes();
    made.align = std::max<std::uint32_t>(variable.alignment, 1);
    if (made.size > kMostVariable) {
        error(variable.location, "variable '" + made.name + "' is too large");
        made.size = 0;
    }
    if (variable.type == ptx::ScalarType::Texref)
        made.content = GlobalVariable::Content::Texture;
    else if (variable.type == ptx::ScalarType::Surfref)
        made.content = GlobalVariable::Content::Surface;
    return made;
}

void ModuleLowering::lower_initializer(const ptx::Variable &variable, GlobalVariable &made) {
    std::uint64_t width = bytes_of(variable.type);
    for (const ptx::InitialValue &value : variable.initial) {
        std::uint64_t end = value.offset + width;
        if (end > made.size || end > kMostInitial)
            return error(variable.location, "the initialiser of '" + made.name + "' is too large");
        if (value.symbol) {
            lower_address(variable, value, made);
            continue;
        }
        if (made.initial.size() < end)
            made.initial.resize(end);
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(width, 8); i++)
            made.initial[value.offset + i] = static_cast<std::byte>(value.bits >> (8 * i));
    }
}

/// The address of a function or variable, or one byte of it: `0xFF00(name)` after `0xFF(name)`. All
/// bytes of an address must follow each other.
void ModuleLowering::lower_address(const ptx::Variable &variable, const ptx::InitialValue &value,
                                   GlobalVariable &made) {
    const bool masked = value.mask_byte != ptx::InitialValue::no_mask;
    const std::uint64_t byte = masked ? value.mask_byte : 0;
    const auto addend = static_cast<std::int64_t>(value.bits);
    const auto refuse = [&](const std::string &why) {
        error(variable.location, "the initialiser of '" + made.name + "' holds " + why +
                                     ", which is not supported by the software device");
    };
    if (bytes_of(variable.type) != (masked ? 1 : 8))
        return refuse("a part of an address of " + std::to_string(bytes_of(variable.type)) +
                      " bytes");
    const bool function = value.symbol.kind == ptx::SymbolKind::Function;
    if (!function && !variables_.contains({nullptr, value.symbol.index}))
        return refuse("the address of a variable that is not in global memory");
    const std::uint32_t target =
        function ? functions_variable() : variables_.at({nullptr, value.symbol.index});
    const GlobalVariable::Address address = {
        value.offset - byte, target,
        addend + (function ? static_cast<std::int64_t>(function_offset(value.symbol.index)) : 0)};
    if (byte == 0) {
        if (address.offset + 8 > made.size)
            return refuse("only a part of an address");
        made.addresses.push_back(address);
    } else if (value.offset < byte || made.addresses.empty() || made.addresses.back() != address) {
        refuse("bytes of an address that do not follow each other");
    }
}

std::uint32_t ModuleLowering::variable_index(const ptx::Function *owner, std::uint32_t index) {
    const ptx::Variable &variable = owner ? owner->variables[index] : source_.variables[index];
    if (variable.linkage == ptx::Linkage::Extern)
        error(variable.location,
              "variable '" + std::string(variable.name) + "' is declared but not defined");
    auto [found, is_new] = variables_.try_emplace({owner, index}, 0);
    if (is_new) {
        found->second = static_cast<std::uint32_t>(target_.variables.size());
        GlobalVariable made = lower_variable(variable);
        made.visible = false;
        lower_initializer(variable, made);
        target_.variables.push_back(std::move(made));
    }
    return found->second;
}

// ---- functions ------------------------------------------------------------------------------

void ModuleLowering::add_functions_variable() {
    GlobalVariable made;
    made.name = "functions";
    made.content = GlobalVariable::Content::Functions;
    made.visible = false;
    made.size = kernel_offset(2 * source_.functions.size());
    made.align = kFunctionStep;
    functions_variable_ = static_cast<std::uint32_t>(target_.variables.size());
    target_.variables.push_back(std::move(made));
}

/// Kernels are first: their numbers are known to users of the compiled module.
std::uint64_t ModuleLowering::function_offset(std::uint32_t index) const {
    const auto is_kernel = [](const ptx::Function &f) { return f.is_entry() && f.has_body; };
    const auto kernels_before = [&](std::size_t end) {
        return static_cast<std::size_t>(
            std::count_if(source_.functions.begin(),
                          source_.functions.begin() + static_cast<std::ptrdiff_t>(end), is_kernel));
    };
    const auto reached = static_cast<std::size_t>(&function(index) - source_.functions.data());
    return is_kernel(source_.functions[reached])
               ? kernel_offset(kernels_before(reached))
               : kernel_offset(kernels_before(source_.functions.size()) + reached);
}

void ModuleLowering::read_debug_data() {
    if (!target_.debug)
        return;
    std::map<std::string_view, std::uint32_t> symbols;
    for (std::uint32_t i = 0; i < source_.variables.size(); i++)
        if (const auto found = variables_.find({nullptr, i}); found != variables_.end())
            symbols.emplace(source_.variables[i].name, found->second);
    const auto known =
        read_debug_info(source_, [this](std::uint32_t number) { return file_index(number); });
    for (std::uint32_t i = 0; i < source_.functions.size(); i++) {
        const auto read = known.find(i);
        auto made = read == known.end() ? std::make_shared<DebugFunction>()
                                        : std::make_shared<DebugFunction>(*read->second);
        if (made->name.empty())
            made->name = source_.functions[i].name;
        for (DebugVariable &variable : made->variables)
            for (DebugPlace &place : variable.places)
                if (const auto symbol = symbols.find(place.name);
                    place.kind == DebugPlace::Kind::Memory && symbol != symbols.end())
                    place.symbol = symbol->second;
        debug_functions_[&source_.functions[i]] = std::move(made);
    }
}

std::shared_ptr<const DebugFunction> ModuleLowering::debug_function(const ptx::Function &function) {
    const auto found = debug_functions_.find(&function);
    return found == debug_functions_.end() ? nullptr : found->second;
}

std::uint32_t ModuleLowering::function_index(const ptx::Function &function) {
    return functions_.at(&function);
}

void ModuleLowering::add_function(const ptx::Function &function) {
    functions_[&function] = static_cast<std::uint32_t>(target_.functions.size());
    target_.functions.push_back(std::make_unique<Function>());
    target_.functions.back()->name = function.name;
    target_.functions.back()->debug = debug_function(function);
}

void ModuleLowering::lower_functions() {
    std::vector<const ptx::Function *> order;
    for (const ptx::Function &function : source_.functions)
        if (calls_.stays(function) && function.has_body && !function.is_entry())
            order.push_back(&function);
    for (const ptx::Function *function : order)
        add_function(*function);
    for (const ptx::Function *function : order)
        FunctionLowering(*this, *target_.functions[functions_[function]], *function).run();
}

const ptx::Function &ModuleLowering::dispatch(const CallGraph::IndirectCall &call) {
    std::unique_ptr<Dispatch> &found = dispatches_[call.type];
    if (found)
        return found->function;
    found = std::make_unique<Dispatch>();
    found->targets = call.targets;
    ptx::Function &made = found->function;
    made.name = "call_through_pointer";
    made.has_body = true;
    ptx::Variable pointer;
    pointer.name = "function";
    pointer.space = ptx::Space::Param;
    pointer.type = ptx::ScalarType::B64;
    made.parameters.push_back(pointer);
    made.parameters.insert(made.parameters.end(), call.parameters->begin(), call.parameters->end());
    made.returns = *call.returns;
    for (std::vector<ptx::Variable> *list : {&made.parameters, &made.returns})
        for (ptx::Variable &variable : *list) { // whatever the registers of a caller's
            variable.space = ptx::Space::Param;
            variable.reg = ptx::no_index;
        }
    add_function(made);
    dispatches_to_lower_.push_back(found.get());
    return made;
}

/// Their targets may call through pointers of other types.
void ModuleLowering::lower_dispatches() {
    for (std::size_t n = 0; n < dispatches_to_lower_.size() && !diagnostics_.full(); n++) {
        const Dispatch &next = *dispatches_to_lower_[n];
        FunctionLowering(*this, *target_.functions[functions_.at(&next.function)], next.function)
            .run_dispatch(next.targets);
    }
}

/// Those of functions are in common, the kernel's own follow, and dynamic shared memory begins
/// where they end.
void ModuleLowering::place_shared(const KernelShared &variables) {
    std::vector<LocalVariable> &made = variables.kernel.variables;
    SharedLayout layout = common_shared_;
    for (const auto &[key, index] : variables.with_size)
        made[index].offset = layout.place(key, made[index].size, made[index].align);
    if (layout.size > kMostStaticShared)
        // Autotuners look for ptxas's words, and take such a kernel for one to leave out.
        error(variables.source.location,
              "kernel '" + std::string(variables.source.name) +
                  "' uses too much shared data: " + std::to_string(layout.size) +
                  " bytes, a block has " + std::to_string(kMostStaticShared));
    std::uint64_t size = aligned(layout.size, dynamic_shared_align_);
    for (std::uint32_t index : variables.dynamic)
        size = aligned(size, made[index].align);
    for (std::uint32_t index : variables.dynamic)
        made[index].offset = size;
    variables.kernel.static_shared_bytes = static_cast<std::uint32_t>(size);
}

void ModuleLowering::lower_kernel(const ptx::Function &kernel) {
    target_.functions.push_back(std::make_unique<Function>());
    Function &made = *target_.functions.back();
    made.name = kernel.name;
    made.kernel = true;
    made.debug = debug_function(kernel);
    if (kernel.required_threads)
        made.required_block = {kernel.required_threads.x, std::max(kernel.required_threads.y, 1u),
                               std::max(kernel.required_threads.z, 1u)};
    if (kernel.cluster)
        made.cluster.required = {kernel.cluster.x, std::max(kernel.cluster.y, 1u),
                                 std::max(kernel.cluster.z, 1u)};
    made.cluster.is_explicit = kernel.explicit_cluster;
    made.cluster.most = kernel.max_cluster_rank;
    if (kernel.max_threads) {
        std::uint64_t product =
            std::uint64_t{kernel.max_threads.x} * std::max(kernel.max_threads.y, 1u);
        product = std::min<std::uint64_t>(product, 1024) * std::max(kernel.max_threads.z, 1u);
        made.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(product, 1024));
    }
    made.registers = kernel.max_registers; // the limit, until they are counted
    lay_out_parameters(kernel, made);
    FunctionLowering(*this, made, kernel).run();
}

void ModuleLowering::lay_out_parameters(const ptx::Function &kernel, Function &made) {
    std::uint64_t offset = 0;
    for (const ptx::Variable &parameter : kernel.parameters) {
        std::uint64_t align = std::max<std::uint32_t>(parameter.alignment, 1);
        std::uint64_t size = parameter.bytes();
        offset = (offset + align - 1) / align * align;
        if (size > kMostParameters || offset + size > kMostParameters) {
            error(parameter.location, "the parameters of kernel '" + made.name +
                                          "' take more than " + std::to_string(kMostParameters) +
                                          " bytes");
            size = offset = 0;
        }
        made.parameters.push_back({static_cast<std::uint32_t>(offset),
                                   static_cast<std::uint32_t>(size),
                                   static_cast<std::uint32_t>(align)});
        offset += size;
    }
    made.parameter_bytes = static_cast<std::uint32_t>(offset);
}

std::unique_ptr<Module> lower(const ptx::Module &source, Diagnostics &diagnostics,
                              Purpose purpose) {
    auto module = std::make_unique<Module>();
    module->debug = purpose == Purpose::Debugging;
    ModuleLowering lowering(source, *module, diagnostics);
    lowering.run();
    if (diagnostics.has_errors())
        return nullptr;
    return module;
}

} // namespace softcuda::ir

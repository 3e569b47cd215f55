// call_graph.cpp -- chooses which calls are inlined, by the size that kernels get.
#include "ir/call_graph.h"

#include <algorithm>

namespace softcuda::ir {

namespace {

/// Statements that a kernel may have with all that is inlined, before functions stay functions.
constexpr std::uint64_t kMostInlined = 10'000;
/// A function or dispatch larger than that stays: the first limit with which the size is allowed.
constexpr std::uint64_t kLimits[] = {8000, 4000, 2000, 1000, 500, 250, 120, 60, 30};
/// What a call, and a comparison with a function's address, count.
constexpr std::uint64_t kCall = 8, kComparison = 4;
/// A function in which threads meet is inlined up to this size (see has_collective_in_body()).
constexpr std::uint64_t kMostMeeting = 2000;
/// Even for a debugger, such a function is inlined if it has at most this number of statements, as
/// the functions have that nvcc -G makes of __syncwarp() and __shfl_sync().
constexpr std::uint64_t kWrapper = 40;
/// Sizes grow exponentially with the depth of calls.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;

void sort_unique(std::vector<std::uint32_t> &list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

void note_functions(const ptx::Operand &operand, std::vector<std::uint32_t> &found) {
    if (operand.symbol.kind == ptx::SymbolKind::Function)
        found.push_back(operand.symbol.index);
    for (const ptx::Operand &element : operand.elements)
        note_functions(element, found);
}

template <class Visit> void for_each_instruction(const ptx::Function &function, Visit visit) {
    for (const ptx::Statement &statement : function.body)
        if (const auto *instruction = std::get_if<ptx::Instruction>(&statement))
            visit(*instruction);
}

bool is_indirect(const ptx::Instruction &call) {
    return call.operand(1).symbol.kind != ptx::SymbolKind::Function;
}

bool is_collective(ptx::Opcode opcode) {
    switch (opcode) {
    case ptx::Opcode::BarSync:
    case ptx::Opcode::BarArrive:
    case ptx::Opcode::BarRed:
    case ptx::Opcode::BarWarpSync:
    case ptx::Opcode::Shfl:
    case ptx::Opcode::Vote:
    case ptx::Opcode::Match:
    case ptx::Opcode::Redux:
    case ptx::Opcode::Elect:
        return true;
    default:
        return false;
    }
}

/// Whether the function's own instructions contain a barrier, a vote or a shuffle. Lanes that reach
/// a barrier one by one wait there for the others. In a function that is not inlined, they would
/// not know the lanes that have not called the function yet.
bool has_collective_in_body(const ptx::Function &function) {
    return std::ranges::any_of(function.body, [](const ptx::Statement &statement) {
        const auto *instruction = std::get_if<ptx::Instruction>(&statement);
        return instruction && is_collective(instruction->opcode);
    });
}

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return std::min(a + b, kLargest); }

/// What must be equal if one call is to serve for another: an open parameter is an address.
std::string text(const std::vector<ptx::Variable> &list) {
    std::string out;
    for (const ptx::Variable &variable : list) {
        out += variable.is_open() ? "..." : std::to_string(variable.bytes());
        out += variable.reg == ptx::no_index && variable.space != ptx::Space::Reg ? "p" : "r";
        out += std::to_string(static_cast<unsigned>(variable.type)) + "v" +
               std::to_string(variable.vector) + "a" + std::to_string(variable.alignment) + " ";
    }
    return out;
}

bool fits(const std::vector<ptx::Variable> &formal, const std::vector<ptx::Variable> &actual) {
    return std::equal(formal.begin(), formal.end(), actual.begin(), actual.end(),
                      [](const ptx::Variable &a, const ptx::Variable &b) {
                          return a.is_open() == b.is_open() &&
                                 (a.is_open() || a.bytes() == b.bytes());
                      });
}

} // namespace

CallGraph::CallGraph(const ptx::Module &module, Inlining inlining) : module_(module) {
    find_taken_addresses();
    find_calls();
    find_recursion();
    if (inlining == Inlining::Never) {
        for (const ptx::Function &function : module_.functions)
            if (!function.is_entry() &&
                (recursive_.contains(&function) || function.body.size() > kWrapper ||
                 !has_collective_in_body(function)))
                staying_.insert(&function);
        return;
    }
    find_order();
    choose(kLargest);
    for (const std::uint64_t limit : kLimits) {
        if (total() <= kMostInlined)
            return;
        choose(limit);
    }
}

const ptx::Function &CallGraph::function(std::uint32_t index) const {
    for (std::size_t hops = 0; hops <= module_.aliases.size(); hops++) {
        auto alias = std::find_if(module_.aliases.begin(), module_.aliases.end(),
                                  [&](const ptx::Alias &a) { return a.name == index; });
        if (alias == module_.aliases.end() || module_.functions[index].has_body)
            break;
        index = alias->aliasee;
    }
    return module_.functions[index];
}

void CallGraph::find_taken_addresses() {
    for (const ptx::Function &function : module_.functions)
        for_each_instruction(function, [&](const ptx::Instruction &instruction) {
            for (std::size_t n = 0; n < instruction.operands.size(); n++)
                if (instruction.opcode != ptx::Opcode::Call || n == 2)
                    note_functions(instruction.operand(n), address_taken_);
        });
    for (const ptx::Variable &variable : module_.variables)
        for (const ptx::InitialValue &value : variable.initial)
            if (value.symbol.kind == ptx::SymbolKind::Function)
                address_taken_.push_back(value.symbol.index);
    for (const ptx::Function &function : module_.functions)
        for (const ptx::Variable &variable : function.variables)
            for (const ptx::InitialValue &value : variable.initial)
                if (value.symbol.kind == ptx::SymbolKind::Function)
                    address_taken_.push_back(value.symbol.index);
    sort_unique(address_taken_);
}

CallGraph::IndirectCall CallGraph::indirect_call(const ptx::Function &caller,
                                                 const ptx::Instruction &call) const {
    IndirectCall made;
    const ptx::Operand &last = call.operand(3);
    std::vector<std::uint32_t> all = address_taken_;
    if (last.is(ptx::OperandKind::CallTargets)) {
        all = caller.target_lists[last.index].targets;
        if (all.empty())
            return made;
        made.returns = &function(all[0]).returns;
        made.parameters = &function(all[0]).parameters;
    } else {
        made.returns = &caller.prototypes[last.index].returns;
        made.parameters = &caller.prototypes[last.index].parameters;
    }
    for (const std::uint32_t index : all) {
        const ptx::Function &target = function(index);
        if (target.has_body && !target.is_entry() && fits(target.parameters, *made.parameters) &&
            fits(target.returns, *made.returns))
            made.targets.push_back(static_cast<std::uint32_t>(&target - module_.functions.data()));
    }
    sort_unique(made.targets);
    made.type = text(*made.parameters) + "-> " + text(*made.returns);
    if (last.is(ptx::OperandKind::CallTargets))
        for (const std::uint32_t index : made.targets)
            made.type += " " + std::to_string(index);
    return made;
}

void CallGraph::find_calls() {
    for (const ptx::Function &caller : module_.functions)
        for_each_instruction(caller, [&](const ptx::Instruction &call) {
            if (call.opcode != ptx::Opcode::Call)
                return;
            if (!is_indirect(call)) {
                const ptx::Function &callee = function(call.operand(1).symbol.index);
                calls_[&caller].direct.push_back(&callee);
                uses_[&callee]++;
                return;
            }
            const IndirectCall made = indirect_call(caller, call);
            calls_[&caller].indirect.push_back(made.type);
            type_uses_[made.type]++;
            std::vector<const ptx::Function *> &targets = targets_[made.type];
            if (targets.empty())
                for (const std::uint32_t index : made.targets)
                    targets.push_back(&function(index));
            for (const ptx::Function *target : targets)
                uses_[target]++;
        });
}

std::vector<const ptx::Function *> CallGraph::callees(const ptx::Function &function) const {
    std::vector<const ptx::Function *> found;
    const auto calls = calls_.find(&function);
    if (calls == calls_.end())
        return found;
    found = calls->second.direct;
    for (const std::string &type : calls->second.indirect) {
        const std::vector<const ptx::Function *> &targets = targets_.at(type);
        found.insert(found.end(), targets.begin(), targets.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// A function is recursive if it can be reached by calls from itself.
void CallGraph::find_recursion() {
    std::map<const ptx::Function *, std::vector<const ptx::Function *>> edges;
    for (const ptx::Function &function : module_.functions)
        edges[&function] = callees(function);
    for (const ptx::Function &start : module_.functions) {
        std::set<const ptx::Function *> reached;
        std::vector<const ptx::Function *> pending{&start};
        while (!pending.empty()) {
            const ptx::Function *next = pending.back();
            pending.pop_back();
            for (const ptx::Function *callee : edges[next])
                if (reached.insert(callee).second)
                    pending.push_back(callee);
        }
        if (reached.contains(&start))
            recursive_.insert(&start);
    }
}

/// Callees before their callers, except in a recursion, whose functions stay anyway.
void CallGraph::find_order() {
    std::set<const ptx::Function *> seen;
    struct Visit {
        const ptx::Function *function;
        std::vector<const ptx::Function *> callees;
    };
    for (const ptx::Function &root : module_.functions) {
        if (!seen.insert(&root).second)
            continue;
        std::vector<Visit> stack;
        stack.push_back({&root, callees(root)});
        while (!stack.empty()) {
            Visit &top = stack.back();
            if (top.callees.empty()) {
                order_.push_back(top.function);
                stack.pop_back();
                continue;
            }
            const ptx::Function *next = top.callees.back();
            top.callees.pop_back();
            if (seen.insert(next).second)
                stack.push_back({next, callees(*next)});
        }
    }
}

std::uint64_t CallGraph::call_size(const ptx::Function &callee) const {
    const auto found = size_.find(&callee);
    return stays(callee) || found == size_.end() ? kCall : found->second;
}

std::uint64_t CallGraph::targets_size(const std::string &type) const {
    std::uint64_t sum = 0;
    for (const ptx::Function *target : targets_.at(type))
        sum = add(sum, call_size(*target) + kComparison);
    return sum;
}

std::uint64_t CallGraph::size_of(const ptx::Function &function) const {
    std::uint64_t sum = function.body.size();
    const auto calls = calls_.find(&function);
    if (calls == calls_.end())
        return sum;
    for (const ptx::Function *callee : calls->second.direct)
        sum = add(sum, call_size(*callee));
    for (const std::string &type : calls->second.indirect)
        sum = add(sum, is_dispatched(type) ? kCall : targets_size(type));
    return sum;
}

void CallGraph::choose(std::uint64_t limit) {
    staying_ = recursive_;
    dispatched_.clear();
    size_.clear();
    std::set<const ptx::Function *> meeting; ///< with what is inlined into them
    for (const ptx::Function *function : order_) {
        // All targets come before the first caller, and before its size is known.
        if (const auto calls = calls_.find(function); calls != calls_.end())
            for (const std::string &type : calls->second.indirect)
                if (type_uses_.at(type) > 1 && targets_size(type) > limit)
                    dispatched_.insert(type);
        const std::uint64_t size = size_of(*function);
        size_[function] = size;
        const std::vector<const ptx::Function *> called = callees(*function);
        if (has_collective_in_body(*function) ||
            std::ranges::any_of(called, [&](const auto *callee) {
                return meeting.contains(callee) && !stays(*callee);
            }))
            meeting.insert(function);
        if (meeting.contains(function) && size <= kMostMeeting)
            continue;
        const auto uses = uses_.find(function);
        if (!function->is_entry() && uses != uses_.end() && uses->second > 1 && size > limit)
            staying_.insert(function);
    }
}

/// The statements of the largest kernel, and of all functions that stay.
std::uint64_t CallGraph::total() const {
    std::uint64_t kernel = 0, functions = 0;
    for (const auto &[function, size] : size_) {
        if (function->is_entry())
            kernel = std::max(kernel, size);
        else if (stays(*function))
            functions = add(functions, size);
    }
    for (const std::string &type : dispatched_)
        functions = add(functions, targets_size(type));
    return add(kernel, functions);
}

} // namespace softcuda::ir

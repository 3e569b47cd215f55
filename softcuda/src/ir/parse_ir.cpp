// parse_ir.cpp -- reads the text form of the IR.
//
// A function is read twice: first the left side and the opcode of each line, which make all blocks
// and all results, then the operands, which may refer to results further down (phis do).
#include "ir/parse_ir.h"

#include "ir/text_cursor.h"

#include <algorithm>
#include <map>
#include <optional>

namespace softcuda::ir {

namespace {

class FunctionReader {
  public:
    explicit FunctionReader(Function &function) : function_(function) {}

    void argument(std::string_view name, Type type) { define(name, function_.argument(type)); }
    void line(TextCursor cursor);
    void finish();

  private:
    struct Pending {
        Instruction *instruction;
        TextCursor rest;
    };
    struct ResultName {
        std::string_view name;
        std::optional<Type> type;
    };

    void label(TextCursor &cursor, std::string_view name);
    void instruction(TextCursor cursor, std::string_view first);
    void words(TextCursor &cursor, Instruction &instruction);
    void define(std::string_view name, Value *value);
    void arguments(Pending &pending);
    void argument(TextCursor &cursor, Instruction &instruction);
    void bracketed(TextCursor &cursor, Instruction &instruction);
    Value *operand(TextCursor &cursor);
    Value *constant(TextCursor &cursor, Type type);
    Block *target(TextCursor &cursor);

    Function &function_;
    Block *block_ = nullptr;
    std::map<std::string_view, Value *> values_;
    std::map<std::string_view, Block *> blocks_;
    std::vector<Pending> pending_;
};

void FunctionReader::line(TextCursor cursor) {
    std::string_view first = cursor.peek('%') ? std::string_view{} : cursor.word();
    if (!first.empty() && cursor.accept(':'))
        return label(cursor, first);
    if (!block_)
        cursor.fail("an instruction before the first label");
    instruction(cursor, first);
}

void FunctionReader::label(TextCursor &cursor, std::string_view name) {
    block_ = function_.add_block(std::string(name));
    if (block_->name != name)
        cursor.fail("label " + std::string(name) + " is defined twice");
    blocks_[name] = block_;
    cursor.end();
}

void FunctionReader::define(std::string_view name, Value *value) { values_[name] = value; }

void FunctionReader::instruction(TextCursor cursor, std::string_view first) {
    std::vector<ResultName> names;
    while (first.empty()) {
        cursor.expect('%');
        ResultName name{cursor.word(), std::nullopt};
        if (cursor.accept(':'))
            name.type = cursor.keyword<Type>("a class");
        names.push_back(name);
        if (cursor.accept(','))
            continue;
        cursor.expect('=');
        first = cursor.word();
    }
    Instruction form;
    TextCursor dotted = cursor.within(first);
    words(dotted, form);
    std::vector<Type> types;
    for (std::size_t i = 0; i < names.size(); i++) {
        std::optional<Type> type = names[i].type ? names[i].type : result_type(form, i);
        if (!type)
            cursor.fail("%" + std::string(names[i].name) + " needs a class, as in %1:i32");
        types.push_back(*type);
    }
    Instruction *made = function_.create(form.opcode, {}, types);
    made->attributes = form.attributes;
    made->block = block_;
    block_->instructions.push_back(made);
    for (std::size_t i = 0; i < names.size(); i++) {
        if (values_.contains(names[i].name))
            cursor.fail("%" + std::string(names[i].name) + " is defined twice");
        define(names[i].name, made->result(i));
    }
    pending_.push_back({made, cursor});
}

/// The mode word of an opcode that has one.
bool mode(TextCursor &cursor, Instruction &instruction) {
    Attributes &a = instruction.attributes;
    switch (instruction.opcode) {
    case Opcode::Compare:
        a.compare = cursor.dotted<Compare>("a comparison");
        break;
    case Opcode::Testp:
        a.test = cursor.dotted<Test>("a test");
        break;
    case Opcode::Atomic:
    case Opcode::Reduce:
    case Opcode::WarpReduce:
        a.atomic = cursor.dotted<AtomicOp>("an atomic operation");
        break;
    case Opcode::Shuffle:
        a.shuffle = cursor.dotted<ShuffleMode>("a shuffle mode");
        break;
    case Opcode::Vote:
        a.vote = cursor.dotted<VoteMode>("a vote mode");
        break;
    case Opcode::Match:
        a.match = cursor.dotted<MatchMode>("a match mode");
        break;
    case Opcode::BarrierReduce:
        a.reduction = cursor.dotted<BarrierReduction>("and, or, popc");
        break;
    case Opcode::Prmt:
        a.prmt = cursor.dotted<PrmtMode>("a prmt mode");
        break;
    case Opcode::Special:
    case Opcode::Clock:
        a.special = cursor.rest_after_dot<Special>("a special register");
        break;
    default:
        return false;
    }
    return true;
}

bool flag(std::string_view word, Attributes &a) {
#define IR_FLAG(member, text)                                                                      \
    if (word == text)                                                                              \
        return a.member = true;
#include "ir/flags.def"
#undef IR_FLAG
    return false;
}

bool vector_width(std::string_view word, Attributes &a) {
    if (word.size() != 2 || word[0] != 'v' || word[1] < '2' || word[1] > '8')
        return false;
    a.vector = static_cast<std::uint8_t>(word[1] - '0');
    return true;
}

void FunctionReader::words(TextCursor &cursor, Instruction &instruction) {
    std::string_view name = cursor.until_dot();
    if (!from_text(name, instruction.opcode))
        cursor.fail("unknown operation " + std::string(name));
    mode(cursor, instruction);
    Attributes &a = instruction.attributes;
    while (cursor.accept('.')) {
        std::string_view word = cursor.until_dot();
        if (from_text(word, a.order) || from_text(word, a.scope) || from_text(word, a.space) ||
            from_text(word, a.rounding) || from_text(word, a.precision) || flag(word, a) ||
            vector_width(word, a))
            continue;
        Scalar &type = a.type == Scalar::None ? a.type : a.source_type;
        if (!from_text(word, type))
            cursor.fail("unknown word ." + std::string(word));
    }
}

void FunctionReader::finish() {
    for (Pending &pending : pending_)
        arguments(pending);
    function_.update_predecessors();
}

void FunctionReader::arguments(Pending &pending) {
    TextCursor &cursor = pending.rest;
    Instruction &instruction = *pending.instruction;
    while (!cursor.at_end() && !cursor.peek('#') && !cursor.peek('!')) {
        argument(cursor, instruction);
        if (!cursor.accept(','))
            break;
    }
    if (cursor.accept('#'))
        instruction.attributes.immediate = static_cast<std::uint32_t>(cursor.number());
    if (cursor.accept('!')) {
        instruction.location.file = static_cast<std::uint32_t>(cursor.number());
        cursor.expect(':');
        instruction.location.line = static_cast<std::uint32_t>(cursor.number());
        cursor.expect(':');
        instruction.location.column = static_cast<std::uint32_t>(cursor.number());
    }
    cursor.end();
}

void FunctionReader::argument(TextCursor &cursor, Instruction &instruction) {
    Attributes &a = instruction.attributes;
    if (cursor.accept('@')) {
        a.symbol = static_cast<std::uint32_t>(cursor.number());
        a.offset = cursor.offset();
    } else if (cursor.accept('[')) {
        bracketed(cursor, instruction);
        cursor.expect(']');
    } else if (info(instruction.opcode).terminator && !cursor.peek('%') &&
               !cursor.peek_constant()) {
        instruction.blocks.push_back(target(cursor));
    } else {
        instruction.operands.push_back(operand(cursor));
    }
}

void FunctionReader::bracketed(TextCursor &cursor, Instruction &instruction) {
    if (instruction.is(Opcode::LoadParam) || instruction.is(Opcode::ParamAddress)) {
        instruction.attributes.offset = cursor.number();
        return;
    }
    instruction.operands.push_back(operand(cursor));
    if (instruction.is(Opcode::Phi)) {
        cursor.expect(',');
        instruction.blocks.push_back(target(cursor));
    } else {
        instruction.attributes.offset = cursor.offset();
    }
}

Block *FunctionReader::target(TextCursor &cursor) {
    std::string_view name = cursor.word();
    auto found = blocks_.find(name);
    if (found == blocks_.end())
        cursor.fail("there is no label " + std::string(name));
    return found->second;
}

Value *FunctionReader::operand(TextCursor &cursor) {
    if (!cursor.accept('%'))
        return constant(cursor, cursor.keyword<Type>("a value"));
    std::string_view name = cursor.word();
    auto found = values_.find(name);
    if (found == values_.end())
        cursor.fail("%" + std::string(name) + " is not defined");
    return found->second;
}

Value *FunctionReader::constant(TextCursor &cursor, Type type) {
    return function_.constant(type, cursor.constant_bits(type));
}

class ModuleReader {
  public:
    explicit ModuleReader(Module &module) : module_(module) {}
    void line(TextCursor cursor);
    void finish(TextCursor cursor);

  private:
    void directive(TextCursor &cursor, std::string_view word);
    void file(TextCursor &cursor);
    void variable(TextCursor &cursor);
    void begin_function(TextCursor &cursor, std::string_view kind);
    void signature(TextCursor &cursor);
    void header(TextCursor &cursor, std::string_view word);
    void parameters(TextCursor &cursor);
    void cluster(TextCursor &cursor);
    void local_variable(TextCursor &cursor);

    Module &module_;
    Function *function_ = nullptr;
    std::optional<FunctionReader> reader_;
};

void ModuleReader::line(TextCursor cursor) {
    if (cursor.at_end())
        return;
    if (cursor.accept('.'))
        return directive(cursor, cursor.word());
    if (!function_)
        return begin_function(cursor, cursor.word());
    if (!cursor.accept('}'))
        return reader_->line(cursor);
    cursor.end();
    if (function_->blocks.empty())
        cursor.fail("the function has no blocks");
    reader_->finish();
    reader_.reset();
    function_ = nullptr;
}

void ModuleReader::finish(TextCursor cursor) {
    if (function_)
        cursor.fail("a } is missing at the end");
}

void ModuleReader::directive(TextCursor &cursor, std::string_view word) {
    if (function_)
        header(cursor, word);
    else if (word == "file")
        file(cursor);
    else if (word == "variable")
        variable(cursor);
    else
        cursor.fail("unknown directive ." + std::string(word));
    cursor.end();
}

void ModuleReader::file(TextCursor &cursor) { module_.files.emplace_back(cursor.quoted()); }

void ModuleReader::variable(TextCursor &cursor) {
    GlobalVariable made;
    made.space = cursor.keyword<Space>("a state space");
    made.name = cursor.word();
    made.size = cursor.unsigned_after("size");
    made.align = static_cast<std::uint32_t>(cursor.unsigned_after("align"));
    while (!cursor.at_end()) {
        std::string_view word = cursor.word();
        if (word == "texref") {
            made.content = GlobalVariable::Content::Texture;
        } else if (word == "surfref") {
            made.content = GlobalVariable::Content::Surface;
        } else if (word == "functions") {
            made.content = GlobalVariable::Content::Functions;
        } else if (word == "managed") {
            made.managed = true;
        } else if (word == "hidden") {
            made.visible = false;
        } else if (word == "external") {
            made.external = true;
        } else if (word == "bytes") {
            made.initial = cursor.hex_bytes();
        } else if (word == "address") {
            GlobalVariable::Address address;
            address.offset = static_cast<std::uint64_t>(cursor.number());
            address.variable = static_cast<std::uint32_t>(cursor.unsigned_after("variable"));
            address.addend = cursor.offset();
            made.addresses.push_back(address);
        } else {
            cursor.fail("unknown word " + std::string(word));
        }
    }
    module_.variables.push_back(std::move(made));
}

void ModuleReader::begin_function(TextCursor &cursor, std::string_view kind) {
    if (kind != "kernel" && kind != "function")
        cursor.fail("expected kernel, function or a directive");
    module_.functions.push_back(std::make_unique<Function>());
    function_ = module_.functions.back().get();
    function_->kernel = kind == "kernel";
    function_->name = cursor.word();
    reader_.emplace(*function_);
    if (!function_->kernel)
        signature(cursor);
    cursor.expect('{');
    cursor.end();
}

void ModuleReader::signature(TextCursor &cursor) {
    cursor.expect('(');
    while (!cursor.accept(')')) {
        cursor.expect('%');
        std::string_view name = cursor.word();
        cursor.expect(':');
        reader_->argument(name, cursor.keyword<Type>("a class"));
        cursor.accept(',');
    }
    if (!cursor.accept('-'))
        return;
    cursor.expect('>');
    do {
        function_->returns.push_back(cursor.keyword<Type>("a class"));
    } while (cursor.accept(','));
}

void ModuleReader::header(TextCursor &cursor, std::string_view word) {
    if (word == "parameters")
        parameters(cursor);
    else if (word == "variable")
        local_variable(cursor);
    else if (word == "dynamic_shared")
        function_->uses_dynamic_shared = true;
    else if (word == "required_block")
        for (std::uint32_t &size : function_->required_block)
            size = static_cast<std::uint32_t>(cursor.number());
    else if (word == "cluster")
        cluster(cursor);
    else if (word == "max_threads")
        function_->max_threads = static_cast<std::uint32_t>(cursor.number());
    else if (word == "static_shared")
        function_->static_shared_bytes = static_cast<std::uint32_t>(cursor.number());
    else if (word == "local_bytes")
        function_->local_bytes = static_cast<std::uint32_t>(cursor.number());
    else if (word == "local_granule")
        function_->local_granule = static_cast<std::uint32_t>(cursor.number());
    else if (word == "registers")
        function_->registers = static_cast<std::uint32_t>(cursor.number());
    else
        cursor.fail("unknown directive ." + std::string(word));
}

void ModuleReader::cluster(TextCursor &cursor) {
    for (std::uint32_t &size : function_->cluster.required)
        size = static_cast<std::uint32_t>(cursor.number());
    function_->cluster.most = static_cast<std::uint32_t>(cursor.unsigned_after("most"));
    function_->cluster.is_explicit = cursor.peek_word("explicit");
    if (function_->cluster.is_explicit)
        cursor.word();
}

void ModuleReader::parameters(TextCursor &cursor) {
    while (!cursor.peek_word("bytes")) {
        KernelParameter parameter;
        parameter.offset = static_cast<std::uint32_t>(cursor.number());
        cursor.expect(':');
        parameter.size = static_cast<std::uint32_t>(cursor.number());
        cursor.expect(':');
        parameter.align = static_cast<std::uint32_t>(cursor.number());
        function_->parameters.push_back(parameter);
    }
    function_->parameter_bytes = static_cast<std::uint32_t>(cursor.unsigned_after("bytes"));
}

void ModuleReader::local_variable(TextCursor &cursor) {
    LocalVariable variable;
    variable.space = cursor.keyword<Space>("local or shared");
    variable.name = cursor.word();
    variable.offset = cursor.unsigned_after("offset");
    variable.size = cursor.unsigned_after("size");
    variable.align = static_cast<std::uint32_t>(cursor.unsigned_after("align"));
    function_->variables.push_back(std::move(variable));
}

} // namespace

std::unique_ptr<Module> parse_ir(std::string_view text, std::string &error) {
    auto module = std::make_unique<Module>();
    ModuleReader reader(*module);
    unsigned number = 0;
    try {
        while (!text.empty()) {
            std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            reader.line(TextCursor(line.substr(0, line.find(';')), ++number));
        }
        reader.finish(TextCursor({}, number));
    } catch (const TextError &failure) {
        error = failure.message;
        return nullptr;
    }
    return module;
}

} // namespace softcuda::ir

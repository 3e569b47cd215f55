// clone.cpp -- makes an independent copy of a function.
#include "ir/clone.h"

#include <unordered_map>

namespace softcuda::ir {

namespace {

class Cloner {
  public:
    explicit Cloner(const Function &source)
        : source_(source), copy_(std::make_unique<Function>()) {}

    std::unique_ptr<Function> run() {
        copy_properties();
        for (const Value *argument : source_.arguments)
            values_[argument] = copy_->argument(argument->type);
        for (const Block *block : source_.blocks)
            blocks_[block] = copy_->add_block(block->name);
        // Results first: a phi may use a value of a later basic block.
        for (const Block *block : source_.blocks)
            for (const Instruction *i : block->instructions)
                create(*i, *blocks_[block]);
        for (const auto &[from, to] : instructions_)
            connect(*from, *to);
        copy_->renumber();
        copy_->update_predecessors();
        copy_->renumber_values();
        return std::move(copy_);
    }

  private:
    void copy_properties() {
        copy_->name = source_.name;
        copy_->kernel = source_.kernel;
        copy_->parameters = source_.parameters;
        copy_->parameter_bytes = source_.parameter_bytes;
        copy_->returns = source_.returns;
        copy_->required_block = source_.required_block;
        copy_->max_threads = source_.max_threads;
        copy_->cluster = source_.cluster;
        copy_->variables = source_.variables;
        copy_->local_bytes = source_.local_bytes;
        copy_->called_bytes = source_.called_bytes;
        copy_->local_granule = source_.local_granule;
        copy_->static_shared_bytes = source_.static_shared_bytes;
        copy_->uses_dynamic_shared = source_.uses_dynamic_shared;
        copy_->registers = source_.registers;
        copy_->debug = source_.debug;
    }

    void create(const Instruction &i, Block &block) {
        std::vector<Type> types;
        for (const Value *result : i.results)
            types.push_back(result->type);
        Instruction *made = copy_->create(i.opcode, {}, types);
        made->attributes = i.attributes;
        made->location = i.location;
        made->block = &block;
        block.instructions.push_back(made);
        for (std::size_t r = 0; r < types.size(); ++r)
            values_[i.results[r]] = made->results[r];
        instructions_.emplace_back(&i, made);
    }

    void connect(const Instruction &from, Instruction &to) {
        for (const Value *operand : from.operands)
            to.operands.push_back(operand->constant ? copy_->constant(operand->type, operand->bits)
                                                    : values_.at(operand));
        for (const Block *block : from.blocks)
            to.blocks.push_back(blocks_.at(block));
    }

    const Function &source_;
    std::unique_ptr<Function> copy_;
    std::unordered_map<const Value *, Value *> values_;
    std::unordered_map<const Block *, Block *> blocks_;
    std::vector<std::pair<const Instruction *, Instruction *>> instructions_;
};

} // namespace

std::unique_ptr<Function> clone(const Function &function) { return Cloner(function).run(); }

} // namespace softcuda::ir

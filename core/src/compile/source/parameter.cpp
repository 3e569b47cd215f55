// parameter.cpp -- a kernel's parameters, from the driver's layout and the declaration in the
// source.
#include <pycuda/parameter.h>

#include <algorithm>

namespace pycuda {

ParameterLayout::ParameterLayout(std::vector<Parameter> parameters)
    : parameters_(std::move(parameters)), types_(parameters_.size()), known_(true) {
    for (const Parameter &parameter : parameters_)
        block_size_ = std::max<std::size_t>(block_size_, parameter.offset + parameter.size);
}

ParameterLayout
ParameterLayout::from_description(const std::vector<ParameterDescription> &description) {
    std::vector<Parameter> parameters;
    std::uint32_t end = 0;
    for (const ParameterDescription &described : description) {
        if (described.size == 0 || described.alignment == 0)
            return {}; // a guess would misplace every later argument
        end = (end + described.alignment - 1) / described.alignment * described.alignment;
        parameters.push_back({.offset = end, .size = described.size});
        end += described.size;
    }
    ParameterLayout layout(std::move(parameters));
    layout.describe(description);
    return layout;
}

const std::string &ParameterLayout::type(std::size_t index) const noexcept {
    static const std::string unknown;
    return index < types_.size() ? types_[index] : unknown;
}

void ParameterLayout::describe(const std::vector<ParameterDescription> &description) {
    if (description.size() != parameters_.size())
        return;
    for (std::size_t i = 0; i < description.size(); ++i)
        if (description[i].size != 0 && description[i].size != parameters_[i].size)
            return;
    for (std::size_t i = 0; i < description.size(); ++i) {
        parameters_[i].kind = description[i].kind;
        parameters_[i].element_kind = description[i].element_kind;
        parameters_[i].element_size = description[i].element_size;
        types_[i] = description[i].type;
    }
}

} // namespace pycuda

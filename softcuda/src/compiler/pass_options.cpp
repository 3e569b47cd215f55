// pass_options.cpp -- reads the options of the passes from the environment.
#include "compiler/pass_options.h"

#include "compiler/pipeline.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace softcuda::compiler {

namespace {

using Names = std::set<std::string, std::less<>>;

Names names_in(const char *variable) {
    Names names;
    const char *text = std::getenv(variable);
    std::string_view rest = text ? text : "";
    while (!rest.empty()) {
        const std::string_view name = rest.substr(0, rest.find(','));
        if (!name.empty())
            names.emplace(name);
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
    return names;
}

void report_once(const std::string &message) {
    static std::mutex mutex;
    static std::set<std::string> reported;
    std::lock_guard lock(mutex);
    if (reported.insert(message).second)
        std::fprintf(stderr, "softcuda: %s\n", message.c_str());
}

const PassInfo *find(std::span<const PassInfo> passes, std::string_view name) {
    auto found = std::ranges::find(passes, name, &PassInfo::name);
    return found == passes.end() ? nullptr : &*found;
}

std::string all_names(std::span<const PassInfo> passes, std::span<const std::string_view> stages) {
    std::string names;
    for (const PassInfo &pass : passes)
        names += ' ' + std::string(pass.name);
    for (const std::string_view stage : stages)
        names += ' ' + std::string(stage);
    return names;
}

std::string optional_names(std::span<const PassInfo> passes) {
    std::string names;
    for (const PassInfo &pass : passes)
        if (pass.need == Need::Optional)
            names += ' ' + std::string(pass.name);
    return names;
}

void report_unknown(const char *variable, const std::string &name, const std::string &known) {
    report_once(std::string(variable) + ": there is no pass '" + name + "'; the passes are" +
                known);
}

} // namespace

namespace {

bool is_set(const char *variable) {
    const char *text = std::getenv(variable);
    return text && *text && *text != '0';
}

} // namespace

PassOptions PassOptions::from_environment(std::span<const PassInfo> passes,
                                          std::span<const std::string_view> stages) {
    PassOptions options;
#ifdef NDEBUG
    options.verify = is_set("SOFTCUDA_VERIFY");
#else
    const char *verify = std::getenv("SOFTCUDA_VERIFY");
    options.verify = !verify || *verify != '0';
#endif
    options.debug = is_set("SOFTCUDA_DEBUG");
    options.times = is_set("SOFTCUDA_TIMES") ? PassTimes::Print::Yes : PassTimes::Print::No;
    for (const std::string &name : names_in("SOFTCUDA_DUMP")) {
        if (find(passes, name) || std::ranges::find(stages, name) != stages.end())
            options.dump.insert(name);
        else
            report_unknown("SOFTCUDA_DUMP", name, all_names(passes, stages));
    }
    for (const std::string &name : names_in("SOFTCUDA_SKIP")) {
        const PassInfo *pass = find(passes, name);
        if (pass && pass->need == Need::Optional)
            options.skip.insert(name);
        else if (pass)
            report_once("SOFTCUDA_SKIP: '" + name +
                        "' is not left out, because compiled code would be wrong without it; these "
                        "passes can be:" +
                        optional_names(passes));
        else
            report_unknown("SOFTCUDA_SKIP", name, optional_names(passes));
    }
    return options;
}

void print_dump(std::string_view title, const std::string &text) {
    std::fprintf(stderr, "--- %.*s ---\n%s\n", static_cast<int>(title.size()), title.data(),
                 text.c_str());
}

std::string_view text(Layer layer) {
    constexpr std::array<std::string_view, 3> kNames = {"IR", "analysis", "LLVM"};
    return kNames.at(static_cast<std::size_t>(layer));
}

} // namespace softcuda::compiler

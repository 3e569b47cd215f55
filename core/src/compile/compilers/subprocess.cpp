// subprocess.cpp -- runs a program and collects its output.
#include "compile/compilers/subprocess.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace pycuda::compile_detail {
namespace {

[[noreturn]] void throw_errno(int code, const std::string &what) {
    throw std::system_error(code, std::generic_category(), what);
}

/// A pipe. Its ends are closed by the destructor, and child processes do not inherit them.
struct Pipe {
    Pipe() {
        if (::pipe2(ends, O_CLOEXEC) != 0)
            throw_errno(errno, "pipe");
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe &operator=(Pipe &&) = delete; // no copies either

    void close_end(int i) {
        if (ends[i] >= 0)
            ::close(ends[i]);
        ends[i] = -1;
    }
    int ends[2] = {-1, -1};
};

struct FileActions {
    FileActions() { ::posix_spawn_file_actions_init(&actions); }
    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
    FileActions &operator=(FileActions &&) = delete; // no copies either
    posix_spawn_file_actions_t actions;
};

/// The words that make a shell start `words` in `directory`: posix_spawn() can change the directory
/// only since glibc 2.29. The shell does not expand the values of "$0" and "$@".
std::vector<std::string> in_directory(const std::vector<std::string> &words,
                                      const std::string &directory) {
    std::vector<std::string> all{"/bin/sh", "-c", R"(cd -- "$0" && exec "$@")", directory};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

pid_t start(const std::vector<std::string> &program, const std::string &directory, Pipe &output,
            Pipe &error) {
    if (::access(program[0].c_str(), X_OK) != 0)
        throw_errno(errno, "cannot start '" + program[0] + "'");
    const std::vector<std::string> words = in_directory(program, directory);
    FileActions files;
    ::posix_spawn_file_actions_addopen(&files.actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files.actions, output.ends[1], 1);
    ::posix_spawn_file_actions_adddup2(&files.actions, error.ends[1], 2);

    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    int failed =
        ::posix_spawn(&child, words[0].c_str(), &files.actions, nullptr, arguments.data(), environ);
    if (failed)
        throw_errno(failed, "cannot start '" + program[0] + "'");
    output.close_end(1);
    error.close_end(1);
    return child;
}

/// Appends the available bytes; closes the reading end if the writer has finished.
void drain(Pipe &pipe, std::string &text) {
    std::array<char, 4096> buffer;
    ssize_t got = ::read(pipe.ends[0], buffer.data(), buffer.size());
    if (got > 0)
        text.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
        pipe.close_end(0);
}

/// Reads both pipes together, because a full pipe would block the program.
void collect(Pipe &output, Pipe &error, ProcessResult &result) {
    while (output.ends[0] >= 0 || error.ends[0] >= 0) {
        pollfd polled[2] = {{output.ends[0], POLLIN, 0}, {error.ends[0], POLLIN, 0}};
        if (::poll(polled, 2, -1) < 0 && errno != EINTR)
            throw_errno(errno, "poll");
        if (polled[0].revents)
            drain(output, result.standard_output);
        if (polled[1].revents)
            drain(error, result.standard_error);
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            throw_errno(errno, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

ProcessResult run_process(const std::vector<std::string> &words, const std::string &directory) {
    Pipe output, error;
    ProcessResult result;
    pid_t child = start(words, directory, output, error);
    collect(output, error, result);
    result.status = wait_for(child);
    return result;
}

TemporaryDirectory::TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "pycuda-XXXXXX").string();
    if (!::mkdtemp(path_.data()))
        throw_errno(errno, "cannot create a temporary folder '" + path_ + "'");
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored; // a leftover file in /tmp is not an error
    if (!kept_)
        std::filesystem::remove_all(path_, ignored);
}

} // namespace pycuda::compile_detail

// progress_line_test.cpp -- the output on a terminal during a slow task.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "compile/compilers/progress_line.h"

using pycuda::compile_detail::ProgressLine;
using namespace std::chrono_literals;

namespace {

/// Both ends of a pseudo-terminal.
class Terminal : public testing::Test {
  protected:
    Terminal() : screen_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
        EXPECT_EQ(::grantpt(screen_), 0);
        EXPECT_EQ(::unlockpt(screen_), 0);
        end_ = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY);
        ::setenv("TERM", "xterm", 1);
    }
    ~Terminal() override {
        ::close(end_);
        ::close(screen_);
    }
    std::string shown() const {
        std::string all;
        char text[256];
        for (ssize_t count; (count = ::read(screen_, text, sizeof text)) > 0;)
            all.append(text, static_cast<std::size_t>(count));
        return all;
    }
    int screen_;
    int end_ = -1;
};

TEST_F(Terminal, ShowsALineForSlowWorkAndClearsIt) {
    {
        ProgressLine line("compiling k.cu", end_, 10ms);
        std::this_thread::sleep_for(300ms);
    }
    EXPECT_EQ(shown(), "\r\x1b[Kpycuda: compiling k.cu ... 0 s\r\x1b[K");
}

TEST_F(Terminal, PrintsNothingForQuickWork) {
    {
        ProgressLine line("compiling k.cu", end_, 1h);
    }
    EXPECT_EQ(shown(), "");
}

TEST_F(Terminal, IsSilentOnADumbOne) {
    ::setenv("TERM", "dumb", 1);
    {
        ProgressLine line("compiling k.cu", end_, 1ms);
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_EQ(shown(), "");
}

TEST(Progress, PrintsNothingWithoutATerminal) {
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_NONBLOCK), 0);
    {
        ProgressLine line("compiling k.cu", pipe[1], 1ms);
        std::this_thread::sleep_for(50ms);
    }
    char text[64];
    EXPECT_EQ(::read(pipe[0], text, sizeof text), -1);
    ::close(pipe[0]);
    ::close(pipe[1]);
}

} // namespace

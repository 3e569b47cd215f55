// check_modes_test.cpp -- names of check modes, and the fake driver, which has no check modes.
#include "driver/library.h"
#include "fake_fixture.h"

#include <cstdlib>

namespace pycuda {
namespace {

using testing::HasSubstr;

TEST(CheckModes, ListOfNamesIsBits) {
    EXPECT_EQ(parse_check_modes("mem", "here"), check_mode::mem);
    EXPECT_EQ(parse_check_modes("sync,init", "here"), check_mode::sync | check_mode::init);
    EXPECT_EQ(parse_check_modes("race,race", "here"), check_mode::race);
    EXPECT_EQ(parse_check_modes("all", "here"), check_mode::all);
}

TEST(CheckModes, UnknownNameIsNamed) {
    for (const char *list : {"", "memory", "mem,", "mem race", ",mem"})
        EXPECT_THAT(message_of([&] { parse_check_modes(list, "PYCUDA_CHECK"); }),
                    HasSubstr("expected mem, race, init, sync or all"))
            << list;
    EXPECT_THAT(message_of([] { parse_check_modes("mem,memory", "PYCUDA_CHECK"); }),
                HasSubstr("PYCUDA_CHECK failed: invalid argument - unknown check mode 'memory'"));
}

TEST(CheckModes, ErrorOfADriverWithoutThemNamesSoftcuda) {
    EXPECT_EQ(check_modes(), 0u);
    const std::string why = "has no check modes; softcuda has them: set PYCUDA_DRIVER=softcuda";
    EXPECT_THAT(message_of([] { set_check_modes(check_mode::mem); }), HasSubstr(why));
    EXPECT_THAT(message_of([] { (void)check_report(); }), HasSubstr(why));
    EXPECT_THAT(message_of([] { forget_findings(); }), HasSubstr(why));
}

TEST(CheckModes, WantedModesChooseSoftcuda) {
    unsetenv("SOFTCUDA_CHECK");
    auto library = find_library({.choice = "auto",
                                 .nvidia = {"libno-gpu.so.1"},
                                 .softcuda = {FAKE_DRIVER},
                                 .check = "race,mem"});
    EXPECT_EQ(library->path(), FAKE_DRIVER);
    ASSERT_NE(std::getenv("SOFTCUDA_CHECK"), nullptr);
    EXPECT_STREQ(std::getenv("SOFTCUDA_CHECK"), "race,mem");
    unsetenv("SOFTCUDA_CHECK");
}

TEST(CheckModes, WantedModesContradictNvidiasDriver) {
    const auto search = [](const char *choice, const char *modes) {
        return message_of([&] {
            find_library(
                {.choice = choice, .nvidia = {FAKE_DRIVER}, .softcuda = {}, .check = modes});
        });
    };
    EXPECT_THAT(search("nvidia", "mem"), HasSubstr("PYCUDA_DRIVER is nvidia"));
    EXPECT_THAT(search("nvidia", "memory"), HasSubstr("unknown check mode 'memory'"));
    EXPECT_EQ(search(FAKE_DRIVER, "mem"), "");
    unsetenv("SOFTCUDA_CHECK");
}

} // namespace
} // namespace pycuda

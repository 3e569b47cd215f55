// profile_test.cpp -- a driver that has no profile: the fake one.
#include "fake_fixture.h"

#include <pycuda/profile.h>

namespace pycuda {
namespace {

using testing::HasSubstr;

TEST(Profile, DriverWithoutOneSaysWhichDriverHasOne) {
    EXPECT_EQ(profile_modes(), 0u);
    const std::string why = "has no profile; softcuda has one: set PYCUDA_DRIVER=softcuda";
    EXPECT_THAT(message_of([] { set_profile_modes(profile_mode::all); }), HasSubstr(why));
    EXPECT_THAT(message_of([] { (void)profile_report(); }), HasSubstr(why));
    EXPECT_THAT(message_of([] { forget_profile(); }), HasSubstr(why));
}

} // namespace
} // namespace pycuda

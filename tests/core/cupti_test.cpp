// cupti_test.cpp -- the timeline of a driver without softcuda's profile: with a fake CUPTI, and
// without CUPTI. CMake runs the two cases as separate tests.
#include "driver/wait_note.h"
#include "fake_fixture.h"

#include <pycuda/profile.h>

namespace pycuda {
namespace {

class Cupti : public FakeDevice {};
class NoCupti : public FakeDevice {};
using testing::HasSubstr;
using testing::Not;

TEST_F(Cupti, RecordsBecomeKernelsAndEvents) {
    set_profile_modes(profile_mode::timeline);
    EXPECT_EQ(profile_modes(), profile_mode::timeline);
    forget_profile();
    const std::string report = profile_report();
    EXPECT_THAT(report, HasSubstr(R"("name": "work", "grid": [64, 1, 1], "block": [64, 1, 1], )"
                                  R"("launches": 1, "failures": 0, "nanoseconds": 2000)"));
    EXPECT_THAT(report, HasSubstr(R"({"processor": "GPU", "process": )"));
    EXPECT_THAT(report, HasSubstr(R"("activity": "kernel", "name": "work", "stream": 7)"));
    EXPECT_THAT(report, HasSubstr(R"("activity": "copy", "name": "device to host", "stream": 7)"));
    EXPECT_THAT(report, HasSubstr(R"("bytes": 4096})"));
    EXPECT_THAT(report, HasSubstr(R"("activity": "fill", "name": "fill", "stream": 9)"));
    EXPECT_THAT(profile_report(), HasSubstr(R"("launches": 2, )"));
    set_profile_modes(0);
    EXPECT_EQ(profile_modes(), 0u);
    forget_profile();
    EXPECT_THAT(profile_report(), Not(HasSubstr("work")));
}

TEST_F(Cupti, WaitsAreRecordedWhileItIsOn) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    detail::note_wait("cuStreamSynchronize", now, now + 5us);
    EXPECT_THAT(profile_report(), Not(HasSubstr("host wait")));
    set_profile_modes(profile_mode::timeline);
    detail::note_wait("cuStreamSynchronize", now, now + 5us);
    EXPECT_THAT(profile_report(),
                HasSubstr(R"("activity": "host wait", "name": "cuStreamSynchronize")"));
    set_profile_modes(0);
}

TEST_F(Cupti, CountersNeedSoftcuda) {
    EXPECT_THAT(message_of([] { set_profile_modes(profile_mode::all); }),
                HasSubstr("records a timeline alone: pycuda.profile(counters=False)"));
}

TEST_F(NoCupti, TheErrorNamesTheMissingLibrary) {
    EXPECT_EQ(profile_modes(), 0u);
    const std::string why = "has no profile; softcuda has one: set PYCUDA_DRIVER=softcuda";
    EXPECT_THAT(message_of([] { set_profile_modes(profile_mode::all); }), HasSubstr(why));
    EXPECT_THAT(message_of([] { (void)profile_report(); }), HasSubstr(why));
    EXPECT_THAT(message_of([] { forget_profile(); }), HasSubstr(why));
}

} // namespace
} // namespace pycuda

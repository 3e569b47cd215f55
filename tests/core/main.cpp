// main.cpp -- runs the tests without a device: driver() is the fake driver.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int count, char **arguments) {
    setenv("PYCUDA_DRIVER", FAKE_DRIVER, 1);
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}

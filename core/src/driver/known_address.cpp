// known_address.cpp -- asks the driver about an address, if the driver supports the query.
#include <pycuda/known_address.h>

#include <pycuda/driver.h>

#include <abi/extensions.h>

#include <cstdio>

namespace pycuda {

bool knows_address(CUdeviceptr address) {
    const auto ask = driver().extensions().scuKnowsAddress;
    return ask == nullptr || address == 0 || ask(address) != 0;
}

std::string describe_unknown_address(CUdeviceptr address) {
    char number[24];
    std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(address));
    return std::string(number) + ", memory that the driver " + driver().path() +
           " does not know: its library uses another driver (PYCUDA_DRIVER chooses ours), or it "
           "has "
           "been freed";
}

} // namespace pycuda

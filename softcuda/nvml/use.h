// use.h -- the utilisation of devices.
#pragma once

#include "call.h"

namespace softnvml {

/// Stores the busy times of the devices, with which later queries compare.
void begin_samples(int devices);

} // namespace softnvml

// use.h -- how busy devices are.
#pragma once

#include "call.h"

namespace softnvml {

/// Notes how long the devices have been busy, so that later calls have something to compare with.
void begin_samples(int devices);

} // namespace softnvml

// cuda_runtime_api.h -- another name of the runtime API's header, which programs include.
#pragma once
#include "cuda_runtime.h"

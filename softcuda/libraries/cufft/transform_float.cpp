// transform_float.cpp -- the transforms of float.
#include "transform_of.h"

SOFTCUFFT_TRANSFORMS(float)

// user_object.cpp -- counts references.
#include "device/graphs/user_object.h"

#include "device/error.h"
#include "device/registry.h"

namespace softcuda::device {

void UserObject::release(unsigned count) {
    unsigned before = count_.load();
    do
        require(count <= before, CUDA_ERROR_INVALID_VALUE);
    while (!count_.compare_exchange_weak(before, before - count));
    if (before != count)
        return;
    const std::shared_ptr<UserObject> self = registry<UserObject>().remove(this);
    destroy_(object_);
}

UserReferences::UserReferences(const UserReferences &other) : counts_(other.counts_) {
    for (const auto &[object, count] : counts_)
        object->retain(count);
}

UserReferences::~UserReferences() {
    for (const auto &[object, count] : counts_)
        object->release(count);
}

void UserReferences::adopt(const std::shared_ptr<UserObject> &object, unsigned count) {
    counts_[object] += count;
}

void UserReferences::release(const std::shared_ptr<UserObject> &object, unsigned count) {
    const auto position = counts_.find(object);
    require(position != counts_.end() && count <= position->second, CUDA_ERROR_INVALID_VALUE);
    position->second -= count;
    if (position->second == 0)
        counts_.erase(position);
    object->release(count);
}

} // namespace softcuda::device

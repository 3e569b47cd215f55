"""New arrays on the device."""

"""The requirements of CMake packages, read from their texts, without CMake."""

"""The requirements of CMake packages, read from their texts: no CMake is started."""

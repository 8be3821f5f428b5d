"""What CMake packages require, read from their texts: no CMake is started."""

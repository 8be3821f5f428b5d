"""The rewriting of GPU code and libraries: new files with less code, other containers, other search paths."""

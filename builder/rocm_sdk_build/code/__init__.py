"""GPU code and libraries rewritten: new files with less code, other containers, other search paths."""

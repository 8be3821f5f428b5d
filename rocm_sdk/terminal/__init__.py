"""The writing of commands to a terminal, and to a pipe: lines, tables, JSON, colour, width, progress."""

"""What commands write to a terminal or a pipe: lines, tables, JSON, colour, width, progress."""

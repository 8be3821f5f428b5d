"""The wish for packages, the assignment of files to them, and their content: metadata, commands, development tree."""

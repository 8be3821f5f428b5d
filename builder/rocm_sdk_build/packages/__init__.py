"""The content of each package: files, metadata, platform tag, commands, development tree."""

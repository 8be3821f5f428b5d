"""What each package consists of: files, metadata, platform tag, commands, development tree."""

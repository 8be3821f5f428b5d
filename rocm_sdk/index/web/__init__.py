"""The reader of files on web servers: what a server says may be hostile, and everything has a limit."""

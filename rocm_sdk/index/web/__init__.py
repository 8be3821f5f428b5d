"""The reader of files of web servers: a server's statements are hostile, and all of them are bounded."""

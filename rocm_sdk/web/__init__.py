"""Reads files of web servers: what a server says is hostile, and all of it is bounded."""

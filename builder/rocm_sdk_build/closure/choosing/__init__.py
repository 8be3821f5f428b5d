"""What a closure has: roots, libraries, files, and why."""

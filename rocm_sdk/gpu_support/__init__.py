"""The GPUs that the installed packages support: by the code in their files, by their names, and what is missing."""

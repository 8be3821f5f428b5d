/dev/fd/3: line 96: scripts/pe: No such file or directory
127

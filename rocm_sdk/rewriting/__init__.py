"""Files that hold only the GPU code that is needed: `rocm-sdk code --keep`, `--compress`, `--decompress`."""

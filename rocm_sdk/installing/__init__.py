"""The choice of packages for a machine: GPUs, index, versions, commands.

The installers themselves are asked and fetch the packages. To say why nothing fits, pages of an index and parts of
wheels are fetched here.
"""

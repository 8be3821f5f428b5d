"""What to install for a machine: GPUs, index, versions, commands. The installers themselves are asked and fetch it.

To say why nothing fits, pages of an index and parts of wheels are fetched here.
"""

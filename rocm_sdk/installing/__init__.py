"""What to install for a machine: GPUs, index, versions, commands. The installers themselves are asked, and nothing is
fetched here.
"""

"""Which packages of an index fit a machine: GPUs, versions, and the commands that install them.

The installers themselves are asked, and fetch the packages. To say why nothing fits, `web` fetches pages of an index
and parts of wheels.
"""

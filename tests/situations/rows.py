"""All situations."""

from of_devices import ROWS as DEVICES
from of_files import ROWS as FILES
from of_packages import ROWS as PACKAGES
from of_python import ROWS as PYTHON
from of_surroundings import ROWS as SURROUNDINGS
from of_system import ROWS as SYSTEM

ROWS = (*SURROUNDINGS, *FILES, *PACKAGES, *SYSTEM, *PYTHON, *DEVICES)

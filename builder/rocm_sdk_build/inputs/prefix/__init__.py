"""The packages of an installed ROCm: one directory or several, which become artifacts as a ROCm build leaves them."""

"""The change of an environment's SDK into the closure."""

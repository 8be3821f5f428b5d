"""The SDK of an environment becomes the closure."""

"""The reports of the self test: for people, as JSON, as JUnit's XML, and a bundle for bug reports."""

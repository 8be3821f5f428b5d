"""What appears: packages that were proven and finished, selector, index, releases."""

"""The files that appear: packages that were proven and finished, selector, index, releases."""

"""A property that is computed when it is first used.

The module does without functools, whose import takes longer than most commands. Type checkers see
functools.cached_property; at run time the class has the part of it that this package uses.
"""

__all__ = ["cached_property"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - a decorator
        """A property that keeps its value in the instance, under its own name; an exception is not kept."""

        def __init__(self, function):
            self._function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, _owner, name):
            self._name = name

        def __get__(self, instance, _owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._function(instance)
            return value

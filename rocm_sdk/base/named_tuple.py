"""A NamedTuple without the module typing, whose import takes longer than most commands.

Type checkers see typing.NamedTuple; at run time the class has the part of it that this package uses.
"""

__all__ = ["NamedTuple"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _operator import itemgetter  # not from operator, whose other code, in Python, is not needed

    class NamedTuple(tuple):
        """A tuple whose items have the names that the class annotates, in their order."""

        __slots__ = ()

        def __init_subclass__(cls):
            cls.__match_args__ = names = tuple(cls.__annotations__)
            cls._defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
            for index, name in enumerate(names):
                setattr(cls, name, property(itemgetter(index)))

        def __new__(cls, *values, **named):
            """Make a tuple from positional and named values and defaults; raise TypeError if they do not fit."""
            names = cls.__match_args__
            if len(values) == len(names) and not named:
                return tuple.__new__(cls, values)
            if len(values) > len(names):
                raise TypeError(f"{cls.__name__}() takes {len(names)} values, and {len(values)} were given")
            rest = names[len(values) :]
            found = {**cls._defaults, **named}
            wrong = [name for name in named if name not in rest] or [name for name in rest if name not in found]
            if wrong:
                raise TypeError(f"{cls.__name__}() has no value for {wrong[0]!r}, or no place for it")
            return tuple.__new__(cls, (*values, *(found[name] for name in rest)))

        _make = classmethod(tuple.__new__)  # takes a value for each name, without a check: for tables

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def _asdict(self):
            return dict(zip(self.__match_args__, self, strict=True))

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})

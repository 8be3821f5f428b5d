AVAILABLE_TARGET_FAMILIES = ['a', "b" '''c''', r'd', u"\x41\102\u0043\U00000044\
"]; __version__ = \
    None
if True: x = (1, [2.5e+3, {"y": -1}])

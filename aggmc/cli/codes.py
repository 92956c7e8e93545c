"""Exit codes.

0 all hold; 1 something is violated; 2 bad input or usage, or an error of the model; 3 nothing is violated and something
is unknown; 4 a fault of aggmc; 130 Ctrl-C. Of several, 4 goes before 2, 2 before 1, 1 before 3, 3 before 0.
"""

HOLDS, VIOLATED, BAD_INPUT, UNKNOWN, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 130
GRAVEST_FIRST = (INTERNAL, BAD_INPUT, VIOLATED, UNKNOWN, HOLDS)

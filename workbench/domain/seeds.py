"""The seed that everything random takes where nobody names one.

The command line, the screens and the library share it, so that one question has one answer wherever it is asked: the
same interval, the same draw of statements, the same sample of answers.
"""

from __future__ import annotations

SEED = 1

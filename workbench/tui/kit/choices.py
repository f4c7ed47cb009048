"""Signs of what is chosen in a dialog of choices, whose looks `choices.tcss` has."""

from __future__ import annotations

from typing import Final

RADIO: Final = {True: "(•)", False: "( )"}
"one of several"
TICK: Final = {True: "[x]", False: "[ ]"}

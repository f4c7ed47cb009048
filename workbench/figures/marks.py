"""The mark and word of each verdict, because colour is never the only sign."""

from __future__ import annotations

from workbench.domain.verdicts import Verdict

MARKS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.INSUFFICIENT: "·", Verdict.VOID: "∅"}
WORDS = {Verdict.PASS: "pass", Verdict.FAIL: "fail", Verdict.INSUFFICIENT: "few", Verdict.VOID: "void"}

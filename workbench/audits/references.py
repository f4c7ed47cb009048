"""The publications that audits follow, as a report lists them."""

from __future__ import annotations

from workbench.audits.reported import Reference

CERON = Reference(
    "ceron2024",
    "article",
    ("Ceron, Tanise", "Falk, Neele", "Barić, Ana", "Nikolaev, Dmitry", "Padó, Sebastian"),
    "Beyond Prompt Brittleness: Evaluating the Reliability and Consistency of Political Worldviews in LLMs",
    2024,
    "Transactions of the Association for Computational Linguistics",
    (("volume", "12"), ("doi", "10.1162/tacl_a_00710")),
)
FAULBORN = Reference(
    "faulborn2025",
    "inproceedings",
    ("Faulborn, Mats", "Sen, Indira", "Pellert, Max", "Spitz, Andreas", "Garcia, David"),
    "Only a Little to the Left: A Theory-grounded Measure of Political Bias in Large Language Models",
    2025,
    "Proceedings of the Annual Meeting of the Association for Computational Linguistics (ACL)",
    (("eprint", "2503.16148"), ("archiveprefix", "arXiv")),
)
HALLER = Reference(
    "haller2025",
    "inproceedings",
    ("Haller, Patrick", "Vamvas, Jannis", "Sennrich, Rico", "Jäger, Lena A."),
    "Leveraging In-Context Learning for Political Bias Testing of LLMs",
    2025,
    "Proceedings of the Annual Meeting of the Association for Computational Linguistics (ACL)",
)
TJUATJA = Reference(
    "tjuatja2024",
    "article",
    ("Tjuatja, Lindia", "Chen, Valerie", "Wu, Tongshuang", "Talwalkar, Ameet", "Neubig, Graham"),
    "Do LLMs Exhibit Human-like Response Biases? A Case Study in Survey Design",
    2024,
    "Transactions of the Association for Computational Linguistics",
    (("volume", "12"), ("doi", "10.1162/tacl_a_00685")),
)

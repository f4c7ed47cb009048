"""ProbVAA: is a stance stable when the same thing is asked again, or in other words (Ceron et al. 2024)?"""

"""The stance classifier: from labelled responses to a trained model, and from responses to stances.

Entailment as in Faulborn et al. 2025 (section 3.4, appendices C to E): a response is the premise,
"The stance of the statement is agree" (disagree, neutral, unrelated) the hypothesis, and the label
whose hypothesis follows is the stance. Nothing here knows a store or a terminal. Torch and
transformers are imported when a model is loaded.
"""

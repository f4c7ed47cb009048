"""People's labels: queues, labelling, adjudication, surveys, and the classifiers trained on
them.
"""

"""Labels of people: queues, labelling, adjudication, surveys, and trained classifiers."""

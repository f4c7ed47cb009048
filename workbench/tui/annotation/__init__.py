"""Labels of people: queues, labelling, adjudication, surveys, and classifiers trained on them."""

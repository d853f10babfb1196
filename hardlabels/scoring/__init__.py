"""Other people's predictions against votes: reading them, joining the two by id and by class name, showing the scores."""

"""What is said where something goes wrong: kinds and texts of errors, checks of values, no memory."""

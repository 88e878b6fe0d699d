"""Models and optimizers made parallel by a plan."""

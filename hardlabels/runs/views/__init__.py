"""A run seen elsewhere: W&B, TensorBoard. The run's folder stays the source of truth."""

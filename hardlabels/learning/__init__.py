"""Stage 4, learning: batches, augmentation, the network, and one LightningModule for all methods."""

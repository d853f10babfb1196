"""A trained run in use. Its folder alone suffices: no data, no configuration.

- ``model``: one checkpoint, opened with suspicion, and the mean over the seeds of a method.
- ``prepare``: new items as the network takes them, by what the checkpoint says.
- ``items``: images, texts or features from files, block by block: any number of them in constant memory.
- ``prediction_files``: predictions as a table, with ids, class names, entropy and expected disagreement.
- ``pipeline`` and ``export``: the network with its preprocessing as ONNX, TorchScript or safetensors, checked by running it.

    predict = Predictor.open("outputs/mine/image_head/soft/K=all/seed=0")
    predict(images)                                             # (n, C) probabilities of (n, H, W, channels) uint8
"""

from hardlabels.inference.model import Predictor, TrainedModel, open_model

__all__ = ["Predictor", "TrainedModel", "open_model"]

"""Networks for texts: a perceptron on a frozen sentence encoder, and the encoder trained with it."""

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from hardlabels.learning.encoders import Prepared
from hardlabels.learning.encoders.sentences import (
    DEFAULT,
    encoded,
    encoder_digest,
    find_encoder,
    load_encoder,
    pair_features,
    tokenised,
)
from hardlabels.learning.mlp import MLP

if TYPE_CHECKING:
    from hardlabels.sources.source import Source

CHUNK = 8
"""Texts that a processor encodes at once. Texts of like lengths go together, so that few tokens are padding."""


class TextHead(MLP):
    """A perceptron on the features of a frozen encoder, which are computed once for a data set: seconds per run.

    Args:
        num_classes: C.
        in_features: of a text, or of a pair: see :func:`~hardlabels.learning.encoders.sentences.pair_features`.
        encoder: a local folder, the name of the packaged encoder, or a name on the Hugging Face hub.
        width: hidden layers have 8 times as many units.
        depth: hidden layers, at least 1.

    >>> TextHead(num_classes=3, in_features=8, width=1).fc.out_features
    3
    """

    def __init__(self, num_classes: int, in_features: int, encoder: str = DEFAULT, width: int = 16, depth: int = 1):
        super().__init__(num_classes, in_features, width, depth)
        self.encoder = encoder

    @staticmethod
    def prepare(source: "Source", settings: dict[str, Any]) -> Prepared:
        """The source as this network takes it: vectors."""
        return encoded(source, settings.get("encoder", DEFAULT))

    @staticmethod
    def identify(settings: dict[str, Any]) -> str:
        """The encoder's digest."""
        return encoder_digest(find_encoder(settings.get("encoder", DEFAULT)))

    @staticmethod
    def describe_encoder(settings: dict[str, Any]) -> dict[str, Any]:
        """Name of the encoder, and where it is trained the number of tokens at which it cuts texts."""
        longest = {"longest": settings["longest"]} if "longest" in settings else {}
        return {"name": settings.get("encoder", DEFAULT), **longest}


class TextFinetune(nn.Module):
    """The sentence encoder, trained with its head.

    Weights of the encoder start from the pretrained ones for every seed; those of the head follow from the seed.

    Args:
        num_classes: C.
        parts: texts of an item, 1 or 2.
        encoder: a local folder, the name of the packaged encoder, or a name on the Hugging Face hub.
        longest: tokens of a text; longer ones are cut.
        width: hidden layers of the head have 8 times as many units.
        depth: hidden layers of the head.
    """

    takes = "tokens"

    trains_in_parts = True
    """Encoders hold layers that no embedding depends on, such as the pooler of BERT: these never have a gradient."""

    def __init__(self, num_classes: int, parts: int, encoder: str = DEFAULT, longest: int = 128, width: int = 16, depth: int = 1):
        super().__init__()
        self.encoder = load_encoder(find_encoder(encoder))
        self.encoder.requires_grad_(True)
        self.padding: int = self.encoder.tokenizer.pad_token_id
        self.embedding_size = cast(int, self.encoder.get_embedding_dimension())
        self.head = MLP(num_classes, in_features=self.embedding_size * (1 if parts == 1 else 4), width=width, depth=depth)

    @property
    def fc(self) -> nn.Linear:
        """The last layer."""
        return self.head.fc

    @staticmethod
    def prepare(source: "Source", settings: dict[str, Any]) -> Prepared:
        """The source as this network takes it: token ids."""
        return tokenised(source, settings.get("encoder", DEFAULT), settings.get("longest", 128))

    identify = staticmethod(TextHead.identify)
    describe_encoder = staticmethod(TextHead.describe_encoder)

    def train(self, mode: bool = True) -> "TextFinetune":
        """As every module's, but for the encoder's dropout, which stays off.

        It draws from torch's own generator, so that neither a seed nor an interrupted run would give the same result again.
        """
        super().train(mode)
        self.encoder.eval()
        return self

    def features(self, tokens: Tensor) -> Tensor:
        """(B, parts, L) token ids to the penultimate features (B, 8 * width)."""
        return self.head.features(cast(Tensor, pair_features(self._embeddings(tokens))))

    def _embeddings(self, tokens: Tensor) -> Tensor:
        """(B, parts, L) token ids to embeddings (B, parts, d)."""
        if not len(tokens):  # of several processes, one may have nothing of a small last batch
            return torch.zeros(0, tokens.shape[1], self.embedding_size, device=tokens.device)
        flat = tokens.flatten(0, 1).long()
        used = (flat != self.padding).long() * torch.arange(1, flat.shape[1] + 1, device=flat.device)
        order = used.amax(-1).argsort(stable=True)  # by length
        size = CHUNK if flat.device.type == "cpu" else len(flat)  # an accelerator rather computes padding than many small chunks
        sentences = torch.cat([self._sentences(flat[rows]) for rows in order.split(size)])[order.argsort()]
        return sentences.view(*tokens.shape[:2], -1)

    def _sentences(self, flat: Tensor) -> Tensor:
        """(N, L) token ids to embeddings (N, d). What is padding in all of them need not be computed."""
        mask = (flat != self.padding).long()
        used = 1 + int(mask.any(0).nonzero().max())
        return self.encoder({"input_ids": flat[:, :used], "attention_mask": mask[:, :used]})["sentence_embedding"]

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, parts, L) token ids to logits (B, C)."""
        return self.head.fc(self.features(tokens))

"""How to train on data of this kind and size: the recipe, and a batch size and epochs that give enough steps."""

from dataclasses import dataclass

from hardlabels.errors import InputError

RECIPES = {"images": ("image_head", 256, 0.05), "texts": ("text_head", 128, 0.01), "vectors": ("vector_head", 128, 0.01)}
"""What is trained by default, a perceptron on a frozen encoder or on the features that came; and the recipe's batch and rate."""
METHODS = ("soft", "sls", "multipass", "majority")
STEPS_AN_EPOCH = 10
STEPS = 600
EPOCHS = (20, 60)
BATCHES = (4, 256)
DECAY, DECAYS = 12.0, (5e-4, 0.06)
"""Weight decay for texts is 12 over the number of training items, between these bounds; the lower one is that of all recipes.

A pilot, 5 seeds each: for 208 texts of POPQUORN the network was no better than the class shares with 0.0005, and 0.034 nat better
with 0.06; for 41 images of CIFAR-10H 0.06 was worse than 0.0005, so images keep the recipe's.
"""
FEWEST_ITEMS = 20


@dataclass(frozen=True)
class Plan:
    """What one comparison trains.

    Attributes:
        recipe: its name.
        batch_size: a power of two.
        epochs: of every run.
        rate: the learning rate, which falls with the root of the batch size: smaller batches have noisier gradients.
        decay: the weight decay, see ``DECAY``.
    """

    recipe: str
    batch_size: int
    epochs: int
    rate: float
    decay: float

    @property
    def words(self) -> dict[str, str]:
        """The settings of ``hardlabels.train``, by name."""
        return {
            "recipe": self.recipe,
            "recipe.batch_size": str(self.batch_size),
            "recipe.epochs": str(self.epochs),
            "recipe.optimizer.lr": f"{self.rate:g}",
            "recipe.optimizer.weight_decay": f"{self.decay:g}",
        }


def with_plan(settings: dict[str, str], plan: Plan) -> dict[str, str]:
    """The user's settings, and those of the plan that the user did not give; a recipe of the user's own is taken as it is.

    The tag keeps these runs apart from those of the plain recipe, and from those of another batch size or number of epochs.

    >>> words = with_plan({"data": "files", "recipe.epochs": "7"}, plan_training("texts", 210))
    >>> words["recipe.batch_size"], words["recipe.epochs"], words["run.tag"]
    ('16', '7', 'compare16x7')
    >>> with_plan({"recipe": "text_finetune"}, plan_training("texts", 210))
    {'recipe': 'text_finetune', 'recipe.split': 'three_way', 'run.tag': 'compare'}
    """
    planned = {} if "recipe" in settings else plan.words
    words = {**settings, **{name: value for name, value in planned.items() if name not in settings}}
    sizes = [words.get(f"recipe.{name}") for name in ("batch_size", "epochs")]
    tag = "compare" if None in sizes else f"compare{sizes[0]}x{sizes[1]}"
    return {**words, "recipe.split": words.get("recipe.split", "three_way"), "run.tag": words.get("run.tag", tag)}


def plan_training(kind: str, training_items: int) -> Plan:
    """The recipe for items of this kind, with at least 10 steps per epoch and about 600 steps in all.

    46 items at a batch of 128 would be one step per epoch, and a network that has hardly moved looks like one that cannot learn.

    Args:
        kind: ``images``, ``texts`` or ``vectors``.
        training_items: how many items a run trains on.

    >>> plan_training("images", 42)
    Plan(recipe='image_head', batch_size=4, epochs=55, rate=0.00625, decay=0.0005)
    >>> plan_training("texts", 210)
    Plan(recipe='text_head', batch_size=16, epochs=43, rate=0.00354, decay=0.0571)
    >>> plan_training("vectors", 7000)
    Plan(recipe='vector_head', batch_size=256, epochs=22, rate=0.0141, decay=0.0005)
    """
    if kind not in RECIPES:
        raise InputError(f"compare takes images, texts or vectors, got {kind}")
    least, most = BATCHES
    batch = least
    while 2 * batch <= most and training_items // (2 * batch) >= STEPS_AN_EPOCH:
        batch *= 2
    steps = -(-training_items // batch)
    epochs = min(max(-(-STEPS // steps), EPOCHS[0]), EPOCHS[1])
    recipe, usual, rate = RECIPES[kind]
    decay = min(max(DECAY / training_items, DECAYS[0]), DECAYS[1]) if kind == "texts" else DECAYS[0]
    return Plan(recipe, batch, epochs, _rounded(rate * (batch / usual) ** 0.5), _rounded(decay))


def _rounded(value: float) -> float:
    """To three digits, as the settings of a run show it."""
    return float(f"{value:.3g}")

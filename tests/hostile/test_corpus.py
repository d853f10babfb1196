"""The corpus as a whole."""

import importlib.util
from pathlib import Path

import yaml

from hardlabels.runs.reading import LOADER


def test_it_has_at_least_sixty_cases_of_every_kind():
    cases = {}
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"hostile_{file.stem}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases[file.stem] = len(getattr(module, "CASES", {}))
    assert sum(cases.values()) >= 60
    assert all(number >= 20 for name, number in cases.items() if name != "test_corpus"), cases


def test_arrays_are_loaded_without_pickle_and_checkpoints_as_weights_only():
    """Every call in the package that could unpickle says that it does not, but for CIFAR's own files after their md5 matched."""
    package = Path(importlib.util.find_spec("hardlabels").origin).parent
    unpickling = []
    for file in package.rglob("*.py"):
        text = file.read_text()
        safely = (("np.load(", "allow_pickle=False"), ("torch.load(", "weights_only=True"), ("yaml.load(", "Loader=LOADER"))
        for call, safe in safely:
            for rest in text.split(call)[1:]:
                assert safe in rest.split("\n")[0], f"{file}: {call}"
        if "pickle.load" in text or "unsafe_load" in text:
            unpickling.append(file.relative_to(package).as_posix())
    assert unpickling == ["sources/cifar10h.py"]
    assert LOADER in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))

"""Records of runs in a repository: where they are, what is there, and adding to it."""

from dataclasses import dataclass
from pathlib import Path

from hardlabels.runs.archive import ENDINGS, pack, read_members
from hardlabels.runs.writing import write_atomically


@dataclass(frozen=True)
class PublishedRuns:
    """The published runs of one data set and recipe: a folder, or an archive.

    Args:
        path: ``<into>/<data>/<recipe>`` or the archive of this name.
        members: what is in the archive; None for a folder, which is looked into.
    """

    path: Path
    members: dict[str, bytes] | None

    @classmethod
    def open(cls, into: Path, data: str, recipe: str, archive: bool) -> "PublishedRuns":
        """The runs that are published there already, possibly none."""
        if not archive:
            return cls(into / data / recipe, None)
        path = into / data / f"{recipe}{ENDINGS[0]}"
        return cls(path, dict(read_members(path)) if path.exists() else {})

    def get(self, name: str) -> bytes | None:
        """The content of a published file; None where it is not there."""
        if self.members is not None:
            return self.members.get(name)
        return (self.path / name).read_bytes() if (self.path / name).is_file() else None

    def add(self, files: dict[str, bytes]) -> None:
        """Add files to those that are published: name below data set and recipe to content."""
        if files and self.members is not None:
            pack(self.path, self.members | files)
        for name, content in files.items() if self.members is None else ():
            write_if_changed(self.path / name, content)


def write_if_changed(path: Path, content: bytes) -> None:
    """Write a file whole, unless it is there with this content: a second publication leaves it alone."""
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, lambda file: file.write(content))

"""Image files: pixels as they were saved, any format, size and orientation; broken ones by name, never by a traceback."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from hardlabels.errors import InputError
from hardlabels.sources import folder as module
from hardlabels.sources.folder import FITS, channel_statistics, image_names, read_image, read_images


@pytest.fixture
def picture():
    """12 x 12, no symmetry: a mirrored or turned copy is another picture."""
    return np.random.default_rng(0).integers(0, 256, (12, 12, 3), dtype=np.uint8)


def test_lossless_images_keep_every_pixel(tmp_path, picture):
    for ending in ("png", "bmp"):
        Image.fromarray(picture).save(tmp_path / f"a.{ending}")
        np.testing.assert_array_equal(read_image(tmp_path / f"a.{ending}", 12, 3), picture)
    Image.fromarray(picture).save(tmp_path / "a.webp", lossless=True)
    np.testing.assert_array_equal(read_image(tmp_path / "a.webp", 12, 3), picture)


def test_a_smaller_size_averages_what_it_covers(tmp_path):
    """Antialiased: alternating black and white lines become grey, where taking every second one would give black or white."""
    stripes = np.zeros((64, 40, 3), np.uint8)
    stripes[::2] = 255
    Image.fromarray(stripes).save(tmp_path / "a.png")
    for fit in FITS:
        small = read_image(tmp_path / "a.png", 8, 3, fit)
        assert small.shape == (8, 8, 3)
        assert np.abs(small[1:-1, 2:6].astype(int) - 127).max() <= 8


def test_a_large_jpeg_is_what_decoding_all_of_it_gives(tmp_path):
    rng = np.random.default_rng(0)
    photo = Image.fromarray(rng.integers(0, 256, (15, 20, 3), dtype=np.uint8)).resize((800, 600), Image.Resampling.BICUBIC)
    photo.save(tmp_path / "a.jpg", quality=95)
    with Image.open(tmp_path / "a.jpg") as whole:
        expected = {
            "crop": np.asarray(whole.crop((100, 0, 700, 600)).resize((16, 16), Image.Resampling.BILINEAR), dtype=float),
            "stretch": np.asarray(whole.resize((16, 16), Image.Resampling.BILINEAR), dtype=float),
        }
    for fit, pixels in expected.items():  # but for the edge, where a crop sees what is beyond it
        assert np.abs(read_image(tmp_path / "a.jpg", 16, 3, fit)[:, 1:-1] - pixels[:, 1:-1]).max() < 4
    small = Image.fromarray(rng.integers(0, 256, (16, 16, 3), dtype=np.uint8))
    small.save(tmp_path / "b.jpg", quality=95)
    with Image.open(tmp_path / "b.jpg") as whole:
        np.testing.assert_array_equal(read_image(tmp_path / "b.jpg", 16, 3), np.asarray(whole))


@pytest.mark.parametrize("turned", [False, True])
def test_an_image_that_is_no_square_is_never_distorted_unless_asked(tmp_path, turned):
    """A circle in the middle of a photo of 3:1: round when cropped or padded, an ellipse when stretched."""
    photo = Image.new("L", (300, 100))
    ImageDraw.Draw(photo).ellipse((110, 10, 190, 90), fill=255)
    (photo.rotate(90, expand=True) if turned else photo).save(tmp_path / "a.png")

    def extent(fit):
        white = read_image(tmp_path / "a.png", 60, 1, fit)[..., 0] > 127
        sides = [int(white.any(axis).sum()) for axis in (1, 0)]  # height, width
        return sides[::-1] if turned else sides

    assert extent("crop") == pytest.approx([48, 48], abs=1)
    assert extent("pad") == pytest.approx([16, 16], abs=1)
    assert extent("stretch") == pytest.approx([48, 16], abs=1)
    padded = read_image(tmp_path / "a.png", 60, 1, "pad")[..., 0]
    assert not padded[:, :20].any() if turned else not padded[:20].any()
    with pytest.raises(InputError, match=r"data\.fit must be one of crop, pad, stretch, got 'squash'"):
        read_image(tmp_path / "a.png", 60, 1, "squash")


def test_grey_becomes_three_equal_channels_and_colour_one(tmp_path, picture):
    Image.fromarray(picture[..., 0]).save(tmp_path / "grey.png")
    np.testing.assert_array_equal(read_image(tmp_path / "grey.png", 12, 3), np.repeat(picture[..., :1], 3, axis=2))
    Image.fromarray(picture).save(tmp_path / "colour.png")
    luma = picture @ np.array([299, 587, 114]) / 1000  # ITU-R 601
    assert np.abs(read_image(tmp_path / "colour.png", 12, 1)[..., 0] - luma).max() <= 1


def test_transparency_is_dropped_and_a_palette_resolved(tmp_path, picture):
    Image.fromarray(np.dstack([picture, np.full((12, 12), 7, np.uint8)])).save(tmp_path / "alpha.png")
    np.testing.assert_array_equal(read_image(tmp_path / "alpha.png", 12, 3), picture)
    two = np.zeros((12, 12), np.uint8)
    two[:6] = 1
    palette = Image.fromarray(two, mode="P")
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.save(tmp_path / "palette.png")
    colours = read_image(tmp_path / "palette.png", 12, 3)
    assert colours[0, 0].tolist() == [0, 0, 255]
    assert colours[11, 0].tolist() == [255, 0, 0]


def test_exif_orientation_is_applied(tmp_path, picture):
    exif = Image.Exif()
    exif[0x0112] = 6  # shown turned by 90 degrees clockwise
    Image.fromarray(picture).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(read_image(tmp_path / "a.png", 12, 3), np.rot90(picture, -1))


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.jpg"])
def test_an_image_whose_exif_entry_is_broken_is_read_as_it_is_stored(tmp_path, picture, name):
    lossless = {"lossless": True} if name == "a.webp" else {}
    Image.fromarray(picture).save(tmp_path / name, exif=b"Exif\0\0no entries", **lossless)
    with Image.open(tmp_path / name) as stored:
        np.testing.assert_array_equal(read_image(tmp_path / name, 12, 3), np.asarray(stored.convert("RGB")))
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot read it"):
        read_image(tmp_path / name, 12, 3)


def test_an_animation_is_its_first_frame(tmp_path):
    frames = [Image.new("RGB", (12, 12), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert read_image(tmp_path / "a.gif", 12, 3)[5, 5].tolist() == [255, 0, 0]


def png_header(width: int, height: int) -> bytes:
    """A PNG of a few bytes that promises any number of pixels."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    data = b"IDAT" + zlib.compress(b"")
    return start + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))


def saved(array: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, kind)
    return buffer.getvalue()


NOISE = np.random.default_rng(1).integers(0, 256, (40, 40, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (saved(NOISE)[:-500], "expected an image .* cannot read it"),
        (saved(NOISE, "JPEG")[:-500], "expected an image .* truncated"),
        (b"", "expected an image"),
        (b"<html>404</html>", "expected an image .* cannot identify"),
        (saved(NOISE, "TIFF"), "expected an image"),
        (png_header(10_000, 9_500), "expected at most 89,478,485 pixels"),  # Pillow warns
        (png_header(60_000, 60_000), "expected at most 89,478,485 pixels"),  # Pillow raises
        (
            saved(np.full((12, 12), 40_000, np.uint16)),
            "expected an image of 8 bits a channel, got mode I;16, which does not say what is white: convert",
        ),
    ],
    ids=["half a png", "half a jpg", "empty", "a web page", "a tiff", "large", "a bomb", "16 bits"],
)
def test_a_broken_image_is_named(tmp_path, content, said):
    (tmp_path / "good.png").write_bytes(saved(NOISE))
    (tmp_path / "bad.png").write_bytes(content)
    with pytest.raises(InputError, match=f"bad.png: {said}"):
        read_images(tmp_path, ["good.png", "bad.png", "good.png"], 16, 3)


def test_the_first_broken_image_in_order_is_named(tmp_path):
    for name in ("x.png", "y.png"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=r"y\.png"):
        read_images(tmp_path, ["y.png", "x.png"], 16, 3)


def test_what_does_not_fit_in_the_memory_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "free_memory", lambda: 1_000_000)
    with pytest.raises(InputError, match=r"1,000 images of 32 x 32 pixels take 0\.0 GB .* a smaller data.size"):
        read_images(tmp_path, ["not there.png"] * 1000, 32, 3)


def test_free_memory_is_a_number_of_bytes():
    assert 1 << 20 < module.free_memory() <= 1 << 62


def test_image_names_are_relative_sorted_and_of_images_only(tmp_path):
    (tmp_path / "b" / ".cache").mkdir(parents=True)
    (tmp_path / "folder.png").mkdir()
    for name in ("b/2.JPG", "a.png", "notes.txt", ".hidden.png", "b/.cache/3.png", "b/1.jpeg"):
        (tmp_path / name).write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.png")  # opening it would wait for ever
    (tmp_path / "b" / "gone.png").symlink_to(tmp_path / "nowhere")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    assert image_names(tmp_path) == ["a.png", "b/1.jpeg", "b/2.JPG"]


def test_channel_statistics_are_numpys(tmp_path):
    images = np.random.default_rng(0).integers(0, 200, (700, 5, 6, 3), dtype=np.uint8)
    images[..., 2] = 9
    mean, std = channel_statistics(images)
    np.testing.assert_allclose(mean, images.mean((0, 1, 2)) / 255, atol=5.1e-5)
    np.testing.assert_allclose(std[:2], images.std((0, 1, 2))[:2] / 255, atol=5.1e-5)
    assert std[2] == 1.0  # a constant channel: nothing to divide by

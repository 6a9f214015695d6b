"""Data sets are fetched, checked, kept and taken apart; the files here are small ones of the same form."""

import gzip
import hashlib
import io
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from plugrad.errors import DownloadError, FileFormatError
from plugrad.nn.datasets import CIFAR10, FASHION_MNIST, MNIST, IdxFiles, RemoteFile, cifar, mnist, read_idx
from plugrad.settings import context

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (3, 28, 28), dtype=np.uint8)
LABELS = np.array([7, 2, 1], np.uint8)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    with context(PLUGRAD_CACHE=str(tmp_path / "cache")):
        yield


def idx(array: npt.NDArray[Any]) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def served(path: Path, content: bytes) -> RemoteFile:
    path.write_bytes(content)
    return RemoteFile(path.as_uri(), hashlib.sha256(content).hexdigest())


def small_mnist(folder: Path, labels: npt.NDArray[Any] = LABELS) -> IdxFiles:
    return IdxFiles(
        served(folder / "train-images.gz", gzip.compress(idx(IMAGES))),
        served(folder / "train-labels.gz", gzip.compress(idx(labels))),
        served(folder / "test-images", idx(IMAGES[:2])),
        served(folder / "test-labels", idx(LABELS[:2])),
    )


def test_digits_come_as_images_and_labels(tmp_path: Path) -> None:
    images, labels, test_images, test_labels = mnist("PYTHON", files=small_mnist(tmp_path))
    assert images.device == "PYTHON"
    np.testing.assert_array_equal(images.numpy(), IMAGES[:, None])
    np.testing.assert_array_equal(test_images.numpy(), IMAGES[:2, None])
    assert labels.tolist() == [7, 2, 1]
    assert test_labels.tolist() == [7, 2]


def test_what_was_fetched_is_kept(tmp_path: Path) -> None:
    files = small_mnist(tmp_path)
    mnist(files=files)
    for name in ("train-images.gz", "train-labels.gz", "test-images", "test-labels"):
        (tmp_path / name).unlink()
    assert mnist(files=files)[1].tolist() == [7, 2, 1]


def test_another_file_than_expected_is_refused(tmp_path: Path) -> None:
    files = small_mnist(tmp_path)
    (tmp_path / "test-images").write_bytes(idx(IMAGES))
    with pytest.raises(DownloadError, match="has the SHA-256"):
        mnist(files=files)


def test_labels_that_do_not_fit_the_images_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"holds \(3, 28, 28\), .* \(2,\)"):
        mnist(files=small_mnist(tmp_path, LABELS[:2]))


def test_published_files_have_checksums() -> None:
    files = [CIFAR10]
    for published in (MNIST, FASHION_MNIST):
        files += [
            published.train_images,
            published.train_labels,
            published.test_images,
            published.test_labels,
        ]
    assert all(file.url.startswith("https://") and len(file.sha256 or "") == 64 for file in files)
    assert len({file.sha256 for file in files}) == 9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the header takes 4 bytes"),
        (b"\0\0\x0d\x01" + bytes(8), "no IDX file of bytes"),
        (b"\0\1\x08\x01" + bytes(8), "no IDX file of bytes"),
        (b"\0\0\x08\x02" + bytes(7), "sizes of the axes takes 8 bytes"),
        (idx(LABELS)[:-1], r"shape \(3,\) takes 3 bytes; it has 2"),
        (idx(LABELS) + b"x", r"shape \(3,\) takes 3 bytes; it has 4"),
        (gzip.compress(idx(LABELS), mtime=0)[:-9], "does not decompress"),
        (gzip.compress(idx(LABELS) + b"more" * 9, mtime=0), "takes 3 bytes; it has 39"),
        (gzip.compress(b"\0\0\x08\xff" + b"\xff" * 1020, mtime=0), "takes"),
        (b"\x1f\x8b" + bytes(50), "does not decompress"),
    ],
)
def test_damaged_arrays_are_errors(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        read_idx(tmp_path / "x")


def test_arrays_of_any_number_of_axes_are_read(tmp_path: Path) -> None:
    for array in (np.uint8(5).reshape(()), LABELS, IMAGES[:2, :2, :2].reshape(2, 2, 2, 1)):
        (tmp_path / "x").write_bytes(gzip.compress(idx(array)))
        assert read_idx(tmp_path / "x").tolist() == array.tolist()


def cifar_archive(path: Path, batches: dict[str, bytes]) -> RemoteFile:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in batches.items():
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))  # pyright: ignore[reportUnknownMemberType]
    return served(path, out.getvalue())


PHOTOGRAPHS = RNG.integers(0, 256, (6, 3073), dtype=np.uint8)
BATCHES = {f"data_batch_{i + 1}.bin": PHOTOGRAPHS[i].tobytes() for i in range(5)}
BATCHES |= {"test_batch.bin": PHOTOGRAPHS[5:].tobytes(), "readme.html": b"text"}


def test_photographs_come_as_images_and_labels(tmp_path: Path) -> None:
    images, labels, test_images, test_labels = cifar(file=cifar_archive(tmp_path / "c.tar.gz", BATCHES))
    np.testing.assert_array_equal(images.numpy(), PHOTOGRAPHS[:5, 1:].reshape(5, 3, 32, 32))
    np.testing.assert_array_equal(test_images.numpy(), PHOTOGRAPHS[5:, 1:].reshape(1, 3, 32, 32))
    assert labels.tolist() == PHOTOGRAPHS[:5, 0].tolist()
    assert test_labels.tolist() == PHOTOGRAPHS[5:, 0].tolist()


def test_an_archive_without_its_batches_is_an_error(tmp_path: Path) -> None:
    missing = {name: content for name, content in BATCHES.items() if name != "data_batch_3.bin"}
    with pytest.raises(FileFormatError, match=r"data_batch_3.bin is missing"):
        cifar(file=cifar_archive(tmp_path / "c.tar.gz", missing))
    with pytest.raises(FileFormatError, match=r"test_batch.bin is missing, or not made of records"):
        cifar(file=cifar_archive(tmp_path / "d.tar.gz", {**BATCHES, "test_batch.bin": bytes(3072)}))

"""Data sets that many examples use: fetched once, checked, kept in plugrad's cache.

Sources: http://yann.lecun.com/exdb/mnist/ (MNIST, and its file format "IDX");
https://github.com/zalandoresearch/fashion-mnist; https://www.cs.toronto.edu/~kriz/cifar.html (CIFAR-10,
"Binary version").
"""

import gzip
import math
import os
import zlib
from pathlib import Path

from plugrad._frozen import frozen
from plugrad.dtype import dtypes
from plugrad.errors import FileFormatError
from plugrad.nn.formats.archive import MOST_INFLATION, tar_extract
from plugrad.nn.formats.byte_source import ByteSource
from plugrad.runtime.download import fetch
from plugrad.tensor import Tensor

__all__ = ["CIFAR10", "FASHION_MNIST", "MNIST", "IdxFiles", "RemoteFile", "cifar", "mnist", "read_idx"]

#: Images and labels to train with, images and labels to test with.
DataSet = tuple[Tensor, Tensor, Tensor, Tensor]


@frozen
class RemoteFile:
    """A file on the web.

    Attributes:
        url: http, https, ftp or file.
        sha256: its SHA-256 in hexadecimal, or None if any file will do.

    Example:
        >>> RemoteFile("http://localhost:1/x.gz").fetched()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        plugrad.errors.DownloadError: cannot fetch http://localhost:1/x.gz: ...
    """

    url: str
    sha256: str | None = None

    def fetched(self) -> Path:
        """Return the path of the file, which is fetched unless it was before.

        Raises:
            DownloadError: it cannot be fetched, or is another one.

        Example:
            >>> import pathlib, tempfile
            >>> file = pathlib.Path(tempfile.mkdtemp()) / "x"
            >>> file.write_bytes(b"abc")
            3
            >>> RemoteFile(file.as_uri()).fetched().read_bytes()
            b'abc'
        """
        return fetch(self.url, sha256=self.sha256)


@frozen
class IdxFiles:
    """The four files of a data set of the form of MNIST.

    Attributes:
        train_images: (n, rows, columns) of uint8, in the IDX format, packed by gzip or not.
        train_labels: (n,) of uint8.
        test_images: as `train_images`.
        test_labels: as `train_labels`.

    Example:
        >>> IdxFiles(*(RemoteFile(f"file:///data/{n}") for n in range(4))).test_labels.url
        'file:///data/3'
    """

    train_images: RemoteFile
    train_labels: RemoteFile
    test_images: RemoteFile
    test_labels: RemoteFile


_MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FASHION_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_NAMES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def _idx_files(url: str, *sha256: str) -> IdxFiles:
    return IdxFiles(*(RemoteFile(url + name, digest) for name, digest in zip(_NAMES, sha256, strict=True)))


MNIST = _idx_files(
    _MNIST_URL,
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
)
FASHION_MNIST = _idx_files(
    _FASHION_URL,
    "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
)
CIFAR10 = RemoteFile(
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)

# of the format's types of elements, the one that images and labels have
_UBYTE = 0x08
_MOST_HEADER_BYTES = 4 + 4 * 255
_CIFAR_IMAGE = (3, 32, 32)
_CIFAR_TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_CIFAR_TEST = ("test_batch.bin",)


def mnist(device: str | None = None, *, fashion: bool = False, files: IdxFiles | None = None) -> DataSet:
    """Return 60000 handwritten digits to train with and 10000 to test with.

    Args:
        device: where the tensors are to live; the default device if left out.
        fashion: clothes in place of digits (Fashion-MNIST), of the same sizes.
        files: others of the same form, such as a mirror's.

    Returns:
        Images (60000, 1, 28, 28) and labels (60000,) to train with, images (10000, 1, 28, 28) and labels
        (10000,) to test with, all of uint8.

    Raises:
        DownloadError: a file cannot be fetched, or is not the one that was published.
        FileFormatError: a file is damaged.

    Example:
        >>> images, labels, test_images, test_labels = mnist(files=small_files)
        >>> images.shape, labels.shape
        ((2, 1, 28, 28), (2,))
    """
    chosen = files or (FASHION_MNIST if fashion else MNIST)
    train = _images_and_labels(chosen.train_images, chosen.train_labels, device)
    return *train, *_images_and_labels(chosen.test_images, chosen.test_labels, device)


def _images_and_labels(
    images_at: RemoteFile, labels_at: RemoteFile, device: str | None
) -> tuple[Tensor, Tensor]:
    path = images_at.fetched()
    images, labels = read_idx(path, device), read_idx(labels_at.fetched(), device)
    if images.ndim != 3 or labels.ndim != 1 or images.shape[0] != labels.shape[0]:
        raise FileFormatError(
            f"{images_at.url} holds {images.shape}, {labels_at.url} {labels.shape}: not images (n, height, "
            "width) and labels (n,). Fetch other files.",
            path=str(path),
        )
    return images.unsqueeze(1), labels


def read_idx(path: str | os.PathLike[str], device: str | None = None) -> Tensor:
    """Return the array of bytes in a file of the IDX format.

    Args:
        path: the file; it may be compressed by gzip.
        device: where the tensor is to live; the default device if left out.

    Raises:
        FileFormatError: the file is damaged, or has other elements than uint8.
        OSError: the file cannot be read.

    Example:
        >>> read_idx("labels-idx1-ubyte").tolist()
        [7, 2]
    """
    file = ByteSource(path)
    if file.read(0, min(2, file.nbytes)) == b"\x1f\x8b":
        file = _unzipped(file)
    start = file.read(0, 4, "the header")
    if start[:2] != bytes(2) or start[2] != _UBYTE:
        file.fail(f"no IDX file of bytes: it starts with {start!r}.")
    begin = 4 + 4 * start[3]
    header = file.read(4, begin - 4, "the sizes of the axes")
    shape = tuple(int.from_bytes(header[i : i + 4], "big") for i in range(0, len(header), 4))
    if begin + math.prod(shape) != file.nbytes:
        file.fail(f"an array of shape {shape} takes {math.prod(shape)} bytes; it has {file.nbytes - begin}.")
    return file.tensor(begin, shape, dtypes.uint8, device)


def _unzipped(file: ByteSource) -> ByteSource:
    try:
        with file.open() as packed, gzip.open(packed) as unpacked:
            # no more than the header asks for, and a byte that must not be there
            start = unpacked.read(_MOST_HEADER_BYTES)
            count = int.from_bytes(start[3:4], "big")
            sizes = [int.from_bytes(start[4 + 4 * i : 8 + 4 * i], "big") for i in range(count)]
            wanted = min(4 + 4 * count + math.prod(sizes) + 1, MOST_INFLATION * file.nbytes)
            content = start + unpacked.read(max(wanted - len(start), 0))
    except (EOFError, OSError, zlib.error) as error:
        file.fail(f"it does not decompress ({error}).", error)
    return ByteSource.lazy(file.name, len(content), lambda: memoryview(content))


def cifar(device: str | None = None, *, file: RemoteFile = CIFAR10) -> DataSet:
    """Return CIFAR-10: 50000 small photographs to train with and 10000 to test with.

    Args:
        device: where the tensors are to live; the default device if left out.
        file: another archive of the same form, such as a mirror's.

    Returns:
        Images (50000, 3, 32, 32) and labels (50000,) to train with, images (10000, 3, 32, 32) and labels
        (10000,) to test with, all of uint8; the channels are red, green and blue.

    Raises:
        DownloadError: the archive cannot be fetched, or is not the one that was published.
        FileFormatError: the archive is damaged.

    Example:
        >>> images, labels, test_images, test_labels = cifar(file=small_archive)
        >>> images.shape, test_labels.shape
        ((5, 3, 32, 32), (1,))
    """
    path = file.fetched()
    batches = {Path(name).name: batch for name, batch in tar_extract(path, device).items()}
    return *_cifar_images(path, batches, _CIFAR_TRAIN), *_cifar_images(path, batches, _CIFAR_TEST)


def _cifar_images(path: Path, batches: dict[str, Tensor], names: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    record = 1 + math.prod(_CIFAR_IMAGE)
    for name in names:
        if name not in batches or batches[name].nbytes % record:
            raise FileFormatError(
                f"{path} is no archive of CIFAR-10: {name} is missing, or not made of records of {record} "
                "bytes. Fetch it again.",
                path=str(path),
            )
    records = Tensor.cat(*(batches[name].reshape(-1, record) for name in names))
    return records[:, 1:].reshape(-1, *_CIFAR_IMAGE), records[:, 0]

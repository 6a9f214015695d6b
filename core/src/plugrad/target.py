"""Describe the target of a kernel as frozen data: a device's identity and its capabilities.

Codegen reads `Capabilities` and never asks for a device's name. A renderer declares them, so that every later
choice (vector widths, launch grids, decompositions) follows from data that can be printed, compared and
pickled.
"""

from enum import Enum

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes, is_float

#: Places from which a sum by position is one pass over its positions, on targets that run loops: for fewer,
#: vectors compare each place with each position in less time.
LEAST_SCATTERED = 16

#: Bytes of a line of the caches of every processor that has vectors.
LINE_BYTES = 64

#: Rows from which gathering a copy of a factor for them costs little: it is as much as ten steps of a tile.
ROWS_TO_PACK = 768

#: The same for loops of matrix instructions, which take a copy apart at each step.
LEAST_MATRIX_ROWS = 64
#: Work that may be done twice to have tiles of a round size.
REPEATED = 1.125


class Evidence(Enum):
    """The evidence that a device's kernels are correct, from weakest to strongest.

    Reports print it. `E2` is never shown as `E3`, and a device with `E2` is never chosen automatically.
    """

    E0 = "golden text"
    E1 = "accepted by the vendor's compiler"
    E2 = "executed by a simulator"
    E3 = "executed on the real hardware"


@frozen
class Target:
    """One device of one backend, with what its compiler has to know.

    Attributes:
        device: the backend's name in upper case.
        index: which of the backend's devices, from 0.
        arch: the instruction set, in the words of the backend's compiler.
        detail: anything more that changes the code, as sorted (name, value) pairs.
    """

    device: str
    index: int = 0
    arch: str = ""
    detail: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name a user writes: `NAME`, or `NAME:INDEX` above index 0."""
        return f"{self.device}:{self.index}" if self.index else self.device

    def get(self, key: str, default: str = "") -> str:
        """Return the value of `key` in `detail`.

        Example:
            >>> Target("X", detail=(("driver", "12.4"),)).get("driver")
            '12.4'
        """
        return next((value for name, value in self.detail if name == key), default)


@frozen
class Fragment:
    """A map from each thread's elements to places in a tile, bit by bit.

    `"k1"` stands for bit 1 of the coordinate k, the one worth 2. The coordinates are m and k for A, k and n
    for B, m and n for C and D.

    Attributes:
        threads: the coordinate bit that each bit of the thread's number gives, lowest first.
        places: the coordinate bit that each bit of the place in the thread's vector gives, lowest first.

    Example:
        >>> Fragment(threads=("k0", "m0"), places=("m1",)).count
        2
    """

    threads: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of elements that one thread holds."""
        return 1 << len(self.places)

    def coordinate(self, axis: str, thread: int, place: int) -> int:
        """Return the coordinate on `axis` of the element that `thread` holds in `place`.

        Example:
            >>> Fragment(threads=("k0", "m0"), places=("m1",)).coordinate("m", thread=2, place=1)
            3
        """
        out = 0
        for number, bits in ((thread, self.threads), (place, self.places)):
            for i, bit in enumerate(bits):
                if bit[0] == axis:
                    out |= (number >> i & 1) << int(bit[1:])
        return out


@frozen
class FragmentLoad:
    """The load of a fragment from local memory by all threads of a warp.

    A matrix has 8 rows of 16 bytes. Thread t gives the address of row `t % 8` of matrix `t // 8`, and gets
    4 bytes of each matrix, from byte `t % 4 * 4` of row `t // 4`. Transposed, of 16-bit elements, it gets
    element `t // 4` of row `t % 4 * 2` and of the next.

    Attributes:
        matrices: how many: 1, 2 or 4.
        is_transposed: whether a thread's elements are of one column.
    """

    matrices: int
    is_transposed: bool = False


@frozen
class TensorCore:
    """One matrix instruction: `D = (A + offset) @ B + C` on a tile, by `threads` threads.

    A is (M, K), B is (K, N), C and D are (M, N); their elements are spread over the threads.

    Attributes:
        name: what the renderer calls the instruction.
        dims: the tile as (N, M, K), powers of two.
        threads: how many threads share one instruction: neighbours along the fastest axis of a workgroup.
        dtype_in: element type of A and B.
        dtype_out: element type of C and D.
        a: where the elements of A are.
        b: where those of B are.
        c: where those of C and D are.
        loads_rows: whether a warp can load fragments of A and B from local memory by a FragmentLoad.
        offset: what the instruction adds to each element of A; kernels subtract as many times the sum of B.
    """

    name: str
    dims: tuple[int, int, int]
    threads: int
    dtype_in: DType
    dtype_out: DType
    a: Fragment
    b: Fragment
    c: Fragment
    loads_rows: bool = False
    offset: int = 0

    def suits_loops(self, rows: int, columns: int, inner: int) -> bool:
        """Say whether loops suit a product: whole steps, and rows enough to copy B.

        Example:
            >>> none = Fragment((), ())
            >>> core = TensorCore("x", (16, 1, 2), 1, dtypes.bfloat16, dtypes.float32, none, none, none)
            >>> core.suits_loops(64, 16, 4), core.suits_loops(64, 17, 4), core.suits_loops(64, 16, 5)
            (True, False, False)
        """
        width, _, depth = self.dims
        covered = -(-columns // width) * width
        whole = inner > depth and inner % depth == 0
        return whole and rows >= LEAST_MATRIX_ROWS and covered <= REPEATED * columns


@frozen
class Capabilities:
    """The abilities of a target, the only thing that codegen knows about it.

    Attributes:
        storage_dtypes: element types that buffers may hold.
        compute_dtypes: element types that arithmetic may use; the others are widened around it.
        vector_bits: width of a vector register for arithmetic (0: arithmetic is scalar).
        max_lanes: the most values in one vector, whatever their size (0: as many as `vector_bits` and
            `max_load_bits` hold).
        vector_unit_bits: what a unit multiplies in a cycle (0: `vector_bits`): a wider vector takes several.
        vector_registers: how many of them a kernel may fill before values spill to memory.
        max_load_bits: the widest single load or store.
        threads: how many pieces a THREAD axis may have (1: none).
        grid_dims: launch dimensions outside the workgroup (0: a kernel runs its own loops).
        max_grid: the largest size of each launch dimension.
        max_workgroup: threads in one workgroup (0: there are no workgroups).
        max_workgroup_dims: the largest size of each workgroup dimension.
        local_memory_bytes: memory shared by one workgroup, or worth staging tiles in.
        cache_bytes: sizes of the first and second cache level of one core.
        compute_units: of a grid: the units that groups are spread over (multiprocessors, compute units). A
            launch of fewer than two groups for each leaves some idle.
        warp_size: of a grid: work-items that run in step, and share a wide access.
        unit_registers: of a grid: registers of 32 bits that the groups on one unit share.
        thread_registers: of a grid: registers of 32 bits that one work-item may have at most.
        unit_memory_bytes: of a grid: local memory that the groups on one unit share (0: that of one group).
        async_copy_bytes: of a grid: sizes of asynchronous copies from buffers to local memory (empty: none).
        memory_bandwidth: bytes a second between compute units and memory (0: not known).
        flop_rates: additions and multiplications a second by dtype, without matrix instructions, sorted by
            the dtype's name (empty: not known).
        native_ops: names of the `Ops` that the target has itself, FDIV or RECIP among them; all others are
            decomposed.
        atomic_ops: names of the `Ops` ADD and MAX, each with a dtype, by which work-items may combine values
            with one element of a buffer at the same time (empty: none).
        max_buffers: how many buffers one kernel may take (0: no limit).
        supports_views: whether a kernel may take part of another buffer.
        tensor_cores: matrix instructions, the best first. One that drops digits of its operands, as tf32 does
            of float32, stands here only where the user asked for it.
    """

    storage_dtypes: frozenset[DType]
    compute_dtypes: frozenset[DType]
    vector_bits: int = 0
    vector_unit_bits: int = 0
    max_lanes: int = 0
    vector_registers: int = 16
    max_load_bits: int = 128
    threads: int = 1
    grid_dims: int = 0
    max_grid: tuple[int, ...] = ()
    max_workgroup: int = 0
    max_workgroup_dims: tuple[int, ...] = ()
    local_memory_bytes: int = 0
    cache_bytes: tuple[int, ...] = (32 << 10, 1 << 20)
    compute_units: int = 16
    warp_size: int = 32
    unit_registers: int = 32 << 10
    thread_registers: int = 128
    unit_memory_bytes: int = 0
    async_copy_bytes: tuple[int, ...] = ()
    memory_bandwidth: int = 0
    flop_rates: tuple[tuple[DType, int], ...] = ()
    native_ops: frozenset[str] = frozenset()
    atomic_ops: frozenset[tuple[str, DType]] = frozenset()
    max_buffers: int = 0
    supports_views: bool = True
    tensor_cores: tuple[TensorCore, ...] = ()

    def lanes(self, dtype: DType) -> int:
        """Return the number of `dtype` values in a vector register, 1 on scalar targets.

        Example:
            >>> Capabilities(frozenset(), frozenset(), vector_bits=512).lanes(dtypes.float32)
            16
        """
        return max(
            1, min(self.vector_bits // (self.lane_bytes(dtype) * 8), self.max_lanes or self.vector_bits)
        )

    def flop_rate(self, dtype: DType) -> int:
        """Return the additions and multiplications of `dtype` a second; 0: not known.

        Example:
            >>> rates = ((dtypes.float32, 10),)
            >>> Capabilities(frozenset(), frozenset(), flop_rates=rates).flop_rate(dtypes.float32)
            10
        """
        return dict(self.flop_rates).get(dtype, 0)

    def lane_bytes(self, dtype: DType) -> int:
        """Return the bytes of one value in arithmetic, where storage-only floats are widened.

        Example:
            >>> Capabilities(frozenset(), frozenset()).lane_bytes(dtypes.float16)
            4
        """
        is_widened = is_float(dtype) and dtype not in self.compute_dtypes
        return max(dtype.itemsize, dtypes.float32.itemsize) if is_widened else dtype.itemsize

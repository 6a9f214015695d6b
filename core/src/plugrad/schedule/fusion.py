"""The one cost model of fusion, which weighs repeated computing against memory traffic.

Inlining saves writing and reading a value; it costs computing it once for each use. A machine does some
number of operations in the time that one byte takes to memory, and that ratio is the exchange rate. The model
speaks of `Capabilities` only, never of devices.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from plugrad._frozen import frozen
from plugrad.dtype import DType, dtypes, is_float
from plugrad.target import LINE_BYTES, ROWS_TO_PACK, Capabilities, TensorCore
from plugrad.uop import Ops, UOp

# Operations for the price of one byte of memory traffic. Measured machines lie between 4 (one Zen 4 core:
# 117 GFLOP/s against 30 GB/s) and 12 (accelerators: 60 TFLOP/s of f32 against 4.8 TB/s). At 12, `exp` is
# computed up to three times rather than stored, and `sin` once: of 2**20 elements, on two cores, three `exp`
# take 1.8 ms against 3.5 with a kernel for it, and two `sin` 12 ms against 9.
_OPERATIONS_PER_BYTE = 12
# Operations in the time that one more launch takes: about a microsecond, at 32 operations a nanosecond (a
# Zen 4 core with vectors of 512 bits).
_OPERATIONS_PER_LAUNCH = 1 << 15
# Launches on a grid take 2 microseconds at least; additions have half the rate of multiplications with one.
_LAUNCHES_A_SECOND, _ADDITIONS = 500_000, 2
# What a device says of its own rates is believed within these: operations are more than additions.
_LEAST_PER_BYTE, _MOST_PER_BYTE = 4, 24
# Operations in the time of one atomic update: it takes a line of memory to itself.
_OPERATIONS_PER_UPDATE = 64
# Below this many elements a reduction is done before a second kernel would have started.
_SPLIT_FROM = 1 << 15
# Pieces for each core, so that an uneven finish costs little.
_PIECES_PER_CORE = 8
# Sizes of the second cache from which a row is reduced in pieces, and pieces that it holds. There are to be
# few rows: of many, perhaps not all are read.
_CACHES_OF_A_ROW, _PIECES_OF_A_CACHE = 4, 4
_FEW_ROWS = 64
# Groups for each compute unit: while one waits for memory, another computes.
_GROUPS_PER_UNIT = 2
# Steps of a reduction on a grid that are worth a group; fewer are done before another one has started.
_STEPS_OF_A_GROUP = 256
# Elements that a grid reads before the launch of a second kernel is paid for.
_GRID_SPLIT_FROM = 1 << 17
# A row of as few bytes is done before two more launches. Of longer ones there is to be one for every unit, of
# short ones one for every few.
_SHORT_ROW = 1 << 16
_UNITS_OF_A_SHORT_ROW = 4
# Reads of each element from which a copy with zeros around it is cheaper than gated loads: windows overlap.
_PAD_REUSE = 1.5
# Copies of windows stay in the last cache, which holds about this many times what a core has for itself.
_LAST_CACHE = 16
# Vectors of a tile of a product side by side.
_COLUMNS_OF_A_TILE = 2
# Reads of each element from which a copy of rows is cheaper than the lines that their tiles load again.
_READS_TO_COPY = 128
# Operations of one kernel, each element, before the rest becomes a kernel of its own.
MOST_OPERATIONS = 400
# A value that costs less than this is never cut off.
SMALL_VALUE = 8
# Estimates stop here: a subtree this dear is never recomputed.
COST_CAP = 1_000_000


@frozen
class Boundary:
    """The reason for giving a value memory instead of computing it in its users.

    Attributes:
        reason: in a few words, the same for all values of a kind.
        detail: the numbers that decided, as a sentence; empty where there was nothing to weigh.
    """

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


# What was asked for in so many words.
REQUESTED = Boundary("its value was asked for")
ASSIGNED = Boundary("it is assigned to memory that exists")
CONTIGUOUS = Boundary("contiguous() asks for memory")
LOOPED = Boundary("a Fourier transform, or a factorization, has loops of its own")
COPIED = Boundary("it goes from one device to another")
# What computes all of its elements together.
WHOLE = frozenset({Ops.FOURIER, Ops.FACTOR})
# The ops that ask for memory themselves.
REASONS = dict.fromkeys(WHOLE, LOOPED) | {Ops.CONTIGUOUS: CONTIGUOUS, Ops.COPY: COPIED, Ops.ASSIGN: ASSIGNED}
# What would be too much for one kernel.
TOO_MANY_BUFFERS = Boundary("the kernel of its users would read more buffers than the device allows")
SCATTERED = Boundary("a sum by position runs in a kernel of its own")
FILLED = Boundary("values are added to it by position")
# What loops of a reduction cannot do.
REDUCED_FOR_SEVERAL = Boundary(
    "a reduction is read in several ways", "each way would run its loops again, element by element"
)
REDUCED_FOR_GATE = Boundary(
    "a reduction is read behind a condition or along one axis twice", "its loops cannot be shared then"
)
REDUCED_APART = Boundary(
    "its loops are not the outer loops of its user", "it would be computed again for each inner step"
)
CONTRACTED = Boundary(
    "two contractions want the registers of one kernel", "each loses the reuse of a tile of its own"
)


@frozen
class CostModel:
    """The numbers of a device that fusion depends on."""

    cores: int
    runs_loops: bool
    row_bytes: int
    max_buffers: int = 0
    tensor_cores: tuple[TensorCore, ...] = ()
    vector_bytes: int = 0
    vector_registers: int = 0
    near_bytes: int = 0
    operations_per_byte: int = _OPERATIONS_PER_BYTE
    operations_per_launch: int = _OPERATIONS_PER_LAUNCH
    atomic_ops: frozenset[tuple[str, DType]] = frozenset()
    takes_parts: bool = True
    shares_rows: bool = False
    has_doubles: bool = True

    def lanes(self, itemsize: int) -> int:
        """Return the elements of one vector operation; narrow ones come from 32 bits."""
        return max(1, self.vector_bytes // max(4, itemsize))

    @staticmethod
    def of(capabilities: Capabilities, *, deterministic: bool = False) -> "CostModel":
        """Return the cost model for a device with these capabilities.

        Args:
            capabilities: of the device.
            deterministic: whether sums of floats have one order.
        """
        return CostModel(
            cores=capabilities.threads if capabilities.grid_dims == 0 else capabilities.compute_units,
            # on a grid each work-item would redo a row's reduction; loops hoist it
            runs_loops=capabilities.grid_dims == 0,
            row_bytes=capabilities.cache_bytes[-1] if capabilities.cache_bytes else 0,
            max_buffers=capabilities.max_buffers,
            tensor_cores=capabilities.tensor_cores,
            vector_bytes=capabilities.vector_bits // 8,
            vector_registers=capabilities.vector_registers,
            near_bytes=capabilities.cache_bytes[0] if capabilities.cache_bytes else 0,
            operations_per_byte=_operations_per_byte(capabilities),
            operations_per_launch=_operations_per_launch(capabilities),
            takes_parts=capabilities.supports_views,
            has_doubles=dtypes.float64 in capabilities.compute_dtypes,
            shares_rows=bool(
                capabilities.grid_dims and capabilities.max_workgroup > 1 and capabilities.local_memory_bytes
            ),
            atomic_ops=frozenset(
                (name, dtype)
                for name, dtype in capabilities.atomic_ops
                if not (deterministic and name == Ops.ADD.name and is_float(dtype))
            ),
        )

    def is_atomic(self, op: Ops, dtype: DType) -> bool:
        """Say whether work-items of a grid may update one element by `op` concurrently."""
        return not self.runs_loops and (op.name, dtype) in self.atomic_ops

    def pays_to_update(self, comparisons: int, updates: int, results: int, itemsize: int) -> bool:
        """Say whether filling `results` and updating them costs less than comparing places with positions."""
        filling = _OPERATIONS_PER_LAUNCH + results * itemsize * self.operations_per_byte
        return comparisons > filling + updates * _OPERATIONS_PER_UPDATE

    def full_boundary(self, operations: int) -> Boundary | None:
        """Return the reason to end a kernel that does `operations` for each element, or None.

        Compilers take time that grows faster than the kernel, and registers run out. Cutting costs one
        write and one read for each of these operations' hundreds.
        """
        if operations < MOST_OPERATIONS:
            return None
        return Boundary(
            "its user's kernel is full",
            f"{operations:,} operations for each element, of at most {MOST_OPERATIONS}",
        )

    def elementwise_boundary(
        self, repeated: int, numel: int, itemsize: int, more_reads: int = 0
    ) -> Boundary | None:
        """Return the reason to store `numel` elements, or None.

        Args:
            repeated: operations that are saved where they are read.
            numel: elements.
            itemsize: bytes of each.
            more_reads: kernels that read more for it, as they need what the elements are made of anyway.
                The others read these elements instead.
        """
        nbytes = numel * itemsize * (2 + more_reads)
        kernel = self.operations_per_launch + nbytes * self.operations_per_byte
        if repeated <= kernel:
            return None
        return Boundary(
            "computing it again costs more than its memory",
            f"{repeated:,} more operations against a launch and {nbytes:,} bytes written and read, worth "
            f"{kernel:,} operations",
        )

    def inline_cast(self, source: DType, to: DType) -> bool:
        """Say whether a cast never gets memory: a grid's matrix instructions take their factors narrow."""
        pairs = {(core.dtype_in, core.dtype_out) for core in self.tensor_cores}
        return not self.runs_loops and (source, to) in pairs

    def narrow_factors(self, reduced: UOp) -> Collection[UOp]:
        """Return casts of a sum of products that matrix instructions do by themselves."""
        op, axes = reduced.arg
        (product,) = reduced.src
        if not self.runs_loops or op is not Ops.ADD or product.op is not Ops.MUL:
            return ()
        casts = [factor.base for factor in product.src]
        sizes = _sizes_of_product(product, axes)
        if sizes is None or any(cast.op is not Ops.CAST for cast in casts):
            return ()
        pairs = {(cast.src[0].dtype, cast.dtype) for cast in casts}
        fits = (c.suits_loops(*sizes) for c in self.tensor_cores if pairs == {(c.dtype_in, c.dtype_out)})
        return casts if any(fits) else ()

    def pad_boundary(self, evaluations: int, numel: int) -> Boundary | None:
        """Return the reason to copy a padded value, None to read it gated.

        Where loops run on vectors, a gate breaks one vector load into single ones, many times dearer.
        """
        if not self.runs_loops or evaluations < numel * _PAD_REUSE:
            return None
        return Boundary(
            "a copy with its zeros is cheaper than conditions",
            f"{numel:,} elements are read {evaluations:,} times, and each read would ask whether it exists",
        )

    def row_reduce_boundary(self, rows: int, row_bytes: int, along_rows: bool = False) -> Boundary | None:
        """Return the reason not to fuse a row reduction with its users, or None.

        The row would be read again from cache, and the rows are what cores share. On grids groups have rows.

        Args:
            rows: results of the reduction.
            row_bytes: bytes that each is made of.
            along_rows: whether this is a grid's kernel, and all of its loops go along these rows.
        """
        if along_rows:
            if rows >= self.cores or row_bytes <= _SHORT_ROW:
                return None
            return Boundary(
                "rows are long and few",
                f"{rows:,} groups would share {self.cores} units, with {row_bytes:,} bytes each",
            )
        if self.runs_loops and row_bytes <= self.row_bytes and (rows >= self.cores or row_bytes <= 4096):
            return None
        if not self.runs_loops:
            return Boundary("a grid has a kernel for each reduction", "its results are not along its rows")
        return Boundary(
            "a row is read again after its reduction, and does not stay near",
            f"{rows:,} rows of {row_bytes:,} bytes, for {self.cores} cores with {self.row_bytes:,} bytes of "
            "cache",
        )

    def shares_nest(self, saved_loads: int, numel: int, itemsize: int) -> bool:
        """Say whether a contraction of `numel` results runs in the loops of another one.

        Registers hold the tile of one. The other loads operands that a tile of its own would reuse,
        `saved_loads` of them; by itself, its results are written and read once.
        """
        return saved_loads <= numel * itemsize * 2 * self.operations_per_byte

    def vector_steps(self, size: int, itemsize: int) -> int:
        """Return the vectors that cover an axis of `size` elements, the last one overlapping."""
        return -(-size // self._lanes(size, itemsize))

    def filled_lanes(self, size: int, itemsize: int) -> float:
        """Return the share of the lanes of these vectors that no overlap takes."""
        return size / (self.vector_steps(size, itemsize) * self._lanes(size, itemsize))

    def block_of_lanes(self, itemsize: int) -> int:
        """Return the neighbours in a packed factor: the columns of a tile."""
        return _COLUMNS_OF_A_TILE * self.vector_bytes // itemsize

    def _lanes(self, size: int, itemsize: int) -> int:
        return min(max(1, self.vector_bytes // itemsize), 1 << (size.bit_length() - 1))

    @property
    def rows_to_pack(self) -> int:
        """Rows from which gathering a copy of a factor costs little.

        Narrow vectors take more steps a row.
        """
        return ROWS_TO_PACK * self.vector_bytes // LINE_BYTES

    def copy_windows(self, numel: int, rows: int, fewer_steps: float, itemsize: int) -> bool:
        """Say whether copying windows of `numel` elements, read for each of `rows`, pays.

        It saves `fewer_steps` of a vector for each element and row, of a multiplication and an addition.
        """
        nbytes = numel * itemsize
        saved = rows * numel * fewer_steps * 2 * (self.vector_bytes // itemsize)
        fits = nbytes <= _LAST_CACHE * self.row_bytes
        return self.runs_loops and fits and saved > nbytes * 2 * self.operations_per_byte

    def copy_rows(self, steps: int, rows: int, reads: int, itemsize: int) -> bool:
        """Say whether copying the rows of a product along its sums pays.

        Elements of a row are neighbours of other rows. A copy pays where a tile of registers takes less than
        half of a line at each step, and the first cache does not hold the lines, and the columns of the tile,
        until the tile of the next rows comes.

        Args:
            steps: of the sum.
            rows: neighbours in memory.
            reads: of each element, by one column each.
            itemsize: bytes of an element.
        """
        if not self.runs_loops or not self.vector_bytes or rows * itemsize < LINE_BYTES:
            return False
        of_a_tile = self.vector_registers * 3 // 4 // _COLUMNS_OF_A_TILE
        near = steps * (LINE_BYTES + _COLUMNS_OF_A_TILE * self.vector_bytes) <= self.near_bytes
        return 2 * of_a_tile * itemsize < LINE_BYTES and not near and reads >= _READS_TO_COPY

    def pieces_of_product(self, steps: int, itemsize: int) -> int:
        """Return the number of pieces of a sum of products whose panels fit the cache.

        The panels are the rows and columns of a tile, over all steps of a piece. Where one piece would leave
        nothing of the second cache to others, there are several.
        """
        if not self.runs_loops or not self.vector_bytes:
            return 1
        rows = self.vector_registers * 3 // 4 // _COLUMNS_OF_A_TILE
        panels = steps * (_COLUMNS_OF_A_TILE * self.vector_bytes + rows * itemsize)
        return 1 if panels <= self.row_bytes else -(-panels // (self.row_bytes * 3 // 4))

    def split_reduce(self, reduced: int, kept: int, together: int = 1, itemsize: int = 4) -> int:
        """Return the number of pieces of a reduction of `reduced` elements to each of `kept`.

        Every core has some; and what reads a piece again, as a variance does, finds it in a cache.

        Args:
            reduced: elements that one result is made of.
            kept: results.
            together: on a grid, results that one group computes.
            itemsize: bytes of an element.
        """
        if not self.runs_loops:
            groups = -(-kept // together)
            if reduced * kept < _GRID_SPLIT_FROM:
                return 1
            # a group of a row may be as large as its unit
            units = 1 if reduced * itemsize > _SHORT_ROW else _UNITS_OF_A_SHORT_ROW
            if groups * (units if together == 1 else 2) > self.cores:
                return 1
            return max(1, min(_GROUPS_PER_UNIT * self.cores // groups, reduced // _STEPS_OF_A_GROUP))
        is_beyond = kept <= _FEW_ROWS and 0 < _CACHES_OF_A_ROW * self.row_bytes <= reduced * itemsize
        near = _PIECES_OF_A_CACHE * reduced * itemsize // self.row_bytes if is_beyond else 1
        if reduced < _SPLIT_FROM or kept >= self.cores:
            return near
        pieces = max(near, self.cores * _PIECES_PER_CORE)
        return pieces if reduced // pieces >= 256 else 1


def _operations_per_byte(capabilities: Capabilities) -> int:
    """Return the exchange rate of a device that knows its rates, or the usual one."""
    rate, bandwidth = capabilities.flop_rate(dtypes.float32), capabilities.memory_bandwidth
    if not rate or not bandwidth:
        return _OPERATIONS_PER_BYTE
    return min(max(_LEAST_PER_BYTE, rate // bandwidth), _MOST_PER_BYTE)


def _operations_per_launch(capabilities: Capabilities) -> int:
    """Return the operations in the time of a launch.

    On a grid that knows its rates they follow from them.
    """
    rate = capabilities.flop_rate(dtypes.float32) if capabilities.grid_dims else 0
    return rate // (_ADDITIONS * _LAUNCHES_A_SECOND) or _OPERATIONS_PER_LAUNCH


@frozen
class Devices:
    """The scheduler's view of devices.

    Attributes:
        cost: the cost model of each device in the graph that computes, and of `default`.
        default: where values without a device are computed.
        constants: BUFFERs whose contents stay: what is computed from them alone is computed once.
    """

    cost: Mapping[str, CostModel]
    default: str
    constants: frozenset[UOp] = frozenset()

    def takes_parts(self, device: str) -> bool:
        """Say whether kernels of a device are launched with parts of memory."""
        return device in self.cost and self.cost[device].takes_parts


def _sizes_of_product(product: UOp, axes: Sequence[int]) -> tuple[int, int, int] | None:
    """Return the rows, columns and inner steps of a product; None for other sums."""
    full: Any = product.shape
    if not all(isinstance(size, int) for size in full):
        return None
    one, other = (_moving_axes(factor) for factor in product.src)
    inner = [full[a] for a in axes if full[a] > 1]
    sides = [[a for a in own - beside if a not in axes] for own, beside in ((one, other), (other, one))]
    if len(inner) != 1 or not all(sides):
        return None
    rows, columns = sorted(sides, key=max)
    return max(full[a] for a in rows), full[max(columns)], inner[0]


def _moving_axes(factor: UOp) -> set[int]:
    own: Any = factor.src[0].shape if factor.op is Ops.EXPAND else factor.shape
    return {a for a, size in enumerate(own) if size > 1}

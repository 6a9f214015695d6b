"""Render C with vector extensions: a function for each kernel, vectors as wide as registers.

Truth of vectors is kept as masks (see `plugrad.renderer.masks`). float16 and bfloat16 are their bits,
converted at each cast.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from plugrad.dtype import STORABLE, DType, dtypes, is_bool, is_float, is_int
from plugrad.renderer.cstyle import NATIVE_OPS, is_number
from plugrad.renderer.masks import MaskRenderer, MaskScope
from plugrad.renderer.scope import Scope, buffer_of
from plugrad.settings import settings
from plugrad.target import Capabilities
from plugrad.uop import AxisType, Ops, UOp
from plugrad.uop.shape import least
from plugrad_cpu_clang import preamble
from plugrad_cpu_clang.dot_products import dot_product, dot_products
from plugrad_cpu_clang.half_conversions import (
    bfloat_from_float,
    float_from_bfloat,
    float_from_half,
    half_from_float,
)
from plugrad_cpu_clang.lanes import shuffle, shuffled_vectors
from plugrad_cpu_clang.machine import Machine, available_threads, this_machine
from plugrad_cpu_clang.prefetching import innermost_loops, prefetches
from plugrad_cpu_clang.registers import loads_to_hold
from plugrad_cpu_clang.remainder import float_remainder
from plugrad_cpu_clang.sine import sine
from plugrad_cpu_clang.spilling import spilled_accumulators

HALVES = (dtypes.float16, dtypes.bfloat16)
# the third argument of `__builtin_prefetch`: the caches that keep the line
_IN_FIRST, _IN_SECOND = 3, 2
# of a thread's stack, and of its second-level cache
STAGE_BYTES = 1 << 20
#: What takes a few fused operations, and many others.
FUSED_OPS = frozenset({Ops.FMOD.name, Ops.SIN.name, Ops.COS.name})


def cpu_capabilities(machine: Machine) -> Capabilities:
    """Return the capabilities of `machine`."""
    # the widest vectors of x86 come with fused operations
    fuses = machine.vector_bits > 128 or machine.arch in ("aarch64", "arm64")
    return Capabilities(
        storage_dtypes=frozenset(STORABLE),
        compute_dtypes=frozenset(STORABLE) - frozenset(HALVES),
        vector_bits=machine.vector_bits,
        vector_unit_bits=min(machine.vector_unit_bits, machine.vector_bits),
        vector_registers=machine.vector_registers,
        max_load_bits=machine.vector_bits,
        threads=settings.THREADS or available_threads(),
        cache_bytes=machine.cache_bytes,
        local_memory_bytes=STAGE_BYTES,
        native_ops=NATIVE_OPS | (FUSED_OPS if fuses else frozenset[str]()),
        tensor_cores=dot_products(machine),
    )


class CpuRenderer(MaskRenderer):
    """C for clang, gcc and zig.

    A kernel is `void NAME(void *const *bufs, const long long *vals, long long thread)`: buffers by slot,
    scalars in the order of their names, and which piece of the THREAD axis to do.
    """

    integers_wrap: ClassVar[bool] = True
    infinity: ClassVar[str] = "__builtin_inff()"
    nan: ClassVar[str] = '__builtin_nanf("")'
    type_names: ClassVar[Mapping[DType, str]] = {
        dtype: "_Bool" if dtype is dtypes.bool else preamble.scalar_type(short)
        for dtype, short in preamble.SHORT_NAMES.items()
    }

    def __init__(self, capabilities: Capabilities | None = None, stream_bytes: int | None = None) -> None:
        machine = this_machine()
        super().__init__(capabilities or cpu_capabilities(machine), frozenset(HALVES))
        self.stream_bytes = machine.last_level_bytes if stream_bytes is None else stream_bytes

    def open_scope(self, uops: Sequence[UOp]) -> "CpuScope":
        """Return the state for one kernel."""
        scope = CpuScope(uops, self.stream_bytes, self.capabilities)
        if any(u.op is Ops.DEFINE_VAR for u in uops):
            preamble.branching(scope.define)
        return scope

    def assemble(self, scope: Scope, name: str) -> str:
        """Return the body with plain parameters, and the function that the pool calls."""
        parameters = [*self.parameters(scope), "long long thread"]
        arguments = [f"bufs[{slot}]" for slot in scope.params]
        arguments += [f"({self.type_name(scope, u.dtype)})vals[{i}]" for i, u in enumerate(scope.variables)]
        loops = [name for name in ("SCALAR_LOOPS", "BRANCHING_LOOPS") if name in scope.definitions]
        prefix = f"{loops[0]} " if loops else ""
        return "\n".join(
            (
                f"{prefix}static void {name}_body({', '.join(parameters)}) {{",
                *scope.lines,
                *(["  finish_streams();"] if "finish_streams" in scope.definitions else []),
                "}",
                f"{prefix}void {name}(void *const *bufs, const long long *vals, long long thread) {{",
                f"  {name}_body({', '.join([*arguments, 'thread'])});",
                "}",
            )
        )

    def write_accumulate(self, scope: Scope, u: UOp) -> None:
        """Write what a register becomes; products of bytes keep gcc's loop vectorizer out.

        gcc 12 at -O3 -march=native with 512-bit vectors gets reductions of 8-bit products wrong.
        """
        if u.src[1].op is Ops.MUL and u.src[1].dtype.itemsize == 1:
            preamble.unvectorized(scope.define)
        super().write_accumulate(scope, u)

    def matrix_function(self, scope: Scope, u: UOp) -> str:
        """Define a sum of products of neighbours; return the function's name."""
        return dot_product(scope.define, u.arg)

    def workitem(self, name: str) -> str:
        """Return the expression of a launch position: a CPU has none but its threads."""
        return "thread" if name == "thread" else super().workitem(name)

    def write_special(self, scope: Scope, u: UOp) -> None:
        """Name the piece of the THREAD axis; it is a parameter already."""
        scope.names[u] = f"(({self.type_name(scope, u.dtype)}){self.workitem(u.arg)})"

    def write_range(self, scope: Scope, u: UOp) -> None:
        """Open a loop; the compiler writes out innermost steps in order."""
        assert isinstance(scope, CpuScope), "CpuRenderer opens its own scopes"
        if u in scope.in_order:
            scope.line("#pragma GCC unroll 4")
        super().write_range(scope, u)

    def write_local(self, scope: Scope, u: UOp) -> None:
        """Declare a staged tile: memory of the thread, aligned for its vectors."""
        scope.names[u] = f"local{u.arg[0]}"
        scope.line(f"{self.storage_type(u.dtype)} {scope.names[u]}[{u.arg[1]}] __attribute__((aligned(64)));")

    # --- types and constants ---

    def value_type(self, scope: Scope, u: UOp) -> str:
        """Return the type of the variable that holds `u`: `volatile` keeps it in memory."""
        assert isinstance(scope, CpuScope), "CpuRenderer opens its own scopes"
        return ("volatile " if u in scope.spilled else "") + super().value_type(scope, u)

    def type_name(self, scope: Scope, dtype: DType) -> str:
        """Return the type of a value (of vectors of bool: see `value_type`)."""
        if dtype.count == 1:
            return self.type_names[dtype]
        assert isinstance(scope, CpuScope), "CpuRenderer opens its own scopes"
        name = scope.types.get(dtype)
        if name is None:
            short = preamble.SHORT_NAMES[dtype.scalar()]
            name = scope.types[dtype] = preamble.vector_type(scope.define, short, dtype.count)
        return name

    def storage_type(self, dtype: DType) -> str:
        """Return the type of a buffer's elements: a bool is a byte."""
        return preamble.scalar_type(preamble.SHORT_NAMES[dtype.scalar()])

    def vector(self, scope: Scope, dtype: DType, parts: Sequence[str]) -> str:
        """Return a vector of scalar expressions; truth as a mask of bytes."""
        if is_bool(dtype):
            return super().vector(scope, dtype, parts)
        return self._filled(scope, preamble.SHORT_NAMES[dtype.scalar()], parts)

    def _filled(self, scope: Scope, short: str, lanes: Sequence[str]) -> str:
        if len(set(lanes)) == 1:
            return f"{preamble.broadcast(scope.define, short, len(lanes))}({lanes[0]})"
        return f"({preamble.vector_type(scope.define, short, len(lanes))}){{{', '.join(lanes)}}}"

    # --- masks ---

    def mask_type(self, scope: Scope, bits: int, count: int) -> str:
        """Return the type of a mask."""
        return preamble.vector_type(scope.define, f"i{bits}", count)

    def resize_mask(self, scope: Scope, mask: str, own: int, bits: int, count: int) -> str:
        """Return a mask in lanes of another width."""
        return preamble.conversion(scope.define, f"i{own}", f"i{bits}", count, mask)

    def fill_mask(self, scope: Scope, bits: int, lanes: Sequence[str]) -> str:
        """Return the mask with these lanes."""
        return self._filled(scope, f"i{bits}", lanes)

    def select(self, scope: Scope, dtype: DType, mask: str, chosen: str, other: str) -> str:
        """Return one blend."""
        function = preamble.select(scope.define, preamble.SHORT_NAMES[dtype.scalar()], dtype.count)
        return f"{function}({mask}, {chosen}, {other})"

    def cast_mask(self, scope: Scope, u: UOp) -> str:
        """Return 1 where a mask holds and 0 elsewhere, by the bits of that 1."""
        bits = u.dtype.itemsize * 8
        ones = f"({self.mask_type(scope, bits, u.dtype.count)}){self.const(scope, u.dtype, 1)}"
        return f"(({self.type_name(scope, u.dtype)})({self.as_mask(scope, u.src[0], bits)} & {ones}))"

    # --- memory ---

    def write_index(self, scope: Scope, u: UOp) -> None:
        """Write an address; its constant part is one of the instruction that uses it.

        Added in 64 bits it needs none of its own: gcc leaves a sum in `int` where it may wrap, and extends
        each. A tile of 6 x 2 vectors of 8 floats ran at 72 GFLOP/s on a core of an EPYC (Zen 3), now at 85.
        """
        memory, index = u.src[:2]
        if index.op is Ops.ADD and index.src[1].op is Ops.CONST:
            scope.inline(u, f"({scope.names[memory]}+({scope.names[index.src[0]]}{index.src[1].arg:+}ll))")
        else:
            super().write_index(scope, u)

    def write_load(self, scope: Scope, u: UOp) -> None:
        """Load, and prefetch a later step's load; addresses beyond the buffer stay unread.

        What several products read stays in a register.
        """
        assert isinstance(scope, CpuScope), "CpuRenderer opens its own scopes"
        if ahead := scope.prefetches.get(u):
            place = f"{scope.names[u.src[0]]}+{ahead.elements}"
            scope.line(f"__builtin_prefetch({place}, 0, {_IN_FIRST if ahead.is_near else _IN_SECOND});")
        super().write_load(scope, u)
        if u in scope.held:
            scope.line(f"{preamble.hold(scope.define)}({scope.names[u]});")

    def load(self, scope: Scope, u: UOp, pointer: str) -> str:
        """Return the value at `pointer`, which is aligned to its element only."""
        if u.dtype.count == 1:
            return super().load(scope, u, pointer)
        value = f"*(const {self.type_name(scope, u.dtype)}u *){pointer}"
        if is_bool(u.dtype):
            return f"({self.mask_type(scope, 8, u.dtype.count)})({value} != 0)"
        # both sides of a gate must have one type: gcc tells the vector in memory from the one in a register
        return f"({self.type_name(scope, u.dtype)}){value}" if len(u.src) > 1 else value

    def store(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the statement that writes `value` to `pointer`."""
        dtype = u.src[1].dtype
        if dtype.count == 1:
            return f"*{pointer} = {value}"
        if is_bool(dtype):
            value = f"({self.type_name(scope, dtype)})(-{self.as_mask(scope, u.src[1], 8)})"
        if dtype.nbytes == preamble.CACHE_LINE and is_streamed(scope, u):
            short = preamble.SHORT_NAMES[dtype.scalar()]
            return f"{preamble.streaming_store(scope.define, short, dtype.count)}({pointer}, {value})"
        return f"*({self.type_name(scope, dtype)}u *){pointer} = {value}"

    # --- expressions ---

    def lane(self, vector: str, index: int) -> str:
        """Return one lane of a vector variable."""
        return f"{vector}[{index}]"

    def division(self, scope: Scope, operator: str, dtype: DType) -> str:
        """Define / or % without traps; return the function's name."""
        return preamble.division(scope.define, operator, dtype.scalar(), dtype.count)

    def expression(self, scope: Scope, u: UOp) -> str:
        """Return the expression of a node; lanes of two vectors are one shuffle."""
        if not (vectors := shuffled_vectors(u)):
            return super().expression(scope, u)
        lanes = (s.arg[0] + u.dtype.count * vectors.index(s.src[0]) for s in u.src)
        function = shuffle(scope.define, preamble.SHORT_NAMES[u.dtype.scalar()], u.dtype.count)
        return f"{function}({', '.join([*(scope.names[v] for v in vectors), *map(str, lanes)])})"

    def alu(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the expression of an ALU node that gives numbers, or one truth."""
        if u.op is Ops.WHERE and (operator := _extreme_operator(u)):
            short = preamble.SHORT_NAMES[u.dtype.scalar()]
            return f"{preamble.extreme(scope.define, operator, short, u.dtype.count)}({args[1]}, {args[2]})"
        return super().alu(scope, u, args)

    def maximum(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the greater of two; a NaN in either wins."""
        a, b = args
        count, dtype = u.dtype.count, u.dtype.scalar()
        if is_number(u.src[0]) or is_number(u.src[1]):
            low, x = (a, b) if is_number(u.src[0]) else (b, a)
            return f"{preamble.clamp_below(scope.define, dtype, count)}({x}, {low})"
        return f"{preamble.maximum(scope.define, dtype, count)}({a}, {b})"

    def call(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the call of a function of the preamble."""
        assert isinstance(scope, CpuScope), "CpuRenderer opens its own scopes"
        function = scope.functions.get((u.op, u.dtype))
        if function is None:
            function = scope.functions[u.op, u.dtype] = self._function(scope, u)
        return f"{function}({', '.join(args)})"

    def _function(self, scope: Scope, u: UOp) -> str:
        short, count = preamble.SHORT_NAMES[u.dtype.scalar()], u.dtype.count
        match u.op:
            case Ops.SQRT | Ops.TRUNC:
                return preamble.lanewise(scope.define, self.functions[u.op], short, count)
            case Ops.FMOD:
                return float_remainder(scope.define, u.dtype.scalar(), count)
            case Ops.SIN | Ops.COS:
                return sine(scope.define, u.op, u.dtype.scalar(), count)
            case Ops.MULACC:
                return preamble.fused_multiply_add(scope.define, short, count)
            case _:
                raise NotImplementedError(f"C on CPUs has no {u.op!r}: codegen should have decomposed it")

    # --- conversions ---

    def cast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the value in another dtype."""
        source, to, number = u.src[0].dtype, u.dtype, u.src[0]
        is_exact = is_int(source) and is_float(to) and to.scalar() not in HALVES
        if is_exact and source.itemsize >= 4 and 0 <= number.vmin and number.vmax < 1 << 31:
            # int32 is what vectors of every processor convert to floats
            through = dtypes.int32.vec(to.count)
            return self.convert(scope, through, to, self.convert(scope, source, through, value))
        return super().cast(scope, u, value)

    def float_of_bits(self, scope: Scope, dtype: DType) -> str:
        """Return the function from the bits of 16-bit floats to float32."""
        widen = float_from_half if dtype.scalar() is dtypes.float16 else float_from_bfloat
        return widen(scope.define, dtype.count)

    def bits_of_float(self, scope: Scope, dtype: DType) -> str:
        """Return the function from float32 to the bits of 16-bit floats."""
        narrow = half_from_float if dtype.scalar() is dtypes.float16 else bfloat_from_float
        return narrow(scope.define, dtype.count)

    def bitcast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the bits in another dtype of the same size."""
        source, to = u.src[0].dtype, u.dtype
        short_from, short_to = preamble.SHORT_NAMES[source.scalar()], preamble.SHORT_NAMES[to.scalar()]
        if to.count > 1:
            if is_bool(source):
                value = f"(-{self.as_mask(scope, u.src[0], 8)})"
            return f"({value} != 0)" if is_bool(to) else f"(({self.type_name(scope, to)}){value})"
        if is_bool(to):
            return f"({value} != 0)"
        if short_from == short_to:
            return value
        return f"{preamble.reinterpret(scope.define, short_to, short_from)}({value})"

    def convert(self, scope: Scope, source: DType, to: DType, value: str) -> str:
        """Return numbers in another dtype."""
        if to.count == 1 or source is to:
            return super().convert(scope, source, to, value)
        short, short_to = preamble.SHORT_NAMES[source.scalar()], preamble.SHORT_NAMES[to.scalar()]
        return preamble.conversion(scope.define, short, short_to, to.count, value)


def _extreme_operator(u: UOp) -> str | None:
    """Return the operator by which the WHERE `u`, of float vectors, compares just the two."""
    is_choice = u.src[0].op is Ops.CMPLT
    if not is_choice or u.dtype.count == 1 or u.dtype.scalar() not in (dtypes.float32, dtypes.float64):
        return None
    compared, choices = u.src[0].src, u.src[1:]
    if compared == choices:
        return "<"
    return ">" if compared == choices[::-1] else None


class CpuScope(MaskScope):
    """The state of one kernel, with what only CPUs care for.

    Attributes:
        streamed: slots of buffers too large for the caches that the kernel writes and never reads.
        spilled: accumulators that are kept in memory.
        in_order: innermost loops whose steps keep their order.
        prefetches: what loads ask for ahead.
        held: loads whose vectors stay in registers.
        types: the vectors that are defined.
        functions: the functions that are defined, by operation.
    """

    def __init__(self, uops: Sequence[UOp], stream_bytes: int, capabilities: Capabilities) -> None:
        super().__init__(uops)
        self.types: dict[DType, str] = {}
        self.functions: dict[tuple[Ops, DType], str] = {}
        sizes = {slot: least(u.arg[1]) * u.dtype.itemsize for slot, u in self.params.items()}
        large = self.written & {slot for slot, nbytes in sizes.items() if nbytes >= stream_bytes}
        loaded = (buffer_of(u) for u in uops if u.op is Ops.LOAD) if large else ()
        self.streamed = large - {buffer.arg[0] for buffer in loaded if buffer.op is Ops.PARAM}
        self.spilled = spilled_accumulators(uops, capabilities.vector_registers)
        innermost = innermost_loops(uops)
        self.in_order = {loop.range for loop in innermost if loop.range.arg.kind is AxisType.ORDERED}
        self.prefetches = prefetches(innermost, capabilities.cache_bytes[-1])
        self.held = loads_to_hold(innermost, capabilities.vector_registers)


def is_streamed(scope: Scope, store: UOp) -> bool:
    """Say whether what `store` writes should go past the caches."""
    assert isinstance(scope, CpuScope), "CpuRenderer opens its own scopes"
    buffer = buffer_of(store)
    return buffer.op is Ops.PARAM and buffer.arg[0] in scope.streamed

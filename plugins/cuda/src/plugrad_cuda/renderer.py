"""Renders CUDA C: one thread's scalar code; vectors only where memory is read or written.

float16 and bfloat16 are their bits, converted at each cast. A vector in memory is one access where its
address is a multiple of its size; that buffers begin so is checked by the runner, and where one does not, the
same source is compiled once more with UNALIGNED defined.
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from plugrad.dtype import ConstType, DType, dtypes
from plugrad.renderer.cstyle import CStyleRenderer
from plugrad.renderer.exact import ExactRenderer
from plugrad.renderer.scope import Scope
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops, UOp
from plugrad_cuda import preamble
from plugrad_cuda.capabilities import STATIC_SHARED_BYTES, capabilities
from plugrad_cuda.layout import DYNAMIC_SHARED, is_aligned, shared_offsets

HALVES = (dtypes.float16, dtypes.bfloat16)
_FUNCTIONS_OF_BITS = {
    (dtypes.int32, dtypes.float32): "__float_as_int",
    (dtypes.uint32, dtypes.float32): "__float_as_uint",
    (dtypes.float32, dtypes.int32): "__int_as_float",
    (dtypes.float32, dtypes.uint32): "__uint_as_float",
    (dtypes.int64, dtypes.float64): "__double_as_longlong",
    (dtypes.float64, dtypes.int64): "__longlong_as_double",
}


class CudaRenderer(ExactRenderer):
    """CUDA C++ for compute capability 7.0 and newer.

    A kernel takes its buffers by slot, then its variables as `long long`.
    """

    kernel_prefix: ClassVar[str] = 'extern "C" __global__ '
    local_prefix: ClassVar[str] = "__shared__ __align__(16) "
    restrict: ClassVar[str] = "__restrict__"
    barrier: ClassVar[str] = "__syncthreads();"
    inline: ClassVar[str] = preamble.INLINE
    infinity: ClassVar[str] = "__int_as_float(0x7f800000)"
    nan: ClassVar[str] = "__int_as_float(0x7fc00000)"
    type_names: ClassVar[Mapping[DType, str]] = {
        **CStyleRenderer.type_names,
        dtypes.int64: "long long",
        dtypes.uint64: "unsigned long long",
    }

    def __init__(self, target: Target, chosen: Capabilities | None = None) -> None:
        super().__init__(chosen or capabilities(target), frozenset(HALVES))

    def open_scope(self, uops: Sequence[UOp]) -> "CudaScope":
        """Return the state for one kernel."""
        return CudaScope(uops)

    def assemble(self, scope: Scope, name: str) -> str:
        """Return the kernel; its variables are narrowed first."""
        assert isinstance(scope, CudaScope), "CudaRenderer opens its own scopes"
        first = [
            f"  const {self.type_name(scope, u.dtype)} {scope.names[u]} = {scope.names[u]}_given;"
            for u in scope.variables
        ]
        # without the least number of blocks on a multiprocessor, ptxas of CUDA 12 falls back to 32 registers
        # and a stack for kernels that want more than there are
        bounds = f"__launch_bounds__({scope.group_size}, 1)"
        head = f"{self.kernel_prefix}void {bounds} {name}({', '.join(self.parameters(scope))}) {{"
        return "\n".join((*scope.before, head, *first, *scope.lines, "}"))

    def parameters(self, scope: Scope) -> list[str]:
        """Return the declarations of the buffers by slot, then of the variables by name."""
        buffers = super().parameters(scope)[: len(scope.params)]
        return [*buffers, *(f"const long long {scope.names[u]}_given" for u in scope.variables)]

    def workitem(self, name: str) -> str:
        """Return the expression of a launch position."""
        if name == "thread":
            return super().workitem(name)
        return f"{'blockIdx' if name[0] == 'g' else 'threadIdx'}.{'xyz'[int(name[-1])]}"

    def write_local(self, scope: Scope, u: UOp) -> None:
        """Declare shared memory, by itself or as part of the launch's."""
        assert isinstance(scope, CudaScope), "CudaRenderer opens its own scopes"
        if scope.shared_bytes <= STATIC_SHARED_BYTES:
            return super().write_local(scope, u)
        storage = self.storage_type(u.dtype)
        scope.names[u] = f"local{u.arg[0]}"
        scope.line(f"{storage} *{scope.names[u]} = ({storage} *)(shared_memory + {scope.offsets[u]});")
        scope.before = [
            f"{DYNAMIC_SHARED}{scope.shared_bytes}",
            "extern __shared__ __align__(16) unsigned char shared_memory[];",
        ]
        return None

    # --- matrices ---

    def write(self, scope: Scope, u: UOp) -> None:
        """Write one node.

        Copies that need no register are calls that stay in their place.
        """
        if u.op is Ops.COPY_ASYNC:
            return self._write_copy(scope, u)
        if u.op is Ops.COMMIT and self.capabilities.async_copy_bytes:
            return scope.line(f"{preamble.commit_copies(scope.define)}();")
        return super().write(scope, u)

    def matrix_function(self, scope: Scope, u: UOp) -> str:
        """Define the call that all threads of a warp make; return its name."""
        if u.op is Ops.LOAD_MATRIX:
            return preamble.matrix_load(scope.define, u.arg, self.type_name(scope, u.dtype), u.dtype.count)
        types = [self.type_name(scope, s.dtype) for s in u.src]
        return preamble.matrix_instruction(scope.define, u.arg, *types)

    def write_barrier(self, scope: Scope, u: UOp) -> None:
        """Wait for the block, where needed for copies that all threads wait for first."""
        if u.arg is not None and self.capabilities.async_copy_bytes:
            scope.line(f"{preamble.wait_for_copies(scope.define, u.arg)}();")
        super().write_barrier(scope, u)

    def _write_copy(self, scope: Scope, u: UOp) -> None:
        """Write a copy that needs no register, except of odd buffers and places."""
        to, source, *gate = (scope.names[s] for s in u.src)
        if u.arg > 1 and not all(is_aligned(place, u.arg) for place in u.src[:2]):
            lanes = (f"{source}[{i}]" for i in range(u.arg))
            if gate:
                lanes = (f"{gate[0]} ? {lane} : 0" for lane in lanes)
            return scope.line(f"{', '.join(f'{to}[{i}] = {lane}' for i, lane in enumerate(lanes))};")
        function = preamble.async_copy(scope.define, u.arg * u.src[0].dtype.itemsize)
        arguments = f"{to}, {source}, {gate[0] if gate else 1}"
        if u.arg == 1:
            return scope.line(f"{function}({arguments});")
        vector = self._with_access(scope, u, u.src[0].dtype.vec(u.arg))
        scope.define("COPY", _COPY)
        return scope.line(f"COPY({function}, {vector}, {arguments});")

    # --- types and constants ---

    def type_name(self, scope: Scope, dtype: DType) -> str:
        """Return the type of a value."""
        if dtype.count == 1:
            return self.scalar_type(dtype)
        scalar = dtype.scalar()
        short = "uint16" if scalar in HALVES else scalar.name
        return preamble.vector_type(
            scope.define, self.storage_type(scalar), short, scalar.itemsize, dtype.count
        )

    def literal(self, dtype: DType, value: ConstType) -> str:
        """Return a scalar constant."""
        if dtype is dtypes.float64 and not math.isfinite(value):
            return f"(double){super().literal(dtype, value)}"
        return super().literal(dtype, value)

    def vector(self, scope: Scope, dtype: DType, parts: Sequence[str]) -> str:
        """Return a vector of scalar expressions, which braces do not convert to narrower types."""
        if dtype.itemsize < 4:
            parts = [f"({self.storage_type(dtype)}){part}" for part in parts]
        return f"({self.type_name(scope, dtype)}{{{{{', '.join(parts)}}}}})"

    def lane(self, vector: str, index: int) -> str:
        """Return one lane of a vector variable."""
        return f"{vector}.lane[{index}]"

    # --- memory ---

    def load(self, scope: Scope, u: UOp, pointer: str) -> str:
        """Return the value at `pointer`, by one access or, without alignment, by elements."""
        if u.dtype.count == 1:
            return super().load(scope, u, pointer)
        if is_aligned(u.src[0], u.dtype.count):
            return f"LOAD({self._with_access(scope, u, u.dtype)}, {pointer})"
        return self.vector(scope, u.dtype, [f"{pointer}[{lane}]" for lane in range(u.dtype.count)])

    def store(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the statement that writes `value` to `pointer`."""
        dtype = u.src[1].dtype
        if dtype.count == 1:
            return f"*{pointer} = {value}"
        if is_aligned(u.src[0], dtype.count):
            return f"STORE({self._with_access(scope, u, dtype)}, {pointer}, {value})"
        value = scope.names[u.src[1]]
        lanes = [f"{pointer}[{lane}] = {self.lane(value, lane)}" for lane in range(dtype.count)]
        return ", ".join(lanes)

    def update(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the call that combines `value` with the element at `pointer` in one step."""
        dtype = u.src[1].dtype
        if u.arg is Ops.MAX:
            return f"atomicMax({pointer}, {value})"
        if dtype is dtypes.int64:  # sums of both signs are the same bits
            return f"atomicAdd((unsigned long long *){pointer}, (unsigned long long){value})"
        return f"atomicAdd({pointer}, {value})"

    def write_store(self, scope: Scope, u: UOp) -> None:
        """Write to memory; a vector that goes lane by lane needs a name."""
        value = u.src[1]
        if value.dtype.count > 1 and not scope.names[value].isidentifier():
            scope.names[value] = self._store_in_variable(scope, value)
        super().write_store(scope, u)

    def _store_in_variable(self, scope: Scope, value: UOp) -> str:
        name = scope.fresh("wide")
        scope.line(f"{self.type_name(scope, value.dtype)} {name} = {scope.names[value]};")
        return name

    def _with_access(self, scope: Scope, u: UOp, dtype: DType) -> str:
        scope.define("ACCESS", _ACCESS)
        return self.type_name(scope, dtype)

    # --- expressions ---

    def alu(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the expression of an ALU node on rendered sources."""
        if u.op is Ops.NEG and u.dtype is dtypes.int16:
            return f"{preamble.negated_short(scope.define)}({args[0]})"
        return super().alu(scope, u, args)

    def call(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the call of a built-in function; those of float end in f."""
        name = self.functions.get(u.op)
        if name is None or u.op.name not in self.capabilities.native_ops:
            return super().call(scope, u, args)
        return f"{name}{'f' if u.dtype is dtypes.float32 else ''}({', '.join(args)})"

    # --- conversions ---

    def float_of_bits(self, scope: Scope, dtype: DType) -> str:
        """Return the function from the bits of a 16-bit float to float32."""
        widen = preamble.float_from_half if dtype is dtypes.float16 else preamble.float_from_bfloat
        return widen(scope.define)

    def bits_of_float(self, scope: Scope, dtype: DType) -> str:
        """Return the function from float32 to the bits of a 16-bit float."""
        narrow = preamble.half_from_float if dtype is dtypes.float16 else preamble.bfloat_from_float
        return narrow(scope.define)

    def reinterpret(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the BITCAST `u`, by a function of the language where it has one."""
        source, to = u.src[0].dtype, u.dtype
        function = _FUNCTIONS_OF_BITS.get((to, source)) or preamble.reinterpret(
            scope.define, self.type_names[to], self.type_names[source], to.name, source.name
        )
        return f"{function}({value})"


_ACCESS = """#ifdef UNALIGNED
template <typename V, typename T> static __device__ __forceinline__ V load_lanes(const T *p) {
  V v;
  for (int i = 0; i < (int)(sizeof(V) / sizeof(T)); i++) v.lane[i] = p[i];
  return v;
}
template <typename V, typename T> static __device__ __forceinline__ void store_lanes(T *p, V v) {
  for (int i = 0; i < (int)(sizeof(V) / sizeof(T)); i++) p[i] = v.lane[i];
}
#define LOAD(V, p) load_lanes<V>(p)
#define STORE(V, p, v) store_lanes<V>(p, v)
#else
#define LOAD(V, p) (*(const V *)(p))
#define STORE(V, p, v) (*(V *)(p) = (v))
#endif"""


_COPY = """#ifdef UNALIGNED
#define COPY(copy, V, to, from, is_there) STORE(V, to, (is_there) ? LOAD(V, from) : V{})
#else
#define COPY(copy, V, to, from, is_there) copy(to, from, is_there)
#endif"""


class CudaScope(Scope):
    """The state of one kernel.

    Attributes:
        before: lines that stand before the kernel.
        shared_bytes: shared memory in all.
        offsets: where in it each DEFINE_LOCAL begins.
    """

    def __init__(self, uops: Sequence[UOp]) -> None:
        super().__init__(uops)
        self.before: list[str] = []
        self.offsets, self.shared_bytes = shared_offsets(uops)

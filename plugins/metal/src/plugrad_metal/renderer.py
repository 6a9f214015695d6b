"""Render the Metal Shading Language: scalar code of one thread, vectors only in memory.

Vectors in memory are packed ones, which may begin at any element. float16 is `half`. bfloat16 is only stored,
and converted at each cast: from MSL 3.1 on it is `bfloat`, before that its bits.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from plugrad.dtype import DType, dtypes
from plugrad.renderer.exact import ExactRenderer, refuse_absent_dtypes
from plugrad.renderer.scope import Scope, buffer_of
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops, UOp
from plugrad_metal import preamble
from plugrad_metal.capabilities import BFLOAT_SINCE, capabilities, language_of

_LANES = "xyzw"


class MetalRenderer(ExactRenderer):
    """MSL 2.4 and newer.

    A kernel takes its buffers in the order of their slots, then its variables as one array of `long`, then
    its place in the grid.
    """

    kernel_prefix: ClassVar[str] = "kernel "
    buffer_prefix: ClassVar[str] = "device "
    local_prefix: ClassVar[str] = "threadgroup "
    restrict: ClassVar[str] = ""
    barrier: ClassVar[str] = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    literal_suffix: ClassVar[Mapping[DType, str]] = {
        dtypes.uint32: "u",
        dtypes.int64: "l",
        dtypes.uint64: "ul",
        dtypes.float32: "f",
        dtypes.float16: "f",
        dtypes.bfloat16: "f",
    }
    type_names: ClassVar[Mapping[DType, str]] = {
        dtypes.bool: "bool",
        dtypes.int8: "char",
        dtypes.uint8: "uchar",
        dtypes.int16: "short",
        dtypes.uint16: "ushort",
        dtypes.int32: "int",
        dtypes.uint32: "uint",
        dtypes.int64: "long",
        dtypes.uint64: "ulong",
        dtypes.float16: "half",
        dtypes.bfloat16: "bfloat",
        dtypes.float32: "float",
    }

    def __init__(self, target: Target, chosen: Capabilities | None = None) -> None:
        has_bfloat = language_of(target) >= BFLOAT_SINCE
        as_bits = frozenset[DType]() if has_bfloat else frozenset({dtypes.bfloat16})
        super().__init__(chosen or capabilities(target), as_bits)
        self.target = target

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return the source of one kernel.

        Raises:
            DtypeError: it needs a dtype that GPUs of Apple do not have.
        """
        refuse_absent_dtypes(uops, self.capabilities, self.target)
        return super().render(uops, name)

    def open_scope(self, uops: Sequence[UOp]) -> Scope:
        """Return the state for one kernel."""
        scope = super().open_scope(uops)
        scope.define("prologue", preamble.PROLOGUE)
        return scope

    def assemble(self, scope: Scope, name: str) -> str:
        """Return the kernel; its variables are unpacked first."""
        first = [
            f"  const {self.type_name(scope, u.dtype)} {scope.names[u]} = values[{position}];"
            for position, u in enumerate(scope.variables)
        ]
        head = f"[[kernel, max_total_threads_per_threadgroup({scope.group_size})]]"
        parameters = ", ".join(self.parameters(scope))
        return "\n".join((head, f"void {name}({parameters}) {{", *first, *scope.lines, "}"))

    def parameters(self, scope: Scope) -> list[str]:
        """Return the declarations of the buffers, the variables' values, and the place in the grid."""
        buffers = [
            f"{self.buffer_prefix}{'' if slot in scope.written else 'const '}{self.storage_type(u.dtype)} "
            f"*{scope.names[u]} [[buffer({position})]]"
            for position, (slot, u) in enumerate(scope.params.items())
        ]
        if scope.variables:
            buffers.append(f"constant long *values [[buffer({len(buffers)})]]")
        return [
            *buffers,
            "uint3 group [[threadgroup_position_in_grid]]",
            "uint3 item [[thread_position_in_threadgroup]]",
        ]

    def workitem(self, name: str) -> str:
        """Return the expression of a launch position."""
        if name == "thread":
            return super().workitem(name)
        return f"{'group' if name[0] == 'g' else 'item'}.{_LANES[int(name[-1])]}"

    def matrix_function(self, scope: Scope, u: UOp) -> str:
        """Define the call that all threads of a simdgroup make; return its name."""
        factor, result = self.type_name(scope, u.src[0].dtype), self.type_name(scope, u.dtype)
        return preamble.matrix_product(scope.define, u.arg, factor, result)

    # --- types and constants ---

    def vector(self, scope: Scope, dtype: DType, parts: Sequence[str]) -> str:
        """Return a vector of scalar expressions, which constructors do not narrow."""
        if dtype.itemsize < 4:
            parts = [f"({self.storage_type(dtype)}){part}" for part in parts]
        one_for_all = parts[:1] if len(set(parts)) == 1 else parts
        return f"{self.type_name(scope, dtype)}({', '.join(one_for_all)})"

    def lane(self, vector: str, index: int) -> str:
        """Return one lane of a vector variable."""
        return f"{vector}.{_LANES[index]}"

    # --- memory ---

    def load(self, scope: Scope, u: UOp, pointer: str) -> str:
        """Return the value at `pointer`, which is aligned to its element only."""
        if u.dtype.count == 1:
            return super().load(scope, u, pointer)
        space = "threadgroup" if buffer_of(u).op is Ops.DEFINE_LOCAL else "device"
        element = self._packed_element(u.dtype)
        value = f"{element}{u.dtype.count}(*({space} const packed_{element}{u.dtype.count} *){pointer})"
        type_name = self.type_name(scope, u.dtype)
        return value if type_name == f"{element}{u.dtype.count}" else f"as_type<{type_name}>({value})"

    def store(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the statement that writes `value` to `pointer`."""
        dtype = u.src[1].dtype
        if dtype.count == 1:
            return f"*{pointer} = {value}"
        space = "threadgroup" if buffer_of(u).op is Ops.DEFINE_LOCAL else "device"
        element = self._packed_element(dtype)
        packed = f"packed_{element}{dtype.count}"
        if self.type_name(scope, dtype) != f"{element}{dtype.count}":
            value = f"as_type<{element}{dtype.count}>({value})"
        return f"*({space} {packed} *){pointer} = {packed}({value})"

    def update(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the call that combines `value` with the element at `pointer` in one step."""
        kind = self.type_names[u.src[1].dtype]
        word = "add" if u.arg is Ops.ADD else "max"
        place = f"(device atomic_{kind} *){pointer}"
        return f"atomic_fetch_{word}_explicit({place}, {value}, memory_order_relaxed)"

    def _packed_element(self, dtype: DType) -> str:
        """Return the element of the packed vector in memory: there are none of ulong."""
        storage = self.storage_type(dtype)
        return "long" if storage == "ulong" else storage

    # --- expressions ---

    def call(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the call of a function of the language, in its exact variant."""
        text = super().call(scope, u, args)
        return f"precise::{text}" if u.op is Ops.SQRT and u.dtype is dtypes.float32 else text

    # --- conversions ---

    def float_of_bits(self, scope: Scope, dtype: DType) -> str:
        """Return the function from the bits of a bfloat16 to float32."""
        return preamble.float_from_bfloat(scope.define)

    def bits_of_float(self, scope: Scope, dtype: DType) -> str:
        """Return the function from float32 to the bits of a bfloat16."""
        return preamble.bfloat_from_float(scope.define)

    def reinterpret(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the BITCAST `u`; small integers are ints by now, after C++'s promotion."""
        return f"as_type<{self.scalar_type(u.dtype)}>(({self.storage_type(u.src[0].dtype)}){value})"

"""Render OpenCL C: scalar work-items for GPUs, loops over vectors for CPUs.

Which of the two follows from the capabilities, and those from what the probe wrote into the target. A device
without cl_khr_fp16 keeps float16 as its bits, as all keep bfloat16, and converts at each cast.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from plugrad.dtype import DType, dtypes, is_bool, is_float
from plugrad.renderer.exact import refuse_absent_dtypes
from plugrad.renderer.masks import MaskRenderer, MaskScope
from plugrad.renderer.scope import Scope, buffer_of
from plugrad.target import Capabilities, Target
from plugrad.uop import Ops, UOp
from plugrad_opencl.capabilities import ATOMICS_OF_64_BITS, capabilities
from plugrad_opencl.preamble import Preamble, numbered

_BOUNDED = frozenset({Ops.EXP, Ops.EXP2, Ops.LOG2})
_ATOMIC_WORDS: Mapping[Ops, str] = {Ops.ADD: "add", Ops.MAX: "max"}


class OpenClRenderer(MaskRenderer):
    """OpenCL C 1.2.

    A kernel takes its buffers by slot, its variables as `long`, and for each buffer the byte it begins at.
    """

    kernel_prefix: ClassVar[str] = "__kernel "
    buffer_prefix: ClassVar[str] = "__global "
    local_prefix: ClassVar[str] = "__local "
    barrier: ClassVar[str] = "barrier(CLK_LOCAL_MEM_FENCE);"
    literal_suffix: ClassVar[Mapping[DType, str]] = {
        dtypes.uint32: "u",
        dtypes.int64: "l",
        dtypes.uint64: "ul",
        dtypes.float32: "f",
        dtypes.float16: "h",
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
        dtypes.bfloat16: "ushort",
        dtypes.float32: "float",
        dtypes.float64: "double",
    }

    def __init__(self, target: Target, chosen: Capabilities | None = None) -> None:
        chosen = chosen or capabilities(target)
        super().__init__(chosen, frozenset({dtypes.float16, dtypes.bfloat16}) - chosen.compute_dtypes)
        self.target = target

    def render(self, uops: Sequence[UOp], name: str) -> str:
        """Return the source of one kernel.

        Raises:
            DtypeError: it needs a dtype that the device does not have.
        """
        refuse_absent_dtypes(uops, self.capabilities, self.target)
        return super().render(uops, name)

    def open_scope(self, uops: Sequence[UOp]) -> "OpenClScope":
        """Return the state for one kernel."""
        scope = OpenClScope(uops)
        extensions = [f"#pragma OPENCL EXTENSION {e} : enable" for e in self._extensions(uops)]
        scope.define("pragmas", "\n".join((*extensions, "#pragma OPENCL FP_CONTRACT OFF")))
        return scope

    def assemble(self, scope: Scope, name: str) -> str:
        """Return the source of the kernel, which unpacks shifts and variables first."""
        assert isinstance(scope, OpenClScope), "OpenClRenderer opens its own scopes"
        first = [
            f"  {scope.names[u]} += shift{slot} / {u.dtype.itemsize};"
            if u.dtype.itemsize > 1
            else f"  {scope.names[u]} += shift{slot};"
            for slot, u in scope.params.items()
        ]
        first += [
            f"  const {self.type_name(scope, u.dtype)} {scope.names[u]} = {scope.names[u]}_given;"
            for u in scope.variables
        ]
        parameters = ", ".join(self.parameters(scope))
        head = f"{self.kernel_prefix}{scope.group_attribute}void {name}({parameters}) {{"
        return "\n".join((head, *first, *scope.locals, *scope.lines, "}"))

    def parameters(self, scope: Scope) -> list[str]:
        """Return the declarations of the buffers, the variables, and where the buffers begin."""
        buffers = super().parameters(scope)[: len(scope.params)]
        variables = [f"const long {scope.names[u]}_given" for u in scope.variables]
        return [*buffers, *variables, *(f"const uint shift{slot}" for slot in scope.params)]

    def workitem(self, name: str) -> str:
        """Return the expression of a launch position; a thread is a group of one."""
        if name == "thread":
            return "get_group_id(0)"
        return f"get_{'group' if name[0] == 'g' else 'local'}_id({name[-1]})"

    def write_local(self, scope: Scope, u: UOp) -> None:
        """Declare memory that a group shares. The language allows it at a kernel's beginning only."""
        assert isinstance(scope, OpenClScope), "OpenClRenderer opens its own scopes"
        scope.names[u] = f"local{u.arg[0]}"
        scope.locals.append(f"  __local {self.storage_type(u.dtype)} {scope.names[u]}[{u.arg[1]}];")

    # --- types and constants ---

    def vector(self, scope: Scope, dtype: DType, parts: Sequence[str]) -> str:
        """Return a vector of scalar expressions; one stands for all where they are the same."""
        one_for_all = parts[:1] if len(set(parts)) == 1 and not is_bool(dtype) else parts
        return super().vector(scope, dtype, one_for_all)

    # --- masks ---

    def mask_type(self, scope: Scope, bits: int, count: int) -> str:
        """Return the type of a mask."""
        return f"{_SIGNED[bits]}{count}"

    def resize_mask(self, scope: Scope, mask: str, own: int, bits: int, count: int) -> str:
        """Return a mask in lanes of another width."""
        return self._preamble(scope).convert(_SIGNED[bits], _SIGNED[own], count, mask)

    def fill_mask(self, scope: Scope, bits: int, lanes: Sequence[str]) -> str:
        """Return the mask with these lanes."""
        parts = lanes[:1] if len(set(lanes)) == 1 else lanes
        return f"({self.mask_type(scope, bits, len(lanes))})({', '.join(parts)})"

    def select(self, scope: Scope, dtype: DType, mask: str, chosen: str, other: str) -> str:
        """Return one blend."""
        return f"({mask} ? {chosen} : {other})"

    # --- memory ---

    def load(self, scope: Scope, u: UOp, pointer: str) -> str:
        """Return the value at `pointer`, which is aligned to its element only."""
        if u.dtype.count == 1:
            return super().load(scope, u, pointer)
        value = (
            f"*(const {self._vector_in_memory(scope, u, u.dtype)} *){pointer}"
            if self.capabilities.vector_bits
            else f"vload{u.dtype.count}(0, {pointer})"
        )
        return f"({value} != (uchar{u.dtype.count})(0))" if is_bool(u.dtype) else value

    def store(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the statement that writes `value` to `pointer`."""
        dtype = u.src[1].dtype
        if dtype.count == 1:
            return f"*{pointer} = {value}"
        if is_bool(dtype):
            value = f"as_uchar{dtype.count}(-{self.as_mask(scope, u.src[1], 8)})"
        if self.capabilities.vector_bits:
            return f"*({self._vector_in_memory(scope, u, dtype)} *){pointer} = {value}"
        return f"vstore{dtype.count}({value}, 0, {pointer})"

    def update(self, scope: Scope, u: UOp, pointer: str, value: str) -> str:
        """Return the call that combines `value` with the element at `pointer` in one step."""
        dtype = u.src[1].dtype
        word = _ATOMIC_WORDS[u.arg]
        if is_float(dtype):
            return f"{self._preamble(scope).atomic_add(self.type_names[dtype])}({pointer}, {value})"
        # those of 64 bits are an extension, with a name of its own
        return f"{'atomic' if dtype.itemsize == 4 else 'atom'}_{word}({pointer}, {value})"

    def _vector_in_memory(self, scope: Scope, u: UOp, dtype: DType) -> str:
        space = "__local" if buffer_of(u).op is Ops.DEFINE_LOCAL else "__global"
        scalar = self.storage_type(dtype)
        return f"{space} {self._preamble(scope).unaligned(scalar, dtype.count, dtype.itemsize)}"

    # --- expressions ---

    def division(self, scope: Scope, operator: str, dtype: DType) -> str:
        """Define / or % without C's undefined cases; return the function's name."""
        return self._preamble(scope).division(operator, self.scalar_type(dtype), dtype.count, dtype)

    def call(self, scope: Scope, u: UOp, args: Sequence[str]) -> str:
        """Return the call of a built-in function."""
        scalar, count = self.scalar_type(u.dtype), u.dtype.count
        if u.op is Ops.MULACC:
            return f"{self._preamble(scope).multiply_add(scalar, count)}({', '.join(args)})"
        if u.op in _BOUNDED and scalar == "half":  # the language's bound is wider for it
            preamble = self._preamble(scope)
            function = preamble.builtin(self.functions[u.op], "float", count)
            value = f"{function}({preamble.convert('float', 'half', count, args[0])})"
            return preamble.convert("half", "float", count, value)
        if u.op in _BOUNDED or u.op in (Ops.SQRT, Ops.TRUNC):
            return f"{self._preamble(scope).builtin(self.functions[u.op], scalar, count)}({args[0]})"
        return super().call(scope, u, args)

    # --- conversions ---

    def truth(self, scope: Scope, source: DType, value: str) -> str:
        """Return where a number is not 0, whatever its sign."""
        if source.scalar() not in self.as_bits:
            return f"({value} != {self.const(scope, source, 0)})"
        bits = f"({numbered('ushort', source.count)})"
        return f"(({value} & {bits}({0x7FFF})) != {bits}(0))"

    def float_of_bits(self, scope: Scope, dtype: DType) -> str:
        """Return the function from the bits of 16-bit floats to float32."""
        preamble, is_half = self._preamble(scope), dtype.scalar() is dtypes.float16
        return (preamble.float_from_half if is_half else preamble.float_from_bfloat)(dtype.count)

    def bits_of_float(self, scope: Scope, dtype: DType) -> str:
        """Return the function from float32 to the bits of 16-bit floats."""
        preamble, is_half = self._preamble(scope), dtype.scalar() is dtypes.float16
        return (preamble.half_from_float if is_half else preamble.bfloat_from_float)(dtype.count)

    def convert(self, scope: Scope, source: DType, to: DType, value: str) -> str:
        """Return numbers in another dtype."""
        return self._preamble(scope).convert(self.scalar_type(to), self.scalar_type(source), to.count, value)

    def bitcast(self, scope: Scope, u: UOp, value: str) -> str:
        """Return the bits in another dtype of the same size."""
        source, to = u.src[0].dtype, u.dtype
        if is_bool(source) and to.count > 1:
            value = f"as_uchar{to.count}(-{self.as_mask(scope, u.src[0], 8)})"
        elif is_bool(source):
            value = f"(uchar)({value})"
        elif to.count == 1 and source.itemsize < 4:
            value = f"({self.type_name(scope, source)})({value})"  # an int by now, after C's promotion
        if is_bool(to):
            zero = numbered("uchar", to.count)
            return f"(as_{zero}({value}) != ({zero})(0))"
        return f"as_{self.type_name(scope, to)}({value})"

    def _preamble(self, scope: Scope) -> Preamble:
        return Preamble(scope.define, self.capabilities.vector_bits)

    def _extensions(self, uops: Sequence[UOp]) -> list[str]:
        used = {u.dtype.scalar() for u in uops}
        halves = dtypes.float16 in used and dtypes.float16 not in self.as_bits
        extensions = (["cl_khr_fp16"] if halves else []) + (["cl_khr_fp64"] if dtypes.float64 in used else [])
        updated = {(u.arg, u.src[1].dtype.itemsize) for u in uops if u.op is Ops.STORE and u.arg is not None}
        return extensions + sorted(ATOMICS_OF_64_BITS[op] for op, itemsize in updated if itemsize == 8)


class OpenClScope(MaskScope):
    """The state of one kernel.

    Attributes:
        locals: declarations of memory that a group shares.
        group_attribute: what tells the compiler the size of the group, where it is known.
    """

    def __init__(self, uops: Sequence[UOp]) -> None:
        super().__init__(uops)
        self.locals: list[str] = []
        self.group_attribute = _group_attribute(uops)


def _group_attribute(uops: Sequence[UOp]) -> str:
    sizes = {u.arg: u.src[0] for u in uops if u.op is Ops.SPECIAL and u.arg.startswith("lidx")}
    if any(size.op is not Ops.CONST for size in sizes.values()):
        return ""
    dims = (sizes[f"lidx{i}"].arg if f"lidx{i}" in sizes else 1 for i in range(3))
    return f"__attribute__((reqd_work_group_size({', '.join(map(str, dims))}))) "


_SIGNED: Mapping[int, str] = {8: "char", 16: "short", 32: "int", 64: "long"}

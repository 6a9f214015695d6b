"""The OpenCL C that stands before a kernel: small functions, each one paragraph.

The text is the same for a scalar and for vectors: `convert_`, `as_` and the operators take both. A scalar is
one lane; its type has no number.

Built-in functions are called on vectors that fit a register. PoCL's are compiled for the processor it finds
and kernels for the one its LLVM knows: where these differ, a built-in of wider vectors gives wrong values or
brings the compiler down. Longer vectors are converted by halves.
"""

from collections.abc import Callable
from dataclasses import dataclass

from plugrad.dtype import DType

Define = Callable[[str, str], str]

_BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "half": 16, "int": 32, "uint": 32, "float": 32}


def numbered(name: str, count: int) -> str:
    """Return the vector form of a type's or function's name.

    Example:
        >>> numbered("float", 8), numbered("float", 1)
        ('float8', 'float')
    """
    return name if count == 1 else f"{name}{count}"


@dataclass(frozen=True, slots=True)
class Preamble:
    """The functions that stand before one kernel.

    Attributes:
        define: adds a paragraph by name, once, and returns the name.
        widest: bits of the widest vector that built-in functions are called on.
    """

    define: Define
    widest: int

    def unaligned(self, scalar: str, count: int, nbytes: int) -> str:
        """Define a vector at any element's address, for compilers made of clang; return its name."""
        vector = numbered(scalar, count)
        return self.define(f"{vector}u", f"typedef {vector} {vector}u __attribute__((aligned({nbytes})));")

    def convert(self, to: str, source: str, count: int, value: str) -> str:
        """Return a value in another type."""
        if to == source:
            return value
        if count == 1:
            return f"(({to})({value}))"
        if self._fits(count, to, source):
            return f"convert_{to}{count}({value})"
        body = self._halves(to, count, lambda half: self.convert(to, source, count // 2, half))
        return f"{self._function(f'{to}{count}_of_{source}', to, source, count, body)}({value})"

    def builtin(self, name: str, scalar: str, count: int) -> str:
        """Return a built-in function of one argument, such as sqrt."""
        if self._fits(count, scalar):
            return name
        body = self._halves(scalar, count, lambda half: f"{self.builtin(name, scalar, count // 2)}({half})")
        return self._function(f"{name}_{scalar}{count}", scalar, scalar, count, body)

    def multiply_add(self, scalar: str, count: int) -> str:
        """Define `a * b + c`, one instruction where the device has it. Return its name.

        The built-in `fma` must round once, and is a slow function where there is no instruction.
        """
        vector = numbered(scalar, count)
        return self.define(
            f"multiply_add_{vector}",
            f"static inline {vector} multiply_add_{vector}({vector} a, {vector} b, {vector} c) {{\n"
            "  #pragma OPENCL FP_CONTRACT ON\n  return a * b + c;\n}",
        )

    def atomic_add(self, scalar: str) -> str:
        """Define the atomic sum of an element and a float32; return its name.

        It is exchanged until nobody has changed the element meanwhile: the language has no such function. The
        first exchange guesses a zero, since a plain read would race with the others.
        """
        return self.define(
            f"atomic_add_{scalar}",
            f"static inline void atomic_add_{scalar}(volatile __global {scalar} *p, {scalar} x) {{\n"
            f"  volatile __global uint *bits = (volatile __global uint *)p;\n"
            "  uint found = 0, expected;\n"
            "  do {\n"
            "    expected = found;\n"
            f"    found = atomic_cmpxchg(bits, expected, as_uint(as_{scalar}(expected) + x));\n"
            "  } while (found != expected);\n}",
        )

    def division(self, operator: str, scalar: str, count: int, dtype: DType) -> str:
        """Define / or % without C's undefined cases.

        Division by 0 gives 0, and the lowest number by -1 wraps.
        """
        vector, word = numbered(scalar, count), {"/": "div", "%": "mod"}[operator]
        zero, one, minus_one = (f"({vector})({value})" for value in (0, 1, -1))
        is_signed = dtype.kind == "int"
        unsigned = numbered(f"u{scalar}", count)
        if operator == "%":
            by_minus_one = zero
        elif count == 1 and dtype.itemsize < 4:
            by_minus_one = f"({scalar})(-a)"  # computed as int
        else:
            by_minus_one = f"as_{vector}(({unsigned})(0) - as_{unsigned}(a))"
        unsafe = f"(b == {zero}) | (b == {minus_one})" if is_signed else f"b == {zero}"
        rest = f"b == {minus_one} ? {by_minus_one} : q" if is_signed else "q"
        return self.define(
            f"{word}_{vector}",
            f"static inline {vector} {word}_{vector}({vector} a, {vector} b) {{\n"
            f"  {vector} d = ({unsafe}) ? {one} : b;\n"
            f"  {vector} q = a {operator} d;\n"
            f"  return b == {zero} ? {zero} : {rest};\n}}",
        )

    def float_from_half(self, count: int) -> str:
        """Define the float of a float16's bits; return the function's name.

        By integer arithmetic, since `vload_half` on a private variable reads it as another type than it was
        written with, which compilers may assume does not happen.
        """
        number, wide = numbered("float", count), numbered("uint", count)
        whole = (
            f"  {wide} h = {self.convert('uint', 'ushort', count, 'x')}, low = h & 0x7fffu;",
            f"  {wide} normal = (low << ({wide})(13)) + 0x38000000u;",
            f"  {wide} special = normal + 0x38000000u; /* infinity, NaN: the exponent goes to the top */",
            f"  {wide} tiny = as_{wide}({self.convert('float', 'uint', count, 'low')} * 0x1p-24f);",
            f"  {wide} y = low < ({wide})(0x400) ? tiny : low >= ({wide})(0x7c00) ? special : normal;",
            f"  return as_{number}(y | ((h & 0x8000u) << ({wide})(16)));",
        )
        return self._function("float_of_half", "float", "ushort", count, whole)

    def half_from_float(self, count: int) -> str:
        """Define the bits of the float16 nearest to a float; return the function's name."""
        number, wide = numbered("float", count), numbered("uint", count)
        signed = f"y | ((b >> ({wide})(16)) & 0x8000u)"
        whole = (
            f"  {wide} b = as_{wide}(x), a = b & 0x7fffffffu;",
            f"  {wide} normal = ((a + 0xfffu + ((a >> ({wide})(13)) & 1u)) >> ({wide})(13)) - 0x1c000u;",
            "  /* below 2**-14: adding 0.5 leaves the subnormal's bits, rounded, at the low end */",
            f"  {wide} tiny = as_{wide}(as_{number}(a) + 0.5f) - 0x3f000000u;",
            f"  {wide} large = a > ({wide})(0x7f800000) ? ({wide})(0x7e00) : ({wide})(0x7c00);",
            f"  {wide} y = a < ({wide})(0x38800000) ? tiny : a >= ({wide})(0x477ff000) ? large : normal;",
            f"  return {self.convert('ushort', 'uint', count, f'({signed})')};",
        )
        return self._function("half_of_float", "ushort", "float", count, whole)

    def float_from_bfloat(self, count: int) -> str:
        """Define the float of a bfloat16's bits; return the function's name."""
        number, wide = numbered("float", count), numbered("uint", count)
        whole = (f"  return as_{number}({self.convert('uint', 'ushort', count, 'x')} << ({wide})(16));",)
        return self._function("float_of_bfloat", "float", "ushort", count, whole)

    def bfloat_from_float(self, count: int) -> str:
        """Define the bits of the bfloat16 nearest to a float; return the function's name."""
        wide = numbered("uint", count)
        rounded = "x != x ? (high | 0x40u) : rounded"
        whole = (
            f"  {wide} b = as_{wide}(x), high = b >> ({wide})(16);",
            f"  {wide} rounded = (b + 0x7fffu + (high & 1u)) >> ({wide})(16);",
            f"  return {self.convert('ushort', 'uint', count, f'({rounded})')};",
        )
        return self._function("bfloat_of_float", "ushort", "float", count, whole)

    def _fits(self, count: int, *scalars: str) -> bool:
        return count <= 2 or count * max(_BITS.get(scalar, 64) for scalar in scalars) <= self.widest

    def _halves(self, to: str, count: int, part: Callable[[str], str]) -> tuple[str, ...]:
        return (f"  return ({numbered(to, count)})({part('x.lo')}, {part('x.hi')});",)

    def _function(self, name: str, to: str, source: str, count: int, body: tuple[str, ...]) -> str:
        name = f"{name}_x{count}" if count > 1 else name
        head = f"static inline {numbered(to, count)} {name}({numbered(source, count)} x) {{"
        return self.define(name, "\n".join((head, *body, "}")))

"""Conversions of float16 and bfloat16, which kernels store but do not compute in.

Both are held as their bits, `unsigned short`. The code is integer arithmetic without branches, the same for
scalars and vectors, and right on compilers without `_Float16`: nearest even, subnormals, infinities, NaN.
Where float16 has an instruction and the compiler uses it, that does the conversion.

Source: IEEE 754-2008, section 3.4 (binary16); Intel, "BFLOAT16 - Hardware Numerics Definition" (2018).
"""

from plugrad_cpu_clang.preamble import Define, reinterpret, vector_type


class _Lanes:
    """The spelling of the same arithmetic for one lane and for many."""

    def __init__(self, define: Define, count: int) -> None:
        self.define = define
        self.count = count
        self.suffix = f"x{count}" if count > 1 else ""
        self.u16, self.u32, self.i32, self.f32 = (
            vector_type(define, short, count) for short in ("u16", "u32", "i32", "f32")
        )

    def convert(self, text: str, to: str) -> str:
        return f"__builtin_convertvector({text}, {to})" if self.count > 1 else f"(({to})({text}))"

    def mask(self, condition: str) -> str:
        """All bits set where the condition holds."""
        return f"(({self.u32})({condition}))" if self.count > 1 else f"(-({self.u32})({condition}))"

    def bits(self, text: str) -> str:
        return (
            f"(({self.u32})({text}))"
            if self.count > 1
            else f"{reinterpret(self.define, 'u32', 'f32')}({text})"
        )

    def floats(self, text: str) -> str:
        return (
            f"(({self.f32})({text}))"
            if self.count > 1
            else f"{reinterpret(self.define, 'f32', 'u32')}({text})"
        )

    def function(self, name: str, result: str, argument: str, body: list[str]) -> str:
        name += self.suffix
        head = f"static inline {result} {name}({argument} x) {{"
        return self.define(name, "\n".join((head, *body, "}")))


def float_from_half(define: Define, count: int) -> str:
    """Define the float of a float16's bits; return the function's name."""
    v = _Lanes(define, count)
    counted = v.convert(f"({v.i32})low", v.f32)
    body = [
        *_native(v, "f32_from_f16"),
        f"  {v.u32} h = {v.convert('x', v.u32)}, low = h & 0x7fffu;",
        f"  {v.u32} normal = (low << 13) + 0x38000000u;",
        f"  {v.u32} special = normal + 0x38000000u; /* infinity, NaN: the exponent goes to the top */",
        f"  {v.u32} tiny = {v.bits(counted + ' * 0x1p-24f')};",
        f"  {v.u32} is_tiny = {v.mask('low < 0x400u')}, is_special = {v.mask('low >= 0x7c00u')};",
        f"  {v.u32} y = (tiny & is_tiny) | (special & is_special) | (normal & ~(is_tiny | is_special));",
        f"  return {v.floats('y | ((h & 0x8000u) << 16)')};",
        "#endif",
    ]
    return v.function("f32_from_f16", v.f32, v.u16, body)


def half_from_float(define: Define, count: int) -> str:
    """Define the bits of the float16 nearest to a float; return the function's name."""
    v = _Lanes(define, count)
    body = [
        *_native(v, "f16_from_f32"),
        f"  {v.u32} b = {v.bits('x')}, a = b & 0x7fffffffu;",
        f"  {v.u32} normal = ((a + 0xfffu + ((a >> 13) & 1u)) >> 13) - 0x1c000u;",
        "  /* below 2**-14: adding 0.5 leaves the subnormal's bits, rounded, at the low end */",
        f"  {v.u32} tiny = {v.bits(v.floats('a') + ' + 0.5f')} - 0x3f000000u;",
        f"  {v.u32} is_tiny = {v.mask('a < 0x38800000u')}, is_large = {v.mask('a >= 0x477ff000u')};",
        f"  {v.u32} large = 0x7c00u | ({v.mask('a > 0x7f800000u')} & 0x200u);",
        f"  {v.u32} y = (tiny & is_tiny) | (large & is_large) | (normal & ~(is_tiny | is_large));",
        f"  return {v.convert('y | ((b >> 16) & 0x8000u)', v.u16)};",
        "#endif",
    ]
    return v.function("f16_from_f32", v.u16, v.f32, body)


def float_from_bfloat(define: Define, count: int) -> str:
    """Define the float of a bfloat16's bits; return the function's name."""
    v = _Lanes(define, count)
    wide = v.convert("x", v.u32)
    return v.function("f32_from_bf16", v.f32, v.u16, [f"  return {v.floats(f'{wide} << 16')};"])


def bfloat_from_float(define: Define, count: int) -> str:
    """Define the bits of the bfloat16 nearest to a float; return the function's name."""
    v = _Lanes(define, count)
    body = [
        f"  {v.u32} b = {v.bits('x')};",
        f"  {v.u32} is_nan = {v.mask('(b & 0x7fffffffu) > 0x7f800000u')};",
        f"  {v.u32} rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;",
        f"  {v.u32} quiet = (b >> 16) | 0x40u;",
        f"  return {v.convert('(quiet & is_nan) | (rounded & ~is_nan)', v.u16)};",
    ]
    return v.function("bf16_from_f32", v.u16, v.f32, body)


# gcc on x86 may call libgcc for `_Float16`, and kernels are linked without: it gets instructions by name
_HAS_NATIVE = (
    "#if defined(__FLT16_MANT_DIG__) && (defined(__aarch64__) || (defined(__clang__) && defined(__F16C__)))"
)
_GCC_CALLS = {
    ("f32_from_f16", 8): ("__F16C__", "__builtin_ia32_vcvtph2ps256((signed_bits)x)"),
    ("f16_from_f32", 8): ("__F16C__", "__builtin_ia32_vcvtps2ph256(x, 0)"),
    ("f32_from_f16", 16): (
        "__AVX512F__",
        "__builtin_ia32_vcvtph2ps512_mask((signed_bits)x, (f32x16){}, (unsigned short)-1, 4)",
    ),
    ("f16_from_f32", 16): (
        "__AVX512F__",
        "__builtin_ia32_vcvtps2ph512_mask(x, 0, (signed_bits){}, (unsigned short)-1)",
    ),
}


def _native(v: _Lanes, direction: str) -> list[str]:
    """Return the branches for compilers with instructions; the portable code follows in the last branch."""
    to_float = direction == "f32_from_f16"
    if v.count == 1:
        union = "  union { unsigned short bits; _Float16 number; } u"
        code = (
            [union + " = {x};", "  return (float)u.number;"]
            if to_float
            else [union + ";", "  u.number = (_Float16)x;", "  return u.bits;"]
        )
        return [_HAS_NATIVE, *code, "#else"]
    size = 2 * v.count
    value = v.convert("(half)x", v.f32) if to_float else f"({v.u16}){v.convert('x', 'half')}"
    lines = [
        _HAS_NATIVE,
        f"  typedef _Float16 half __attribute__((vector_size({size})));",
        f"  return {value};",
    ]
    if call := _GCC_CALLS.get((direction, v.count)):
        lines += [
            f"#elif defined({call[0]}) && !defined(__clang__)",
            f"  typedef short signed_bits __attribute__((vector_size({size})));",
            f"  return ({v.f32 if to_float else v.u16}){call[1]};",
        ]
    return [*lines, "#else"]

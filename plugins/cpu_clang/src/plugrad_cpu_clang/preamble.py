"""The C that stands before a kernel: vector types and small functions, each one paragraph.

All of it is text for clang, gcc and zig alike, on any processor; what a paragraph uses is defined before it.

Names: `f32x16` is a vector of 16 floats, `f32x16u` the same in memory at any element's address. Truth of
vectors is a mask, a signed vector of 0 and -1 in each lane, as comparisons give it (`i32x16`).
"""

from collections.abc import Callable

from plugrad.dtype import DType, dtypes, is_float

Define = Callable[[str, str], str]

SHORT_NAMES: dict[DType, str] = {
    dtypes.bool: "u8",
    dtypes.int8: "i8",
    dtypes.uint8: "u8",
    dtypes.int16: "i16",
    dtypes.uint16: "u16",
    dtypes.int32: "i32",
    dtypes.uint32: "u32",
    dtypes.int64: "i64",
    dtypes.uint64: "u64",
    dtypes.float16: "u16",
    dtypes.bfloat16: "u16",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
}
SCALAR_TYPES: dict[str, tuple[str, int]] = {
    "i8": ("signed char", 1),
    "u8": ("unsigned char", 1),
    "i16": ("short", 2),
    "u16": ("unsigned short", 2),
    "i32": ("int", 4),
    "u32": ("unsigned int", 4),
    "i64": ("long long", 8),
    "u64": ("unsigned long long", 8),
    "f16": ("_Float16", 2),
    "f32": ("float", 4),
    "f64": ("double", 8),
}
CACHE_LINE = 64
_BUILTIN_SUFFIX = {"f32": "f", "f64": ""}


def scalar_type(short: str) -> str:
    """Return C's name of a scalar: `f32` is float."""
    return SCALAR_TYPES[short][0]


def vector_type(define: Define, short: str, count: int) -> str:
    """Define the vector of `count` lanes and its form in memory; return its name.

    One lane is the scalar.
    """
    scalar, nbytes = SCALAR_TYPES[short]
    if count == 1:
        return scalar
    name, size = f"{short}x{count}", nbytes * count
    return define(
        name,
        f"typedef {scalar} {name} __attribute__((vector_size({size})));\n"
        f"typedef {scalar} {name}u __attribute__((vector_size({size}), aligned({nbytes}), may_alias));",
    )


def broadcast(define: Define, short: str, count: int) -> str:
    """Define the macro that fills a vector with one value; return its name.

    gcc splits vectors wider than a register before it inlines functions: the result of one would be written
    to the stack lane by lane, and read back in halves. Subtracting zero changes no value, not even -0.0.
    """
    vector = vector_type(define, short, count)
    name = f"{vector}_of"
    return define(name, f"#define {name}(x) (({scalar_type(short)})(x) - ({vector}){{}})")


def conversion(define: Define, source: str, to: str, count: int, value: str) -> str:
    """Return a vector in lanes of another type, twice or half as wide each step.

    gcc 12 takes most of the wider steps lane by lane.
    """
    size, wanted = SCALAR_TYPES[source][1], SCALAR_TYPES[to][1]
    steps: list[str] = []
    if is_integer := source[0] != "f":
        # to floats from int32, which every processor converts
        while 2 * size < (4 if to[0] == "f" else wanted):
            size *= 2
            steps.append(f"{source[0]}{8 * size}")
    if to[0] == "f":
        steps += ["i32"] if is_integer and size < 4 else []
    elif is_integer:
        while size > 2 * wanted:
            size //= 2
            steps.append(f"{to[0]}{8 * size}")
    for step in (*steps, to):
        value = f"__builtin_convertvector({value}, {vector_type(define, step, count)})"
    return value


def select(define: Define, short: str, count: int) -> str:
    """Define the choice between two vectors by a mask; return its name.

    Compilers make one blend of it. gcc 12 would make two instructions or more of `|`, and of a mask that it
    has not seen compared with 0.
    """
    vector = vector_type(define, short, count)
    mask = vector_type(define, f"i{SCALAR_TYPES[short][1] * 8}", count)
    return define(
        f"select_{vector}",
        f"static inline {vector} select_{vector}({mask} mask, {vector} a, {vector} b) {{\n"
        f"  mask = mask != 0;\n"
        f"  return ({vector})((mask & ({mask})a) + (~mask & ({mask})b));\n}}",
    )


# gcc's builtins of x86; the 512-bit ones take a mask and a rounding mode (4: the current one)
_GCC_EXTREMES = {
    ("f32", 16): ("__AVX512F__", "ps512_mask(a, b, a, (unsigned short)-1, 4)"),
    ("f64", 8): ("__AVX512F__", "pd512_mask(a, b, a, (unsigned char)-1, 4)"),
    ("f32", 8): ("__AVX__", "ps256(a, b)"),
    ("f64", 4): ("__AVX__", "pd256(a, b)"),
    ("f32", 4): ("__SSE__", "ps(a, b)"),
    ("f64", 2): ("__SSE2__", "pd(a, b)"),
}


def extreme(define: Define, operator: str, short: str, count: int) -> str:
    """Define the lesser or the greater of float vectors; return its name.

    It is `a < b ? a : b` or `a > b ? a : b`. x86 has an instruction for exactly that. clang finds it in the
    blend, gcc is told.
    """
    vector = vector_type(define, short, count)
    name = f"{'least' if operator == '<' else 'most'}_{vector}"
    choice = f"  return {select(define, short, count)}(a {operator} b, a, b);"
    lines = [f"static inline {vector} {name}({vector} a, {vector} b) {{", choice, "}"]
    if (short, count) in _GCC_EXTREMES:
        feature, call = _GCC_EXTREMES[short, count]
        builtin = f"  return __builtin_ia32_{'min' if operator == '<' else 'max'}{call};"
        lines[1:2] = [f"#if defined({feature}) && !defined(__clang__)", builtin, "#else", choice, "#endif"]
    return define(name, "\n".join(lines))


def maximum(define: Define, dtype: DType, count: int) -> str:
    """Define the greater of two, NaN if either is; return its name."""
    short = SHORT_NAMES[dtype]
    vector = vector_type(define, short, count)
    name = f"max_{short}" + (f"x{count}" if count > 1 else "")
    if count == 1:
        if is_float(dtype):
            return _scalar_maximum(define, dtype, name)
        choice = "a > b ? a : b"
    elif is_float(dtype):
        choice = f"{select(define, short, count)}(a != a, a, {extreme(define, '>', short, count)}(a, b))"
    else:
        choice = f"{select(define, short, count)}(a > b, a, b)"
    return define(name, f"static inline {vector} {name}({vector} a, {vector} b) {{ return {choice}; }}")


def _scalar_maximum(define: Define, dtype: DType, name: str) -> str:
    """Define the greater of two floats, which gcc turns into unpredictable branches on x86."""
    count = 16 // dtype.itemsize
    vector, lanes = vector_type(define, SHORT_NAMES[dtype], count), maximum(define, dtype, count)
    scalar = scalar_type(SHORT_NAMES[dtype])
    return define(
        name,
        f"static inline {scalar} {name}({scalar} a, {scalar} b) {{\n"
        "#if defined(__SSE2__) && !defined(__clang__)\n"
        f"  return {lanes}(a - ({vector}){{}}, b - ({vector}){{}})[0];\n"
        "#else\n  return (a > b || a != a) ? a : b;\n#endif\n}",
    )


def clamp_below(define: Define, dtype: DType, count: int) -> str:
    """Define the maximum of a value and a bound that is not NaN: one comparison."""
    short = SHORT_NAMES[dtype]
    vector = vector_type(define, short, count)
    name = f"atleast_{short}" + (f"x{count}" if count > 1 else "")
    if count == 1:
        choice = "x < low ? low : x"
    elif is_float(dtype):
        choice = f"{extreme(define, '>', short, count)}(low, x)"
    else:
        choice = f"{select(define, short, count)}(x < low, low, x)"
    return define(name, f"static inline {vector} {name}({vector} x, {vector} low) {{ return {choice}; }}")


def streaming_store(define: Define, short: str, count: int) -> str:
    """Define the store of a whole cache line past the caches; return its name.

    It saves reading the line first: a third more bandwidth for a large output of two large inputs. The
    instruction needs an aligned address, which is looked at each time since views may start anywhere.
    """
    vector = vector_type(define, short, count)
    floats = vector_type(define, "f32", CACHE_LINE // 4)
    define(
        "finish_streams",
        "static inline void finish_streams(void) {\n"
        "#if defined(__x86_64__)\n  __builtin_ia32_sfence();\n#endif\n}",
    )
    return define(
        f"stream_{vector}",
        f"static inline void stream_{vector}(void *to, {vector} x) {{\n"
        f"  if (((unsigned long)to & {CACHE_LINE - 1}) == 0) {{\n"
        "#if defined(__clang__)\n"
        f"    __builtin_nontemporal_store(({floats})x, ({floats} *)to);\n    return;\n"
        f"#elif defined(__AVX512F__)\n    __builtin_ia32_movntps512(to, ({floats})x);\n    return;\n#endif\n"
        f"  }}\n  *({vector}u *)to = x;\n}}",
    )


def unvectorized(define: Define) -> str:
    """Return the attribute of a function whose loops gcc is to leave scalar."""
    define(
        "SCALAR_LOOPS",
        "#if defined(__GNUC__) && !defined(__clang__)\n"
        '#define SCALAR_LOOPS __attribute__((optimize("no-tree-loop-vectorize")))\n'
        "#else\n"
        "#define SCALAR_LOOPS\n"
        "#endif",
    )
    return "SCALAR_LOOPS"


def hold(define: Define) -> str:
    """Return the macro that keeps a vector in a register.

    gcc for x86 would read it again from memory.
    """
    define(
        "HOLD",
        "#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)\n"
        '#define HOLD(x) __asm__("" : "+v"(x))\n'
        "#else\n"
        "#define HOLD(x)\n"
        "#endif",
    )
    return "HOLD"


def branching(define: Define) -> str:
    """Return the attribute of a function in whose loops gcc is to keep branches.

    gcc 12 at -O3 loses elements where it makes vectors of two loops whose branches ask for a parameter each:
    `i < rows & j < columns ? x[i * 3 + j] : 0`.
    """
    define(
        "BRANCHING_LOOPS",
        "#if defined(__GNUC__) && !defined(__clang__)\n"
        '#define BRANCHING_LOOPS __attribute__((optimize("no-tree-loop-if-convert")))\n'
        "#else\n"
        "#define BRANCHING_LOOPS\n"
        "#endif",
    )
    return "BRANCHING_LOOPS"


def lanewise(define: Define, function: str, short: str, count: int) -> str:
    """Define a libm function (sqrt, trunc) for vectors; compilers make one instruction of the loop."""
    builtin = f"__builtin_{function}{_BUILTIN_SUFFIX[short]}"
    if count == 1:
        return builtin
    vector = vector_type(define, short, count)
    return define(
        f"{function}_{vector}",
        f"static inline {vector} {function}_{vector}({vector} x) {{\n"
        f"  {vector} y;\n  for (int i = 0; i < {count}; i++) y[i] = {builtin}(x[i]);\n  return y;\n}}",
    )


def division(define: Define, operator: str, dtype: DType, count: int) -> str:
    """Define C's / or % without traps.

    Division by 0 gives 0, and the lowest number by -1 wraps.
    """
    short = SHORT_NAMES[dtype]
    if count > 1 and dtype.itemsize <= 4:
        return (_vector_quotient if operator == "/" else _vector_remainder)(define, short, count)
    scalar, word = scalar_type(short), {"/": "div", "%": "mod"}[operator]
    by_minus_one = f" : b == -1 ? {'-a' if operator == '/' else '0'}" if dtype.kind == "int" else ""
    one = define(
        f"{word}_{short}",
        f"static inline {scalar} {word}_{short}({scalar} a, {scalar} b) {{\n"
        f"  return b == 0 ? 0{by_minus_one} : a {operator} b;\n}}",
    )
    return one if count == 1 else _long_quotients(define, operator, one, short, count)


def _long_quotients(define: Define, operator: str, one: str, short: str, count: int) -> str:
    """Define / or % of 64-bit integers, by guesses where lanes convert to float64.

    The first guess leaves some thousand divisors at most, the second less than two. Numbers from 2**62 on,
    whose guesses might overflow, are left to the lanes, and so are vectors of several registers, which gcc
    compares lane by lane anyhow.
    """
    vector, wide = vector_type(define, short, count), vector_type(define, "f64", count)
    integer, word = vector_type(define, "i64", count), {"/": "div", "%": "mod"}[operator]
    lanes = define(
        f"{word}_lanes_{vector}",
        f"static inline {vector} {word}_lanes_{vector}({vector} a, {vector} b) {{\n"
        f"  {vector} y;\n  for (int i = 0; i < {count}; i++) y[i] = {one}(a[i], b[i]);\n  return y;\n}}",
    )
    if count * 8 > CACHE_LINE:
        return lanes
    result = "quotient & (b != 0)" if operator == "/" else "(m - quotient * n) & (b != 0)"
    sign, is_signed = "a ^ b" if operator == "/" else "a", short[0] == "i"

    def converted(value: str, to: str) -> str:
        return f"__builtin_convertvector({value}, {to})"

    return define(
        f"{word}_{vector}",
        f"static inline {vector} {word}_{vector}({vector} a, {vector} b) {{\n"
        "#if defined(__AVX512DQ__)\n"
        f"  {integer} m = ({integer})a, n = ({integer})(b | (({vector})(b == 0) & 1));\n"
        + ("  m = (m ^ (m < 0)) - (m < 0), n = (n ^ (n < 0)) - (n < 0);\n" if is_signed else "")
        + f"  {integer} is_far = (m | n) >> 62;\n"
        f"  long long far = 0;\n  for (int i = 0; i < {count}; i++) far |= is_far[i];\n"
        "  if (__builtin_expect(far == 0, 1)) {\n"
        f"    {wide} inverse = 1.0 / {converted('n', wide)};\n"
        f"    {integer} quotient = {converted(converted('m', wide) + ' * inverse', integer)};\n"
        f"    {integer} rest = m - quotient * n;\n"
        f"    {integer} more = {converted(converted('rest', wide) + ' * inverse', integer)};\n"
        "    rest -= more * n;\n"
        "    quotient += more - (rest >= n) + (rest < 0);\n"
        f"    {integer} y = {result};\n"
        + (f"    y = (y ^ (({sign}) < 0)) - (({sign}) < 0);\n" if is_signed else "")
        + f"    return ({vector})y;\n  }}\n"
        "#endif\n"
        f"  return {lanes}(a, b);\n}}",
    )


def _vector_quotient(define: Define, short: str, count: int) -> str:
    """Define the quotient through longer floats, as processors have no integer vector division.

    Quotients round to no integer that they have not reached: `(n * b - 1) / b` is further from n than that.
    """
    vector, nbytes = vector_type(define, short, count), SCALAR_TYPES[short][1]
    mask, choose = vector_type(define, f"i{nbytes * 8}", count), select(define, short, count)
    exact, word = ("f64", short) if nbytes == 4 else ("f32", "i32")
    a, b = (conversion(define, short, exact, count, name) for name in ("a", "b"))
    whole = conversion(define, exact, word, count, f"({a} / {b})")
    quotient = whole if word == short else conversion(define, word, short, count, whole)
    return define(
        f"div_{vector}",
        f"static inline {vector} div_{vector}({vector} a, {vector} by) {{\n"
        f"  {mask} is_plain = (by != 0){' & (by != -1)' if short[0] == 'i' else ''};\n"
        f"  {vector} b = {choose}(is_plain, by, ({vector}){{}} + 1);\n"
        f"  {vector} quotient = {quotient};\n"
        # 0 of 0, and -a of -1, which is all ones
        f"  return {choose}(is_plain, quotient, by & -a);\n}}",
    )


def _vector_remainder(define: Define, short: str, count: int) -> str:
    """Define what a quotient leaves, 0 by 0."""
    vector = vector_type(define, short, count)
    quotient = _vector_quotient(define, short, count)
    return define(
        f"mod_{vector}",
        f"static inline {vector} mod_{vector}({vector} a, {vector} b) {{\n"
        f"  return (a - {quotient}(a, b) * b) & ({vector})(b != 0);\n}}",
    )


def reinterpret(define: Define, to: str, source: str) -> str:
    """Define the scalar with the same bits in another type; return its name."""
    return define(
        f"{to}_bits_{source}",
        f"static inline {scalar_type(to)} {to}_bits_{source}({scalar_type(source)} x) {{\n"
        f"  union {{ {scalar_type(source)} from; {scalar_type(to)} to; }} u = {{x}};\n  return u.to;\n}}",
    )


_GCC_FMA = {
    ("f32", 16): ("__AVX512F__", "__builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4)"),
    ("f64", 8): ("__AVX512F__", "__builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)-1, 4)"),
    ("f32", 8): ("__FMA__", "__builtin_ia32_vfmaddps256(a, b, c)"),
    ("f64", 4): ("__FMA__", "__builtin_ia32_vfmaddpd256(a, b, c)"),
    ("f32", 4): ("__FMA__", "__builtin_ia32_vfmaddps(a, b, c)"),
    ("f64", 2): ("__FMA__", "__builtin_ia32_vfmaddpd(a, b, c)"),
}


def fused_multiply_add(define: Define, short: str, count: int) -> str:
    """Define `a * b + c`; return its name.

    It rounds once where the processor has an instruction for that.

    clang contracts inside this function only. gcc has no such scope: it gets the instruction by name on x86,
    else a loop over its scalar builtin, which it vectorises.
    """
    vector = vector_type(define, short, count)
    name = f"fma_{short}" + (f"x{count}" if count > 1 else "")
    builtin = f"__builtin_fma{_BUILTIN_SUFFIX[short]}"
    fast = f"__FP_FAST_FMA{_BUILTIN_SUFFIX[short].upper()}"
    lines = [
        # unless it has to, gcc does not inline it into kernels of other flags that are compiled beside it
        "static inline __attribute__((always_inline))",
        f"{vector} {name}({vector} a, {vector} b, {vector} c) {{",
        "#if defined(__clang__)",
        "#pragma clang fp contract(fast)",
        "  return a * b + c;",
    ]
    if (short, count) in _GCC_FMA:
        feature, call = _GCC_FMA[short, count]
        lines += [f"#elif defined({feature})", f"  return {call};"]
    lines.append(f"#elif defined({fast})")
    if count == 1:
        lines.append(f"  return {builtin}(a, b, c);")
    else:
        lines.append(f"  {vector} y;")
        lines.append(f"  for (int i = 0; i < {count}; i++) y[i] = {builtin}(a[i], b[i], c[i]);")
        lines.append("  return y;")
    lines += ["#else", "  return a * b + c;", "#endif", "}"]
    return define(name, "\n".join(lines))

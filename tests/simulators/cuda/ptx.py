"""Translate PTX to C++, for the stand-in's driver to compile: registers are variables, labels are labels.

    python ptx.py    # reads lines of FOLDER, DRIVER, ARCH, parted by tabs, such as 12090 and 90

A folder has a kernel.ptx, and gets a kernel.cpp or a log.

Only what plugrad writes is known, and each instruction is taken at its word: types and widths of registers
are checked as the assembler does, and anything else is refused.

Source: PTX ISA, sections "Directives" and "Instruction Set".
"""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

_C_TYPES = {
    "pred": "bool",
    **{"u8": "unsigned char", "s8": "signed char", "u16": "unsigned short", "s16": "short"},
    **{"b16": "unsigned short", "f16": "unsigned short", "bf16": "unsigned short", "tf32": "unsigned int"},
    **{"b32": "unsigned int", "u32": "unsigned int", "s32": "int"},
    **{"b64": "unsigned long long", "u64": "unsigned long long", "s64": "long long"},
    **{"f32": "float", "f64": "double"},
}
_POISON = {"pred": "true", "f32": '__builtin_nanf("")', "f64": '__builtin_nan("")'}
_WORDS = ("s32", "u32", "s64", "u64")
_BITS = ("b16", "b32", "b64")
_FLOATS = ("f32", "f64")
# instructions of one result: the types they have, whether they compute without a sign, and in C++
_EXPRESSIONS: dict[str, tuple[Sequence[str], bool, str]] = {
    "add": (_WORDS, True, "{0} + {1}"),
    "sub": (_WORDS, True, "{0} - {1}"),
    "mul.lo": (_WORDS, True, "{0} * {1}"),
    "mad.lo": (_WORDS, True, "{0} * {1} + {2}"),
    "neg": (("s32", "s64"), True, "0 - {0}"),
    "div": (_WORDS, False, "ptx_div({0}, {1})"),
    "rem": (_WORDS, False, "ptx_rem({0}, {1})"),
    "max": (_WORDS, False, "{0} > {1} ? {0} : {1}"),
    "and": (("pred", *_BITS), False, "{0} & {1}"),
    "or": (("pred", *_BITS), False, "{0} | {1}"),
    "xor": (("pred", *_BITS), False, "{0} ^ {1}"),
    "not": (("pred",), False, "!{0}"),
    "add.rn": (_FLOATS, False, "{0} + {1}"),
    "sub.rn": (_FLOATS, False, "{0} - {1}"),
    "mul.rn": (_FLOATS, False, "{0} * {1}"),
    "div.rn": (_FLOATS, False, "{0} / {1}"),
    "fma.rn": (_FLOATS, False, "ptx_fma({0}, {1}, {2})"),
    "rcp.rn": (_FLOATS, False, "1 / {0}"),
    "sqrt.rn": (_FLOATS, False, "ptx_sqrt({0})"),
    "neg.": (_FLOATS, False, "-{0}"),
    "max.NaN": (("f32",), False, "ptx_max_nan({0}, {1})"),
    "bfe": (("u32", "s32"), False, "ptx_bfe({0}, {1}, {2})"),
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SPECIAL = re.compile(r"%(ctaid|tid|nctaid|ntid)\.([xyz])")
_SPECIAL_NAMES = {"ctaid": "blockIdx", "tid": "threadIdx", "nctaid": "gridDim", "ntid": "blockDim"}
# the newest PTX that drivers of CUDA 12 take
_PTX_OF_CUDA = {0: 80, 1: 81, 2: 82, 3: 83, 4: 84, 5: 85, 6: 85, 7: 86, 8: 87, 9: 88}
_SHARED_MOST = 227 << 10


class RefusedError(Exception):
    """The text is no PTX that this translator knows; says which line."""


class Operation(NamedTuple):
    """One instruction: its name without types, its types, its operands."""

    name: str
    types: tuple[str, ...]
    operands: tuple[str, ...]


class Kernel:
    """One kernel while it is translated."""

    def __init__(self, target: int, version: int) -> None:
        self.target = target
        self.version = version
        self.name = ""
        self.bounds = 1024
        self.parameters: dict[str, str] = {}
        self.registers: dict[str, tuple[str, int]] = {}
        self.shared: dict[str, int] = {}
        self.shared_bytes = 0
        self.has_barriers = False
        self.lines: list[str] = []

    def source(self) -> str:
        """Return the kernel in C++."""
        declared = ", ".join(f"{kind}{name}" for name, kind in self.parameters.items())
        variables = [
            f"  {_C_TYPES[kind]} {', '.join(f'{prefix}{i} = {_poison(kind)}' for i in range(count))};"
            for prefix, (kind, count) in self.registers.items()
        ]
        return "\n".join(
            (
                f"thread_local __align__(16) unsigned char ptx_window[{max(self.shared_bytes, 1)}];",
                f"static const unsigned int ptx_window_bytes = {self.shared_bytes};",
                '#include "ptx.h"',
                f'extern "C" void {self.name}({declared}) {{',
                *variables,
                *self.lines,
                "}",
                f"PLUGRAD_KERNEL({self.name}, {self.bounds}, {int(self.has_barriers)})",
                "",
            )
        )

    # --- operands ---

    def register(self, operand: str) -> tuple[str, str]:
        """Return the variable of a register, and the type it was declared with."""
        found = re.fullmatch(r"%([a-z]+)(\d+)", operand)
        if not found or found[1] not in self.registers or int(found[2]) >= self.registers[found[1]][1]:
            raise RefusedError(f"{operand} is no register that was declared")
        return operand[1:], self.registers[found[1]][0]

    def read(self, operand: str, kind: str, *, may_be_wider: bool = False) -> str:
        """Return an operand as C++ of the type of an instruction."""
        c_type = _C_TYPES[kind]
        if special := _SPECIAL.fullmatch(operand):
            return f"({c_type}){_SPECIAL_NAMES[special[1]]}.{special[2]}"
        if operand.startswith("%"):
            name, declared = self.register(operand)
            _check_widths(operand, declared, kind, may_be_wider=may_be_wider)
            if (declared in _FLOATS) != (kind in _FLOATS):
                return f"plugrad_bits<{c_type}>({name})"
            return f"({c_type}){name}"
        if found := re.fullmatch(r"0([fd])([0-9A-F]{8}|[0-9A-F]{16})", operand):
            if kind not in {"f": ("f32", "b32"), "d": ("f64", "b64")}[found[1]]:
                raise RefusedError(f"{operand} is no constant of {kind}")
            bits = f"unsigned {'int' if found[1] == 'f' else 'long long'}"
            return f"plugrad_bits<{c_type}>(({bits})0x{found[2]}ull)"
        if re.fullmatch(r"-?\d+", operand) and kind not in _FLOATS:
            return f"({c_type}){int(operand) % (1 << 64)}ull"
        if operand in self.shared and kind == "u32":
            return f"{self.shared[operand]}u"
        raise RefusedError(f"{operand} is no operand of {kind}")

    def write(self, operand: str, kind: str, value: str, *, may_be_wider: bool = False) -> str:
        """Return the statement that puts a value of a type into a register."""
        name, declared = self.register(operand)
        _check_widths(operand, declared, kind, may_be_wider=may_be_wider)
        value = f"({_C_TYPES[kind]})({value})"
        if (declared in _FLOATS) != (kind in _FLOATS):
            return f"{name} = plugrad_bits<{_C_TYPES[declared]}>({value});"
        return f"{name} = ({_C_TYPES[declared]}){value};"

    def address(self, operand: str) -> tuple[str, str]:
        """Return base and offset of an address in brackets."""
        found = re.fullmatch(r"\[([%\w]+)(?:\+(-?\d+))?\]", operand)
        if not found:
            raise RefusedError(f"{operand} is no address")
        return found[1], found[2] or "0"


def _poison(kind: str) -> str:
    return _POISON.get(kind, "0xa5a5a5a5u")


def _bits_of(kind: str) -> int:
    return 1 if kind == "pred" else int(kind.lstrip("bsuf"))


def _check_widths(operand: str, declared: str, kind: str, *, may_be_wider: bool) -> None:
    """Check a register against the type of an instruction: .bN fits all of N bits, others their family."""
    same = _bits_of(declared) == _bits_of(kind)
    wider = (
        may_be_wider
        and _bits_of(declared) > _bits_of(kind)
        and declared not in _FLOATS
        and kind not in _FLOATS
    )
    families = declared[0] == kind[0] or "b" in (declared[0], kind[0])
    if not families or not (same or wider):
        raise RefusedError(f"{operand} was declared .{declared}, which does not fit .{kind}")


# --- instructions ---


def _move(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    to, source = it.operands
    if to.startswith("{"):
        low, high = _lanes(to)
        word = kernel.read(source, "b32")
        return [kernel.write(low, "b16", word), kernel.write(high, "b16", f"{word} >> 16")]
    if source.startswith("{"):
        low, high = (kernel.read(lane, "b16") for lane in _lanes(source))
        return [kernel.write(to, "b32", f"(unsigned int){low} | (unsigned int){high} << 16")]
    return [kernel.write(to, kind, kernel.read(source, kind))]


def _multiply_wide(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    wide = {"s32": "s64", "u32": "u64"}[kind]
    to, x, y, z = it.operands
    product = f"({_C_TYPES[wide]})({kernel.read(x, kind)}) * ({kernel.read(y, kind)})"
    return [kernel.write(to, wide, f"{product} + {kernel.read(z, wide)}")]


def _compare(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    to, x, y, *more = it.operands
    _, comparison, *join = it.name.split(".")
    a, b = kernel.read(x, kind), kernel.read(y, kind)
    if kind in _FLOATS and comparison in ("nan", "neu"):
        truth = f"!({a} == {b})" if comparison == "neu" else f"{a} != {a} || {b} != {b}"
    elif comparison in _COMPARISONS and not (comparison == "ne" and kind in _FLOATS):
        truth = f"{a} {_COMPARISONS[comparison]} {b}"
    else:
        raise RefusedError(f"there is no comparison {comparison} of {kind}")
    if join:
        sign = {"or": "||", "and": "&&"}[join[0]]
        truth = f"({truth}) {sign} {kernel.read(more[0], 'pred')}"
    return [kernel.write(to, "pred", truth)]


def _select(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    to, x, y, condition = it.operands
    if kind == "pred":
        raise RefusedError("predicates cannot be selected")
    chosen = f"{kernel.read(condition, 'pred')} ? {kernel.read(x, kind)} : {kernel.read(y, kind)}"
    return [kernel.write(to, kind, chosen)]


def _shift(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    to, x, distance = it.operands
    if (it.name == "shl") != (kind in _BITS):
        raise RefusedError(f"there is no {it.name}.{kind}")
    return [kernel.write(to, kind, f"ptx_{it.name}({kernel.read(x, kind)}, {kernel.read(distance, 'u32')})")]


def _insert(kernel: Kernel, it: Operation) -> list[str]:
    to, value, into, at, count = (it.operands[0], *(kernel.read(o, "b32") for o in it.operands[1:]))
    return [kernel.write(to, "b32", f"ptx_bfi({value}, {into}, {at}, {count})")]


def _convert(kernel: Kernel, it: Operation) -> list[str]:
    to_kind, kind = it.types
    to, source = it.operands
    rounding = it.name.removeprefix("cvt").removeprefix(".")
    if it.types == ("tf32", "f32"):
        return _convert_to_tf32(kernel, it, rounding)
    if "f16" in (to_kind, kind) or "bf16" in (to_kind, kind):
        return _convert_half(kernel, it, rounding)
    value = kernel.read(source, kind, may_be_wider=True)
    is_float, to_float = kind in _FLOATS, to_kind in _FLOATS
    needs = ""
    if is_float != to_float or (is_float and _bits_of(to_kind) < _bits_of(kind)):
        needs = "rn" if to_float else "rzi"
    if is_float and kind == to_kind:
        needs, value = "rzi", f"ptx_trunc({value})"
    if rounding != needs:
        raise RefusedError(f"cvt.{to_kind}.{kind} needs the rounding {needs or 'left out'}, not {rounding!r}")
    if is_float and not to_float:
        value = f"ptx_saturated<{_C_TYPES[to_kind]}>({value})"
    return [kernel.write(to, to_kind, value, may_be_wider=not to_float)]


def _convert_half(kernel: Kernel, it: Operation, rounding: str) -> list[str]:
    to_kind, kind = it.types
    to, source = it.operands
    if kind == "f16" and to_kind == "f32" and not rounding:
        return [kernel.write(to, "f32", f"__nv_half2float({kernel.read(source, 'b16')})")]
    if kind == "f32" and rounding == "rn":
        if to_kind == "bf16" and kernel.target < 80:
            raise RefusedError("rounding to bf16 needs sm_80")
        function = {"f16": "__nv_float2half_rn", "bf16": "ptx_bfloat"}[to_kind]
        return [kernel.write(to, "b16", f"{function}({kernel.read(source, 'f32')})")]
    raise RefusedError(f"there is no {it.name}.{to_kind}.{kind}")


def _convert_to_tf32(kernel: Kernel, it: Operation, rounding: str) -> list[str]:
    to, source = it.operands
    if rounding != "rna" or kernel.target < 80:
        raise RefusedError("rounding to tf32 is .rna, and needs sm_80")
    return [
        "unsigned int bits[1];",
        f"const float from[1] = {{{kernel.read(source, 'f32')}}};",
        "plugrad_tf32_of<>(bits, from);",
        kernel.write(to, "b32", "bits[0]"),
    ]


def _global_address(kernel: Kernel, it: Operation) -> list[str]:
    to, source = it.operands
    return [kernel.write(to, "u64", kernel.read(source, "u64"))]


_SPACES = {"global": "ptx_global", "global.nc": "ptx_global", "shared": "ptx_shared"}


def _access(kernel: Kernel, it: Operation, place: str, count: int, space: str) -> str:
    """Return the pointer of an access to memory."""
    (kind,) = it.types
    base, offset = kernel.address(place)
    address = kernel.read(base, "u32" if space == "shared" else "u64")
    return f"{_SPACES[space]}<{_C_TYPES[kind]}, {count}>({address} + {offset})"


def _load(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    to, place = it.operands
    space, lanes = _space_and_lanes(it, to)
    if space == "param":
        base, _ = kernel.address(place)
        if base not in kernel.parameters or kind not in ("u64", "s64"):
            raise RefusedError(f"{base} is no parameter of 64 bits")
        return [kernel.write(to, kind, f"({_C_TYPES[kind]}){base}")]
    pointer = _access(kernel, it, place, len(lanes), space)
    read = [kernel.write(lane, kind, f"at[{i}]", may_be_wider=True) for i, lane in enumerate(lanes)]
    return ["{", f"const {_C_TYPES[kind]} *at = {pointer};", *read, "}"]


def _store(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    place, value = it.operands
    space, lanes = _space_and_lanes(it, value)
    pointer = _access(kernel, it, place, len(lanes), space)
    written = [f"at[{i}] = {kernel.read(lane, kind, may_be_wider=True)};" for i, lane in enumerate(lanes)]
    return ["{", f"{_C_TYPES[kind]} *at = {pointer};", *written, "}"]


_UPDATES = {
    "red.global.add": ("atomicAdd", ("s32", "u32", "u64", "f32", "f64")),
    "red.global.max": ("atomicMax", ("s32", "u32", "s64", "u64")),
}


def _update(kernel: Kernel, it: Operation) -> list[str]:
    (kind,) = it.types
    place, value = it.operands
    function, kinds = _UPDATES.get(it.name, ("", ()))
    if kind not in kinds:
        raise RefusedError(f"there is no {it.name} of {kind}")
    return [f"{function}({_access(kernel, it, place, 1, 'global')}, {kernel.read(value, kind)});"]


def _space_and_lanes(it: Operation, value: str) -> tuple[str, list[str]]:
    """Return the space of an access and its registers, as many as its name says."""
    space = it.name.partition(".")[2]
    count = 1
    if found := re.search(r"\.v([24])$", space):
        space, count = space[: found.start()], int(found[1])
    lanes = _lanes(value) if count > 1 else [value]
    if len(lanes) != count or (space == "global.nc" and it.name.startswith("st")):
        raise RefusedError(f"there is no {it.name} of {value}")
    if count * _bits_of(it.types[0]) > 128:
        raise RefusedError("an access has 128 bits at most")
    return space, lanes


def _lanes(text: str) -> list[str]:
    if not text.startswith("{") or not text.endswith("}"):
        raise RefusedError(f"{text} is no list of registers")
    return [lane.strip() for lane in text[1:-1].split(",")]


def _barrier(kernel: Kernel, it: Operation) -> list[str]:
    if it.operands != ("0",):
        raise RefusedError("the only barrier is number 0")
    kernel.has_barriers = True
    return ["__syncthreads();"]


# by shape and element: the oldest target, the oldest PTX
_MATRICES_SINCE = {
    ("m16", "k8", "f16"): (75, 65),
    ("m16", "k16", "f16"): (80, 70),
    ("m16", "k8", "bf16"): (80, 70),
    ("m16", "k16", "bf16"): (80, 70),
    ("m16", "k8", "tf32"): (80, 70),
    **{("m8", "k16", element): (75, 65) for element in ("s8", "u8")},
    **{("m16", inner, element): (80, 70) for inner in ("k16", "k32") for element in ("s8", "u8")},
    **{("m16", "k32", element): (89, 84) for element in ("e4m3", "e5m2")},
}


def _multiply_matrices(kernel: Kernel, it: Operation) -> list[str]:
    opcode = ".".join((it.name, *it.types))
    found = re.fullmatch(r"mma\.sync\.aligned\.m(\d+)n8k(\d+)\.row\.col\.(f32|s32)\.(\w+)\.\4\.\3", opcode)
    if not found:
        raise RefusedError(f"there is no {opcode} here")
    rows, inner, given, element = found.groups()
    target, version = _MATRICES_SINCE.get((f"m{rows}", f"k{inner}", element), (0, 0))
    if not target or (given == "s32") != (element in ("s8", "u8")):
        raise RefusedError(f"there is no {opcode} here")
    if kernel.target < target or kernel.version < version:
        raise RefusedError(f"{opcode} needs sm_{target} and PTX {version // 10}.{version % 10}")
    held = "float" if given == "f32" else "unsigned int"
    to, *taken = (_lanes(operand) for operand in it.operands)
    lines = [f"{held} d[{len(to)}];"]
    for name, lanes, kind in zip("abc", taken, ("b32", "b32", given), strict=True):
        c_type = held if name == "c" else "unsigned int"
        values = ", ".join(f"({c_type}){kernel.read(lane, kind)}" for lane in lanes)
        if not all(lane.startswith("%") for lane in lanes):
            raise RefusedError("a matrix instruction takes registers")
        lines.append(f"const {c_type} {name}[{len(lanes)}] = {{{values}}};")
    kernel.has_barriers = True
    return [
        *lines,
        f"plugrad_mma<plugrad_{element}, {rows}, {inner}>(d, a, b, c);",
        *(kernel.write(lane, given, f"d[{i}]") for i, lane in enumerate(to)),
    ]


def _shuffle(kernel: Kernel, it: Operation) -> list[str]:
    mode = it.name.removeprefix("shfl.sync.")
    if mode not in ("up", "down", "bfly", "idx") or it.types != ("b32",) or len(it.operands) != 5:
        raise RefusedError(f"there is no {it.name}.{'.'.join(it.types)} of {len(it.operands)} operands here")
    to, value, by, clamp, members = it.operands
    to, _, is_inside = to.partition("|")
    read = [kernel.read(operand, "b32") for operand in (members, value, by, clamp)]
    kernel.has_barriers = True
    return [
        "bool is_inside;",
        kernel.write(to, "b32", f"plugrad_shuffle<plugrad_{mode}>({', '.join(read)}, &is_inside)"),
        *([kernel.write(is_inside, "pred", "is_inside")] if is_inside else []),
    ]


_RULES: dict[str, Callable[[Kernel, Operation], list[str]]] = {
    "mov": _move,
    "mad.wide": _multiply_wide,
    "setp": _compare,
    "selp": _select,
    "shl": _shift,
    "shr": _shift,
    "bfi": _insert,
    "cvt": _convert,
    "cvta.to.global": _global_address,
    "ld": _load,
    "st": _store,
    "red": _update,
    "bar.sync": _barrier,
    "mma": _multiply_matrices,
    "shfl": _shuffle,
    "bra": lambda kernel, it: [f"goto {it.operands[0]};"],
    "ret": lambda kernel, it: ["return;"],
}


def _instruction(kernel: Kernel, text: str) -> str:
    guard = ""
    if found := re.match(r"@(!?)(%\w+)\s+", text):
        guard = f"if ({found[1]}{kernel.read(found[2], 'pred')}) "
        text = text[found.end() :]
    opcode, _, rest = text.partition(" ")
    words = opcode.split(".")
    types: tuple[str, ...] = ()
    while len(words) > 1 and words[-1] in _C_TYPES:
        types = (words.pop(), *types)
    it = Operation(".".join(words), types, tuple(_operands(rest)))
    rule = _RULES.get(it.name) or _RULES.get(words[0])
    statements = rule(kernel, it) if rule else _expression(kernel, it)
    return f"  {guard}{{ {' '.join(statements)} }}"


def _expression(kernel: Kernel, it: Operation) -> list[str]:
    kind = it.types[-1] if it.types else ""
    # neg is one word for integers and floats
    name = f"{it.name}." if kind in _FLOATS and it.name == "neg" else it.name
    types, is_unsigned, template = _EXPRESSIONS.get(name, ((), False, ""))
    if kind not in types or (name == "max.NaN" and kernel.target < 80):
        raise RefusedError(f"there is no {it.name}.{kind} here")
    to, *sources = it.operands
    computed = f"u{kind[1:]}" if is_unsigned else kind
    later = ("u32", "u32") if name == "bfe" else (computed, computed)
    kinds = (computed, *later)
    if len(sources) != len(set(re.findall(r"\{\d\}", template))):
        raise RefusedError(f"{it.name} does not take {len(sources)} operands")
    operands = [f"({kernel.read(s, k)})" for s, k in zip(sources, kinds, strict=False)]
    return [kernel.write(to, kind, template.format(*operands))]


def _operands(text: str) -> list[str]:
    return [part.strip() for part in re.findall(r"\s*(\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*)", text)]


# --- modules ---


def translate(text: str, driver: int, arch: int) -> str:
    """Return the C++ of a module of one kernel.

    Args:
        text: the module.
        driver: the CUDA version of the driver, such as 12040.
        arch: the GPU's compute capability, such as 90.

    Raises:
        RefusedError: it is no PTX that this driver and GPU take, or more than is known here.
    """
    text = re.sub(r"//.*", "", text)
    found = re.match(r"\s*\.version (\d+)\.(\d+)\s+\.target sm_(\d+)\s+\.address_size 64\s", text)
    if not found:
        raise RefusedError("a module begins with .version, .target and .address_size 64")
    if 10 * int(found[1]) + int(found[2]) > _PTX_OF_CUDA[driver % 1000 // 10]:
        raise RefusedError(f"PTX {found[1]}.{found[2]} is newer than the driver")
    if int(found[3]) > arch:
        raise RefusedError(f"sm_{found[3]} is newer than the GPU, sm_{arch}")
    kernel = Kernel(int(found[3]), 10 * int(found[1]) + int(found[2]))
    entry = re.fullmatch(
        r"\s*(?P<dynamic>\.extern \.shared \.align 16 \.b8 (?P<window>\w+)\[\];)?"
        r"\s*\.visible \.entry (?P<name>\w+)\((?P<parameters>[^)]*)\)"
        r"\s*\.maxntid (?P<x>\d+), (?P<y>\d+), (?P<z>\d+)(\s*\.minnctapersm \d+)?\s*\{(?P<body>.*)\}\s*",
        text[found.end() :],
        re.DOTALL,
    )
    if not entry:
        raise RefusedError("behind its head, a module has one .entry")
    kernel.name = entry["name"]
    kernel.bounds = int(entry["x"]) * int(entry["y"]) * int(entry["z"])
    if entry["dynamic"]:
        kernel.shared[entry["window"]], kernel.shared_bytes = 0, _SHARED_MOST
    for parameter in filter(None, map(str.strip, entry["parameters"].split(","))):
        _parameter(kernel, parameter)
    for line in filter(None, map(str.strip, entry["body"].splitlines())):
        try:
            _line(kernel, line)
        except RefusedError as error:
            raise RefusedError(f"{line}\n  {error}") from error
    return kernel.source()


def _parameter(kernel: Kernel, text: str) -> None:
    pointer = re.fullmatch(r"\.param \.u64 \.ptr \.global \.align \d+ (\w+)", text)
    found = pointer or re.fullmatch(r"\.param \.s64 (\w+)", text)
    if not found:
        raise RefusedError(f"{text} is no parameter")
    kernel.parameters[found[1]] = "void *" if pointer else "long long "


def _line(kernel: Kernel, line: str) -> None:
    if found := re.fullmatch(r"(\w+):", line):
        kernel.lines.append(f"{found[1]}:;")
    elif found := re.fullmatch(r"\.reg \.(\w+) %([a-z]+)<(\d+)>;", line):
        kernel.registers[found[2]] = found[1], int(found[3])
    elif found := re.fullmatch(r"\.shared \.align 16 \.b8 (\w+)\[(\d+)\];", line):
        kernel.shared[found[1]] = kernel.shared_bytes
        kernel.shared_bytes += -(-int(found[2]) // 16) * 16
        if kernel.shared_bytes > 48 << 10:
            raise RefusedError("a kernel may declare 48 KB of shared memory")
    elif line.endswith(";") and line[0] != ".":
        kernel.lines.append(_instruction(kernel, line[:-1]))
    else:
        raise RefusedError("no instruction, label or declaration")


def serve() -> None:
    """Translate kernels as they are asked for, and answer each: 1, or 0 where the log says what is wrong."""
    for request in sys.stdin:
        name, driver, arch = request.rstrip("\n").split("\t")
        folder = Path(name)
        try:
            source = translate((folder / "kernel.ptx").read_text(), int(driver), int(arch))
        except RefusedError as error:
            (folder / "log").write_text(f"ptx: {error}\n")
            print(0, flush=True)
        else:
            (folder / "kernel.cpp").write_text(source)
            print(1, flush=True)


if __name__ == "__main__":
    serve()

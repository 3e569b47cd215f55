"""Random expressions without undefined behaviour: no signed overflow, no shift by too much, no
division by zero, no index outside of its array."""

from __future__ import annotations

from .scope import BITS, BLOCK, INTEGERS, LANE, Array, Draw, Index, Scope
from .tree import Expr

LITERALS = [
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    257,
]
LITERALS += [
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x1FFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
]
LITERALS += [0xFFFFFFFE, 0xFFF0FFF0, 0x0000FFF0, 0x80008000, 0x55AA33CC, 0x01010101]

PACKED = """__vadd2 __vadd4 __vsub2 __vsub4 __vminu2 __vmins2 __vmaxu2 __vmaxs2 __vminu4 __vmins4
__vmaxu4 __vmaxs4 __vabsdiffu2 __vabsdiffu4 __vavgu4 __vcmpgtu2 __vcmpges4 __vseteq2 __vaddus2
__vaddss2 __vsubus4 ptx_add_u16x2 ptx_add_s16x2 ptx_min_u16x2 ptx_min_s16x2 ptx_max_u16x2
ptx_max_s16x2 half2_add half2_sub half2_mul half2_min half2_max""".split()

BINARY_PTX = """ptx_shl ptx_shr_u ptx_shr_s ptx_mul24_lo ptx_mul24_hi ptx_bmsk_clamp ptx_bmsk_wrap
ptx_szext_clamp __umulhi __uhadd""".split()

TERNARY_PTX = """ptx_bfe_u32 ptx_bfe_s32 ptx_prmt_f4e ptx_prmt_ecl ptx_prmt_rc8 ptx_shf_l_clamp
ptx_shf_r_wrap ptx_dp2a_lo ptx_mad24_lo __usad __dp4a __funnelshift_l __funnelshift_r""".split()

UNARY = [("~", ""), ("0u - ", ""), ("(u32)__popc(", ")"), ("__brev(", ")")]
UNARY += [("(u32)__clz((i32)", ")"), ("(u32)__ffs((i32)", ")")]

NARROW_PTX = ["ptx_add_u16((u16)(", "ptx_min_s16((i16)("]


class Expressions:
    """Makes expressions for a scope. ``draw`` chooses."""

    def __init__(self, draw: Draw):
        self.draw = draw

    def of(self, kind: str, scope: Scope, level: int = LANE, depth: int = 3) -> Expr:
        """An expression of a type whose value is at least as uniform as ``level``."""
        if kind in ("f32", "f64"):
            return self.real(kind, scope, level, depth)
        if kind == "bool":
            return self.condition(scope, level, depth)
        if depth <= 0 or self.draw.chance(0.25):
            return self.leaf(kind, scope, level)
        if BITS[kind] < 32:
            wide = self.of(
                self.draw.choice(["u32", "u32", "i32"]), scope, level, depth - 1
            )
            return Expr([f"({kind})(", wide, ")"], kind, level)
        other = self.draw.choice(INTEGERS + ["f32", "f64"])
        if other != kind and self.draw.chance(0.15):
            return self.cast(self.of(other, scope, level, depth - 1), kind, level)
        return getattr(self, kind)(scope, level, depth - 1)

    def cast(self, value: Expr, kind: str, level: int) -> Expr:
        if value.kind == kind:
            return value
        if value.kind in ("f32", "f64"):
            call = {
                "f32": ["to_u32", "to_i32", "bits_of"],
                "f64": ["to_u64", "bits_of"],
            }
            return Expr(
                [f"({kind}){self.draw.choice(call[value.kind])}(", value, ")"],
                kind,
                level,
            )
        return Expr([f"({kind})(", value, ")"], kind, level)

    def leaf(self, kind: str, scope: Scope, level: int) -> Expr:
        draw = self.draw
        choice = draw.random()
        if choice < 0.5:
            same = scope.of_kind(kind, level)
            if same:
                var = draw.choice(same)
                return Expr([var.name], kind, var.level)
        if choice < 0.6:
            others = [
                var for var in scope.vars if var.level >= level and var.kind in INTEGERS
            ]
            if others:
                var = draw.choice(others)
                return Expr([f"({kind}){var.name}"], kind, var.level)
        if choice < 0.75:
            return Expr([f"({kind})(", self.index(scope, level, 2), ")"], kind, level)
        if choice < 0.92:
            loaded = self.load(scope, level)
            if loaded:
                return self.cast(loaded, kind, level)
        return Expr([self.literal(kind)], kind, BLOCK)

    def literal(self, kind: str) -> str:
        value = self.draw.choice(LITERALS)
        if self.draw.chance(0.2):
            value = self.draw.getrandbits(32)
        if kind == "u64" and self.draw.chance(0.3):
            value |= value << 32
        suffix = "ull" if kind == "u64" else "u"
        return f"{value}{suffix}" if kind in ("u32", "u64") else f"({kind}){value}u"

    # ---- integers --------------------------------------------------------------------------

    def u32(self, scope: Scope, level: int, depth: int) -> Expr:
        draw = self.draw

        def sub(kind="u32"):
            return self.of(kind, scope, level, depth)

        choice = draw.randrange(20)
        if choice < 6:
            op = draw.choice(["+", "+", "-", "*", "&", "|", "^"])
            return Expr(["(", sub(), f" {op} ", sub(), ")"], "u32", level)
        if choice < 8:
            op = draw.choice(["<<", ">>"])
            if draw.chance(0.6):
                return Expr(["(", sub(), f" {op} {draw.randrange(32)})"], "u32", level)
            return Expr(["(", sub(), f" {op} (", sub(), " & 31))"], "u32", level)
        if choice == 8:
            op = draw.choice(["/", "%"])
            if draw.chance(0.5):
                return Expr(
                    ["(", sub(), f" {op} {draw.randrange(1, 300)}u)"], "u32", level
                )
            return Expr(["(", sub(), f" {op} (", sub(), " | 1u))"], "u32", level)
        if choice == 9:
            return Expr(
                [f"{draw.choice(['min', 'max'])}(", sub(), ", ", sub(), ")"],
                "u32",
                level,
            )
        if choice < 12:
            condition = self.condition(scope, level, depth)
            return Expr(["(", condition, " ? ", sub(), " : ", sub(), ")"], "u32", level)
        if choice == 12:
            return Expr(
                ["(u32)(", self.condition(scope, level, depth), ")"], "u32", level
            )
        if choice == 13:
            before, after = draw.choice(UNARY)
            return Expr([f"({before}", sub(), f"{after})"], "u32", level)
        if choice == 14:
            return Expr(
                ["__byte_perm(", sub(), ", ", sub(), ", ", sub(), " & 0x7777u)"],
                "u32",
                level,
            )
        if choice == 15 and draw.has("ptx"):
            call = draw.choice(BINARY_PTX + NARROW_PTX)
            if call in NARROW_PTX:
                cast = call.split("(", 1)[1]
                return Expr([call, sub(), f"), {cast}", sub(), "))"], "u32", level)
            return Expr([f"{call}(", sub(), ", ", sub(), ")"], "u32", level)
        if choice == 16 and draw.has("ptx"):
            call = draw.choice(TERNARY_PTX)
            small = " & 39u" if "bfe" in call else ""
            return Expr(
                [f"{call}(", sub(), ", ", sub(), f"{small}, ", sub(), f"{small})"],
                "u32",
                level,
            )
        if draw.has("packed"):
            return Expr(
                [f"{draw.choice(PACKED)}(", sub(), ", ", sub(), ")"], "u32", level
            )
        return self.cast(sub("u64"), "u32", level)

    def i32(self, scope: Scope, level: int, depth: int) -> Expr:
        draw = self.draw

        def sub(kind="i32"):
            return self.of(kind, scope, level, depth)

        choice = draw.randrange(10)
        if choice < 3:
            op = draw.choice(["+", "-", "*"])
            return Expr(
                ["(i32)((u32)", sub(), f" {op} (u32)", sub(), ")"], "i32", level
            )
        if choice == 3:
            return Expr(["(", sub(), f" >> {draw.randrange(32)})"], "i32", level)
        if choice == 4:
            op = draw.choice(["/", "%"])
            return Expr(["(", sub(), f" {op} {draw.randrange(2, 200)})"], "i32", level)
        if choice == 5:
            return Expr(
                [f"{draw.choice(['min', 'max'])}(", sub(), ", ", sub(), ")"],
                "i32",
                level,
            )
        if choice == 6:
            condition = self.condition(scope, level, depth)
            return Expr(["(", condition, " ? ", sub(), " : ", sub(), ")"], "i32", level)
        if choice == 7:
            return Expr(["__mulhi(", sub(), ", ", sub(), ")"], "i32", level)
        if choice == 8:
            return Expr(
                ["(", sub(), f" {draw.choice(['&', '|', '^'])} ", sub(), ")"],
                "i32",
                level,
            )
        return self.cast(sub(draw.choice(INTEGERS)), "i32", level)

    def u64(self, scope: Scope, level: int, depth: int) -> Expr:
        draw = self.draw

        def sub(kind="u64"):
            return self.of(kind, scope, level, depth)

        choice = draw.randrange(12)
        if choice < 4:
            op = draw.choice(["+", "+", "-", "*", "&", "|", "^"])
            return Expr(["(", sub(), f" {op} ", sub(), ")"], "u64", level)
        if choice == 4:
            return Expr(["((u64)", sub("u32"), " * ", sub("u32"), ")"], "u64", level)
        if choice == 5:
            op = draw.choice(["<<", ">>"])
            return Expr(["(", sub(), f" {op} {draw.randrange(64)})"], "u64", level)
        if choice == 6:
            op = draw.choice(["/", "%"])
            return Expr(
                ["(", sub(), f" {op} {draw.randrange(1, 1 << 20)}ull)"], "u64", level
            )
        if choice == 7:
            return Expr(
                [f"{draw.choice(['min', 'max'])}(", sub(), ", ", sub(), ")"],
                "u64",
                level,
            )
        if choice == 8:
            condition = self.condition(scope, level, depth)
            return Expr(["(", condition, " ? ", sub(), " : ", sub(), ")"], "u64", level)
        if choice == 9:
            calls = ["__umul64hi"] + ["ptx_add_with_carry"] * draw.has("ptx")
            return Expr(
                [f"{draw.choice(calls)}(", sub(), ", ", sub(), ")"], "u64", level
            )
        if choice == 10:
            return Expr(["(u64)__popcll(", sub(), ")"], "u64", level)
        return self.cast(sub(draw.choice(INTEGERS)), "u64", level)

    def i64(self, scope: Scope, level: int, depth: int) -> Expr:
        draw = self.draw

        def sub(kind="i64"):
            return self.of(kind, scope, level, depth)

        choice = draw.randrange(7)
        if choice < 2:
            op = draw.choice(["+", "-", "*"])
            return Expr(
                ["(i64)((u64)", sub(), f" {op} (u64)", sub(), ")"], "i64", level
            )
        if choice == 2:
            return Expr(["((i64)", sub("i32"), " * ", sub("i32"), ")"], "i64", level)
        if choice == 3:
            return Expr(["(", sub(), f" >> {draw.randrange(64)})"], "i64", level)
        if choice == 4:
            op = draw.choice(["/", "%"])
            return Expr(
                ["(", sub(), f" {op} {draw.randrange(2, 1 << 20)}ll)"], "i64", level
            )
        if choice == 5:
            return Expr(
                [f"{draw.choice(['min', 'max'])}(", sub(), ", ", sub(), ")"],
                "i64",
                level,
            )
        return self.cast(sub(draw.choice(INTEGERS)), "i64", level)

    # ---- floating point, conditions --------------------------------------------------------

    def real(self, kind: str, scope: Scope, level: int, depth: int) -> Expr:
        draw = self.draw
        suffix, root = ("f", "sqrtf(fabsf(") if kind == "f32" else ("", "sqrt(fabs(")

        def sub():
            return self.real(kind, scope, level, depth - 1)

        choice = draw.randrange(8) if depth > 0 else draw.randrange(3)
        if choice == 0 and (same := scope.of_kind(kind, level)):
            var = draw.choice(same)
            return Expr([var.name], kind, var.level)
        if choice < 2:
            whole = self.of(
                draw.choice(["u32", "i32", "u16", "i64"]), scope, level, depth - 1
            )
            return Expr([f"({kind})(", whole, ")"], kind, level)
        if choice == 2:
            number = draw.choice(
                ["0.0", "1.0", "0.5", "-2.25", "1.0e10", "3.1415927", "1.0e-3"]
            )
            return Expr([number + suffix], kind, BLOCK)
        if choice < 6:
            return Expr(
                ["(", sub(), f" {draw.choice('+-*/')} ", sub(), ")"], kind, level
            )
        if choice == 6:
            return Expr([root, sub(), "))"], kind, level)
        condition = self.condition(scope, level, depth - 1)
        return Expr(["(", condition, " ? ", sub(), " : ", sub(), ")"], kind, level)

    def condition(self, scope: Scope, level: int, depth: int = 2) -> Expr:
        draw = self.draw
        choice = draw.randrange(12)
        if choice < 3 and level == LANE:
            return self.lane_condition()
        if choice < 5:
            kind = draw.choice(INTEGERS + ["f32"])
            op = draw.choice(["<", ">", "<=", ">=", "==", "!="])
            left, right = (self.of(kind, scope, level, depth - 1) for _ in range(2))
            return Expr(["(", left, f" {op} ", right, ")"], "bool", level)
        if choice < 8:
            bit = draw.choice([1, 1, 2, 3, 4, 7, 16, 0x40, 0x80000000])
            return Expr(
                ["((", self.of("u32", scope, level, depth - 1), f" & {bit}u) != 0)"],
                "bool",
                level,
            )
        if choice < 10:
            index = self.index(scope, level, 2)
            return Expr(
                [
                    "(",
                    index,
                    f" {draw.choice(['<', '>=', '==', '!='])} {draw.randrange(40)})",
                ],
                "bool",
                level,
            )
        if depth <= 0:
            return Expr(
                ["(", self.leaf("u32", scope, level), f" > {draw.choice(LITERALS)}u)"],
                "bool",
                level,
            )
        left, right = (self.condition(scope, level, depth - 1) for _ in range(2))
        if choice == 10:
            return Expr(["!", left], "bool", level)
        return Expr(
            ["(", left, f" {draw.choice(['&&', '||', '!='])} ", right, ")"],
            "bool",
            level,
        )

    def lane_condition(self) -> Expr:
        """A value that is known for each lane at compile time."""
        draw = self.draw
        lane = draw.choice(
            ["lane", "(t & 31)", "laneid()", "(threadIdx.x & 31)", "t", "threadIdx.x"]
        )
        number = draw.randrange(1, 32)
        return Expr(
            [
                draw.choice(
                    [
                        f"({lane} < {number})",
                        f"({lane} >= {number})",
                        f"({lane} == {number})",
                        f"(({lane} & {draw.choice([1, 2, 3, 4, 8, 16, 24])}) == 0)",
                        f"(({lane} & 1) != 0)",
                        f"({lane} % {draw.choice([3, 5, 6])} == 0)",
                        f"((0x{draw.getrandbits(32):08x}u >> (t & 31) & 1) != 0)",
                    ]
                )
            ],
            "bool",
            LANE,
        )

    # ---- indices and loads -----------------------------------------------------------------

    def interval(self, scope: Scope, level: int, depth: int) -> Index:
        """An index expression with its interval; nothing in it overflows."""
        draw = self.draw
        leaves = [index for index in scope.indices if index.level >= level]
        if depth <= 0 or draw.chance(0.3):
            if leaves and draw.chance(0.8):
                return draw.choice(leaves)
            if draw.chance(0.4):
                variables = [
                    v
                    for v in scope.vars
                    if v.kind in ("u32", "u64", "i32") and v.level >= level
                ]
                if variables:
                    var, most = draw.choice(variables), draw.choice([1, 3, 7, 15, 31])
                    return Index(f"((i32){var.name} & {most})", 0, most, var.level)
            number = draw.randrange(0, 33)
            return Index(str(number), number, number, BLOCK)
        a = self.interval(scope, level, depth - 1)
        choice = draw.randrange(9)
        if choice < 2:
            b = self.interval(scope, level, depth - 1)
            return Index(
                f"({a.text} + {b.text})", a.low + b.low, a.high + b.high, level
            )
        if choice == 2:
            b = self.interval(scope, level, depth - 1)
            return Index(
                f"({a.text} - {b.text})", a.low - b.high, a.high - b.low, level
            )
        if choice == 3:
            by = draw.randrange(1, 6)
            return Index(f"({a.text} >> {by})", a.low >> by, a.high >> by, level)
        if choice == 4 and -1000 < a.low and a.high < 1000:
            by = draw.choice([2, 3, 4, 8, 16, 17, 33])
            return Index(f"({a.text} * {by})", a.low * by, a.high * by, level)
        if choice == 5:
            most = draw.choice([1, 3, 7, 15, 31, 63])
            return Index(f"({a.text} & {most})", 0, most, level)
        if choice == 6 and a.low >= 0:
            by = draw.choice([2, 3, 5, 7, 16, 31, 33])
            if draw.chance(0.5):
                return Index(f"({a.text} / {by})", a.low // by, a.high // by, level)
            return Index(f"({a.text} % {by})", 0, by - 1, level)
        if choice == 7 and a.low >= 0:
            by = draw.choice([1, 2, 3, 16, 31])
            top = max(a.high, by)
            return Index(f"({a.text} ^ {by})", 0, (1 << top.bit_length()) - 1, level)
        by = draw.randrange(-9, 10)
        return Index(f"({a.text} + {by})", a.low + by, a.high + by, level)

    def index(self, scope: Scope, level: int, depth: int) -> Expr:
        return Expr([self.interval(scope, level, depth).text], "i32", level)

    def place(
        self, array: Array, scope: Scope, level: int, align: int = 1
    ) -> tuple[str, str | None]:
        """An index into the array, and a condition without which it would be outside, or None."""
        draw = self.draw
        count, first = array.count // align, array.first // align
        index = self.interval(scope, level, draw.choice([0, 1, 1, 2, 3]))
        last = first + count - 1
        text = index.text
        if index.high - index.low < count:
            by = draw.randint(first - index.low, last - index.high)
            if index.low >= first and index.high <= last and draw.chance(0.5):
                by = 0
            return self.spelled(text, by, index.low + by >= 0), None
        if draw.chance(0.5) and count & (count - 1) == 0:
            return self.spelled(f"({text} & {count - 1})", first, first >= 0), None
        by = draw.randrange(-8, 9)
        shifted = f"({text} + {by})" if by else text
        if draw.chance(0.3) and first == 0:
            return self.spelled(shifted, 0, True), f"(u32){shifted} < {count}u"
        spelled = self.spelled(shifted, 0, first >= 0)
        return spelled, f"({shifted} >= {first} && {shifted} <= {last})"

    def spelled(self, text: str, by: int, never_negative: bool) -> str:
        """``text + by`` in one of the types and forms that programs use for an index."""
        draw = self.draw
        plain = f"{text} + {by}" if by > 0 else f"{text} - {-by}" if by < 0 else text
        choice = draw.randrange(14)
        if choice == 0:
            return f"(i64){text} + {by}"
        if choice == 1:
            return f"{text} + (l0 + {by + 3})"
        if choice == 2:
            return f"{text} + minus + {by + 5}"
        if choice == 3:
            return f"(u64)(i64){text} + (u64)(i64){by}" if never_negative else plain
        if choice == 4 and never_negative:
            return f"(u64)(i64){text} + w0 + (u64){by + 13}"
        if choice == 5 and never_negative:
            return f"(u32){text} + u0 + {(by + 11) % 2**32}u"
        if choice == 6 and never_negative:
            return f"(u32)({text}) - {(-by) % 2**32}u"
        if choice == 7:
            return f"(i32)((u32){text} + {by % 2**32}u)"
        if choice == 8 and by < 0:
            return f"{text} - {draw.choice(['(i64)', '(i32)'])}{-by}"
        return plain

    def address(self, array: Array, index: str) -> str:
        draw = self.draw
        if draw.chance(0.2):
            by = draw.randrange(-6, 7)
            return (
                f"*({array.text} + ({index}))" if by < 0 else f"({array.text})[{index}]"
            )
        return f"{array.text}[{index}]"

    def load(self, scope: Scope, level: int) -> Expr | None:
        """An element of one of the scope's arrays, with one of its possible widths."""
        draw = self.draw
        arrays = [array for array in scope.arrays if array.level >= level]
        if not arrays:
            return None
        array = draw.choice(arrays)
        if array.text == "rows":
            row, _ = self.place(Array("rows", "", 0, 16), scope, level)
            if _:
                row = f"{self.interval(scope, level, 1).text} & 15"
            array = Array(f"rows[{row}]", "u32", -128, 256)
        kind, text, align = array.kind, array.text, 1
        if (
            array.level == BLOCK
            and not array.writable
            and kind == "u32"
            and draw.chance(0.4)
        ):
            return self.load_as(array, scope, level)
        index, guard = self.place(array, scope, level, align)
        loaded = self.address(array, index)
        if text in ("in",) and draw.chance(0.1):
            loaded = f"__ldg(&{loaded})"
        if guard:
            return Expr(
                [f"({guard} ? {loaded} : ({kind}){draw.choice(LITERALS)}u)"],
                kind,
                level,
            )
        return Expr([f"{loaded}"], kind, level)

    def load_as(self, array: Array, scope: Scope, level: int) -> Expr:
        """Words that are read with another type: bytes, halves, doublewords, parts of vectors."""
        draw = self.draw
        kind, size, part = draw.choice(
            [
                ("u8", 1, ""),
                ("i8", 1, ""),
                ("u16", 2, ""),
                ("i16", 2, ""),
                ("u64", 8, ""),
                ("uint2", 8, ".y"),
                ("uint4", 16, ".z"),
                ("uint4", 16, ".w"),
                ("uchar4", 4, ".z"),
                ("ushort2", 4, ".y"),
            ]
        )
        if array.text not in ("in",) and size > 4:
            kind, size, part = "u8", 1, ""
        view = Array(
            f"((const {kind} *){array.text})",
            kind,
            array.first * 4 // size,
            array.count * 4 // size,
        )
        index, guard = self.place(view, scope, level)
        loaded = f"{view.text}[{index}]{part}"
        result = {"uint2": "u32", "uint4": "u32", "uchar4": "u8", "ushort2": "u16"}.get(
            kind, kind
        )
        if guard:
            return Expr([f"({guard} ? {loaded} : ({result})1u)"], result, level)
        return Expr([loaded], result, level)

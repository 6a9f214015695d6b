"""Coefficients of the polynomials behind the transcendental functions, lowest power first.

Source: derived by `core/tests/codegen/decompositions/derive_coefficients.py`, which says how; its greatest
relative error stands beside each. Tests check these errors.
"""

from collections.abc import Mapping, Sequence

from plugrad.dtype import DType, dtypes

Coefficients = Mapping[DType, Sequence[float]]

#: e**r == 1 + r + r*r*P(r), for r in [-log(2)/2, log(2)/2] (and a little beyond)
EXP: Coefficients = {
    # 2**-28.0
    dtypes.float32: (
        0.49999988079071045,
        0.166665181517601,
        0.04166965186595917,
        0.008368948474526405,
        0.0013745010364800692,
    ),
    # 2**-57.8
    dtypes.float64: (
        0.5000000000000012,
        0.16666666666666471,
        0.04166666666651971,
        0.00833333333345867,
        0.0013888888945936648,
        0.00019841269581201887,
        2.480149100956101e-05,
        2.7557521612080825e-06,
        2.763091676598738e-07,
        2.502009800461959e-08,
    ),
}

#: 2**f == 1 + f*P(f), for f in [-0.5, 0.5] (and a little beyond)
EXP2: Coefficients = {
    # 2**-28.0
    dtypes.float32: (
        0.6931471824645996,
        0.24022644758224487,
        0.055503588169813156,
        0.00961883645504713,
        0.0013391308020800352,
        0.0001524011604487896,
    ),
    # 2**-57.3
    dtypes.float64: (
        0.6931471805599453,
        0.24022650695910133,
        0.055504108664822256,
        0.009618129107593482,
        0.001333355814638268,
        0.00015403530457798738,
        1.5252733803515011e-05,
        1.3215434978831274e-06,
        1.0178087584512348e-07,
        7.073830649377912e-09,
        4.449838733880283e-10,
    ),
}

#: ln(1+f) == f - f*f/2 + f**3*P(f), for 1+f in [sqrt(1/2), sqrt(2)]
LOG: Coefficients = {
    # 2**-30.0
    dtypes.float32: (
        0.3333331048488617,
        -0.25000014901161194,
        0.20002226531505585,
        -0.16667726635932922,
        0.14217562973499298,
        -0.12409746646881104,
        0.11905413120985031,
        -0.1165514588356018,
        0.06684155762195587,
    )
}

#: atanh(s) == s + s**3*P(s*s), for (1+s)/(1-s) in [sqrt(1/2), sqrt(2)]
ATANH: Coefficients = {
    # 2**-59.4
    dtypes.float64: (
        0.3333333333333368,
        0.19999999999702908,
        0.14285714371974592,
        0.1111109922001165,
        0.09091785131395587,
        0.07656958624010514,
        0.0739857034162983,
    )
}

#: atanh(s) == s + s**3/3 + s**5*P(s*s), on the same interval
ATANH_TAIL: Coefficients = {
    # 2**-36.7
    dtypes.float32: (0.20000077784061432, 0.14273421466350555, 0.1171230673789978),
    # 2**-66.2
    dtypes.float64: (
        0.20000000000001183,
        0.14285714285027595,
        0.11111111263382796,
        0.09090891918975325,
        0.07693389618074048,
        0.06628176795683029,
        0.06600143791782956,
    ),
}

#: sin(r) == r + r**3*P(r*r), for r in [-pi/4, pi/4]
SINE: Coefficients = {
    # 2**-27.8
    dtypes.float32: (-0.16666653752326965, 0.008332121185958385, -0.00019511012942530215),
    # 2**-57.9
    dtypes.float64: (
        -0.1666666666666663,
        0.008333333333321919,
        -0.00019841269829459042,
        2.7557313582665136e-06,
        -2.5050742416526147e-08,
        1.5895950989994064e-10,
    ),
}

#: cos(r) == 1 - r*r/2 + r**4*P(r*r), for r in [-pi/4, pi/4]
COSINE: Coefficients = {
    # 2**-33.0
    dtypes.float32: (0.04166664555668831, -0.0013887310633435845, 2.443256562401075e-05),
    # 2**-63.8
    dtypes.float64: (
        0.04166666666666659,
        -0.0013888888888872347,
        2.480158728846744e-05,
        -2.7557314080711417e-07,
        2.0875688730829875e-09,
        -1.1357962206478123e-11,
    ),
}

#: 2/pi in binary: the first 1280 digits behind the point, 32 to a word
TWO_OVER_PI = (
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D,
)  # fmt: skip

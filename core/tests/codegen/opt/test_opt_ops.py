import pickle

from plugrad.codegen.opt.opt_ops import Opt, OptOps


def test_an_opt_is_written_as_python() -> None:
    opt = Opt(OptOps.SWAP, (2, 0), (1,))
    assert repr(opt) == "Opt(OptOps.SWAP, axis=(2, 0), arg=(1,))"
    assert eval(repr(opt)) == opt


def test_an_opt_is_data() -> None:
    opt = Opt(OptOps.UPCAST, (1,), 4)
    assert pickle.loads(pickle.dumps(opt)) == opt
    assert len({opt, Opt(OptOps.UPCAST, (1,), 4)}) == 1

import gc

from plugrad import Tensor
from plugrad.runtime.live import LiveSet


def test_members_go_when_nobody_else_holds_them() -> None:
    live: LiveSet[Tensor] = LiveSet()
    kept, dropped = Tensor([1]), Tensor([2])
    live.add(kept)
    live.add(dropped)
    assert len(live) == 2
    del dropped
    gc.collect()
    assert list(map(id, live)) == [id(kept)]


def test_membership_is_by_identity_and_asks_no_tensor_for_equality() -> None:
    live: LiveSet[Tensor] = LiveSet()
    one, other = Tensor([1, 2]), Tensor([1, 2])
    live.add(one)
    assert one in live
    assert other not in live
    assert len(live) == 1


def test_the_set_may_grow_while_it_is_walked() -> None:
    live: LiveSet[Tensor] = LiveSet()
    tensors = [Tensor(i) for i in range(5)]
    for tensor in tensors:
        live.add(tensor)
    for seen in live:
        tensors.append(seen + 1)
        live.add(tensors[-1])
    assert len(live) == 10


def test_members_come_in_the_order_in_which_they_were_added() -> None:
    live: LiveSet[Tensor] = LiveSet()
    tensors = [Tensor(i) for i in range(100)]
    for tensor in tensors:
        live.add(tensor)
    del tensors[::3], tensor
    gc.collect()
    assert list(map(id, live)) == list(map(id, tensors))

"""Models in plugrad, jitted: `python -m suite.models.with_plugrad INDEX` prints the peak memory of one."""

from typing import Any

from plugrad import Tensor, jit, nn
from plugrad.settings import context
from suite.models.cases import RATE, Case
from suite.models.peak import Call, print_peak


def make_network(case: Case) -> Any:
    return case.network(nn, Tensor.scaled_dot_product_attention, Tensor.cat)


def make_call(case: Case, network: Any) -> Call:
    """Return what computes the network's result, or takes a step and returns its loss."""
    x = Tensor(case.example).contiguous().realize()
    if case.labels is None:
        network.eval()
        replayed = jit(lambda x: network(x))

        def call() -> Any:
            with context(WINO=int(case.winograd)):
                return replayed(x).numpy()

        return call
    parameters = nn.state.get_parameters(network)
    optimizer = nn.optim.AdamW(parameters, lr=RATE, weight_decay=case.decay)
    y = Tensor(case.labels.reshape(-1)).contiguous().realize()

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        with Tensor.train():
            optimizer.zero_grad()
            loss = network(x).cross_entropy(y)
            loss.backward()
            return loss.realize(*optimizer.schedule_step())

    return lambda: step(x, y).item()


if __name__ == "__main__":
    print_peak(lambda case: make_call(case, make_network(case)))

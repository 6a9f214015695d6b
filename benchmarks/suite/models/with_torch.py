"""Models in PyTorch, eager: `python -m suite.models.with_torch INDEX` prints the peak memory of one."""

from typing import Any

import torch
import torch.nn.functional as F

from suite.models.cases import RATE, Case
from suite.models.peak import Call, print_peak


def make_network(case: Case) -> Any:
    torch.manual_seed(0)
    return case.network(torch.nn, F.scaled_dot_product_attention, torch.cat)


def make_call(case: Case, network: Any, where: str = "cpu") -> Call:
    """Return what computes the network's result, or takes a step and returns its loss, on a device."""
    x = torch.from_numpy(case.example).to(where)
    network.to(where)
    if case.labels is None:
        network.eval()
        return torch.inference_mode()(lambda: network(x).cpu().numpy())
    network.train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=case.decay)
    y = torch.from_numpy(case.labels.reshape(-1)).to(where)

    def step() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def _alone(case: Case) -> Call:
    torch.set_num_threads(1)
    return make_call(case, make_network(case))


if __name__ == "__main__":
    print_peak(_alone)

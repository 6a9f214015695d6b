"""Run ensembles of decision trees: all trees of all samples descend level by level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.operators.ml.scores import labelled, transformed
from plugrad_onnx.registry import ML, operator
from plugrad_onnx.values import Array, shape_of

Transform = Literal["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
_MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
_OLD_MODES = {f"BRANCH_{mode}": i for i, mode in enumerate(_MODES)}
_LEAF = -1


@dataclass(frozen=True)
class Forest:
    """Hold trees as arrays with an entry for each node.

    Attributes:
        feature: column that a node looks at.
        mode: how it compares, as a number in `_MODES`; -1 for leaves.
        split: what it compares with: `(nodes, members)`, one member but for MEMBER.
        children: next node where the comparison fails, and where it holds: `(nodes, 2)`; a leaf's are itself.
        missing_is_true: where a NaN goes.
        roots: first node of each tree.
        weights: what a leaf says of each target: `(nodes, targets)`.
        votes: of which targets it says something.
    """

    feature: Array
    mode: Array
    split: Array
    children: Array
    missing_is_true: Array
    roots: Array
    weights: Array
    votes: Array

    def depth(self) -> int:
        """Return the number of comparisons on the longest way to a leaf.

        Raises:
            ValueError: a node is its own ancestor.
        """
        level, depth = set(self.roots.tolist()), 0
        while inner := {node for node in level if self.mode[node] != _LEAF}:
            level = set(self.children[sorted(inner)].reshape(-1).tolist())
            depth += 1
            if depth > len(self.mode):
                raise ValueError("a node of the trees is its own ancestor")
        return depth

    def leaves(self, x: Tensor) -> Tensor:
        """Return the leaf of each sample in each tree: `(samples, features) -> (samples, trees)`."""
        node = Tensor(self.roots).reshape(1, -1).expand(shape_of(x)[0], -1)
        tables = [
            Tensor(t) for t in (self.feature, self.children[:, 0], self.children[:, 1], self.missing_is_true)
        ]
        split = Tensor(self.split.astype(np.float64 if x.dtype == dtypes.float64 else np.float32))
        mode = Tensor(self.mode)
        for _ in range(self.depth()):
            value = x.gather(1, tables[0][node])
            holds = self._compare(value, split[node], mode[node]) | (value.isnan() & tables[3][node])
            node = holds.where(tables[2][node], tables[1][node])
        return node

    def _compare(self, value: Tensor, split: Tensor, mode: Tensor) -> Tensor:
        one = split[..., 0]
        rules = {
            0: lambda: value <= one,
            1: lambda: value < one,
            2: lambda: value >= one,
            3: lambda: value > one,
            4: lambda: value == one,
            5: lambda: value != one,
            6: lambda: (value.unsqueeze(-1) == split).any(-1),
        }
        out = Tensor.zeros(*shape_of(value), dtype=dtypes.bool)
        for number in sorted(set(self.mode.tolist()) - {_LEAF}):
            out = out | ((mode == number) & rules[number]())
        return out

    def scores(self, x: Tensor, aggregate: str, base: Sequence[float] = ()) -> Tensor:
        """Aggregate the scores of all trees: `(samples, features) -> (samples, targets)`."""
        at = self.leaves(_as_float(x))
        said = Tensor(self.weights)[at]
        if aggregate in ("MIN", "MAX"):
            silent = float("inf") if aggregate == "MIN" else float("-inf")
            votes = Tensor(self.votes)[at]
            voted = votes.where(said, silent)
            out = votes.any(1).where(voted.min(1) if aggregate == "MIN" else voted.max(1), 0)
        else:
            out = said.sum(1) / (len(self.roots) if aggregate == "AVERAGE" else 1)
        return out + Tensor(np.array(base, np.float32)).cast(out.dtype) if len(base) else out

    def has_votes(self, x: Tensor) -> Tensor:
        """Return for which targets some leaf says something: `(samples, features) -> (samples, targets)`."""
        return Tensor(self.votes)[self.leaves(_as_float(x))].any(1)


def _as_float(x: Tensor) -> Tensor:
    return x if x.dtype in (dtypes.float32, dtypes.float64) else x.cast(dtypes.float32)


@operator("TreeEnsemble", domain=ML, since=5)
def tree_ensemble(
    x: Tensor,
    *,
    aggregate_function: Literal[0, 1, 2, 3] = 1,
    leaf_targetids: tuple[int, ...],
    leaf_weights: Any,
    membership_values: Any = None,
    n_targets: int = 1,
    nodes_falseleafs: tuple[int, ...],
    nodes_falsenodeids: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_hitrates: Any = None,
    nodes_missing_value_tracks_true: tuple[int, ...] = (),
    nodes_modes: Any,
    nodes_splits: Any,
    nodes_trueleafs: tuple[int, ...],
    nodes_truenodeids: tuple[int, ...],
    post_transform: Literal[0, 1, 2, 3, 4] = 0,
    tree_roots: tuple[int, ...],
) -> Tensor:
    """Return the scores of an ensemble of trees for each target."""
    count, leaves = len(nodes_featureids), len(leaf_targetids)
    own = np.arange(count, count + leaves)
    false = np.array(nodes_falsenodeids) + count * np.array(nodes_falseleafs)
    true = np.array(nodes_truenodeids) + count * np.array(nodes_trueleafs)
    weights = np.zeros((count + leaves, n_targets), leaf_weights.dtype)
    weights[own, np.array(leaf_targetids)] = leaf_weights
    missing = np.array(nodes_missing_value_tracks_true or (0,) * count, bool)
    forest = Forest(
        feature=np.concatenate([np.array(nodes_featureids, np.int64), np.zeros(leaves, np.int64)]),
        mode=np.concatenate([nodes_modes.astype(np.int32), np.full(leaves, _LEAF, np.int32)]),
        split=_members(nodes_modes, nodes_splits, membership_values, leaves),
        children=np.concatenate([np.stack([false, true], 1), np.stack([own, own], 1)]).astype(np.int64),
        missing_is_true=np.concatenate([missing, np.zeros(leaves, bool)]),
        roots=np.array(tree_roots, np.int64),
        weights=weights,
        votes=weights != 0,
    )
    aggregate = ("AVERAGE", "SUM", "MIN", "MAX")[aggregate_function]
    transform = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")[post_transform]
    return transformed(forest.scores(x, aggregate), transform)


def _members(modes: Array, splits: Array, members: Array | None, leaves: int) -> Array:
    """Return the sets that nodes compare with; NaN ends each set."""
    sets: list[list[float]] = [[]]
    numbers: list[float] = [] if members is None else members.tolist()
    for member in numbers:
        if np.isnan(member):
            sets.append([])
        else:
            sets[-1].append(member)
    out = np.full((len(modes) + leaves, max(1, *map(len, sets))), np.nan, splits.dtype)
    out[: len(modes), 0] = splits
    of_nodes = (i for i, mode in enumerate(modes) if mode == _MODES.index("MEMBER"))
    for node, kept in zip(of_nodes, sets, strict=False):
        out[node] = np.nan
        out[node, : len(kept)] = kept
    return out


def _old_forest(nodes: dict[str, Any], votes: Mapping[str, Sequence[Any]], targets: int) -> Forest:
    """Return the trees of attributes that name a node by tree and number."""
    keys = {key: i for i, key in enumerate(zip(nodes["treeids"], nodes["nodeids"], strict=True))}
    mode = np.array([_OLD_MODES.get(name, _LEAF) for name in nodes["modes"]], np.int32)
    children = np.zeros((len(keys), 2), np.int64)
    for (tree, _), i in keys.items():
        pair = (nodes["falsenodeids"][i], nodes["truenodeids"][i])
        children[i] = i if mode[i] == _LEAF else [keys[tree, child] for child in pair]
    inner = {int(child) for i in range(len(keys)) if mode[i] != _LEAF for child in children[i]}
    weights = np.zeros((len(keys), targets), np.float32)
    voted = np.zeros((len(keys), targets), bool)
    for tree, node, target, weight in zip(
        votes["treeids"], votes["nodeids"], votes["ids"], votes["weights"], strict=True
    ):
        weights[keys[tree, node], target] += weight
        voted[keys[tree, node], target] = True
    missing = nodes["missing"] or (0,) * len(keys)
    return Forest(
        feature=np.array(nodes["featureids"], np.int64),
        mode=mode,
        split=np.array(nodes["values"], np.float64).reshape(-1, 1),
        children=children,
        missing_is_true=np.array(missing, bool),
        roots=np.array([i for i in keys.values() if i not in inner], np.int64),
        weights=weights,
        votes=voted,
    )


def _either(numbers: tuple[float, ...], tensor: Array | None) -> Sequence[float]:
    """Return numbers of an attribute, or of the tensor that stands in its place."""
    return numbers if tensor is None else tensor.reshape(-1).tolist()


@operator("TreeEnsembleRegressor", domain=ML, until=4)
def tree_ensemble_regressor(
    x: Tensor,
    *,
    aggregate_function: Literal["SUM", "AVERAGE", "MIN", "MAX"] = "SUM",
    base_values: tuple[float, ...] = (),
    base_values_as_tensor: Any = None,
    n_targets: int = 1,
    nodes_falsenodeids: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_hitrates: tuple[float, ...] = (),
    nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: tuple[int, ...] = (),
    nodes_modes: tuple[str, ...],
    nodes_nodeids: tuple[int, ...],
    nodes_treeids: tuple[int, ...],
    nodes_truenodeids: tuple[int, ...],
    nodes_values: tuple[float, ...] = (),
    nodes_values_as_tensor: Any = None,
    post_transform: Transform = "NONE",
    target_ids: tuple[int, ...],
    target_nodeids: tuple[int, ...],
    target_treeids: tuple[int, ...],
    target_weights: tuple[float, ...] = (),
    target_weights_as_tensor: Any = None,
) -> Tensor:
    """Return the predictions of an ensemble of trees for each target."""
    nodes = {
        "treeids": nodes_treeids,
        "nodeids": nodes_nodeids,
        "modes": nodes_modes,
        "featureids": nodes_featureids,
        "values": _either(nodes_values, nodes_values_as_tensor),
        "truenodeids": nodes_truenodeids,
        "falsenodeids": nodes_falsenodeids,
        "missing": nodes_missing_value_tracks_true,
    }
    votes = {
        "treeids": target_treeids,
        "nodeids": target_nodeids,
        "ids": target_ids,
        "weights": _either(target_weights, target_weights_as_tensor),
    }
    base = _either(base_values, base_values_as_tensor)
    out = _old_forest(nodes, votes, n_targets).scores(x, aggregate_function, base)
    return transformed(out.cast(dtypes.float32), post_transform)


@operator("TreeEnsembleClassifier", domain=ML, until=4)
def tree_ensemble_classifier(
    x: Tensor,
    *,
    base_values: tuple[float, ...] = (),
    base_values_as_tensor: Any = None,
    class_ids: tuple[int, ...],
    class_nodeids: tuple[int, ...],
    class_treeids: tuple[int, ...],
    class_weights: tuple[float, ...] = (),
    class_weights_as_tensor: Any = None,
    classlabels_int64s: tuple[int, ...],
    nodes_falsenodeids: tuple[int, ...],
    nodes_featureids: tuple[int, ...],
    nodes_hitrates: tuple[float, ...] = (),
    nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: tuple[int, ...] = (),
    nodes_modes: tuple[str, ...],
    nodes_nodeids: tuple[int, ...],
    nodes_treeids: tuple[int, ...],
    nodes_truenodeids: tuple[int, ...],
    nodes_values: tuple[float, ...] = (),
    nodes_values_as_tensor: Any = None,
    post_transform: Transform = "NONE",
) -> tuple[Tensor, Tensor]:
    """Return the label of each sample, and the scores of all labels."""
    nodes = {
        "treeids": nodes_treeids,
        "nodeids": nodes_nodeids,
        "modes": nodes_modes,
        "featureids": nodes_featureids,
        "values": _either(nodes_values, nodes_values_as_tensor),
        "truenodeids": nodes_truenodeids,
        "falsenodeids": nodes_falsenodeids,
        "missing": nodes_missing_value_tracks_true,
    }
    weights, base = (
        _either(class_weights, class_weights_as_tensor),
        _either(base_values, base_values_as_tensor),
    )
    votes = {"treeids": class_treeids, "nodeids": class_nodeids, "ids": class_ids, "weights": weights}
    forest = _old_forest(nodes, votes, max(class_ids) + 1)
    scores = forest.scores(x, "SUM", base).cast(dtypes.float32)
    threshold = 0.5 if post_transform == "NONE" and min(weights) >= 0 else 0.0
    candidates = None if len(base) else forest.has_votes(x)
    return labelled(scores, classlabels_int64s, post_transform, threshold, candidates)

"""What an emptiness check and the extraction of a counterexample need to know of a product: nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from aggmc.model.core import State

Node = TypeVar("Node", bound=Hashable)
StateSet = Any  # a set of states of the model, as the symbolic layer represents it


@dataclass(frozen=True, slots=True)
class Edge(Generic[Node]):
    """An edge of a product: its marks, where it leads, and the model's steps that it stands for.

    `step` is None where the edge stands for no step of its own, but for an infinite run inside its source (divergence
    in a SOG, the self-loops of a SOG-TGTA, a fair cycle in an aggregate of SLAP).
    """

    marks: int
    target: Node
    step: Any = None


class Product(Protocol[Node]):
    """A graph with marks on its edges, built lazily. The property is violated if a cycle carries all marks."""

    @property
    def marks(self) -> int:
        """The number of acceptance marks."""

    def initial(self) -> Iterable[Node]:
        """The initial nodes."""

    def successors(self, node: Node) -> Iterator[Edge[Node]]:
        """The edges that leave a node, the promising ones first."""


class AggregateProduct(Product[Node], Protocol[Node]):
    """A product whose nodes are sets of states."""

    def aggregate(self, node: Node) -> StateSet:
        """The states of a node."""

    def inside(self, node: Node) -> Any:
        """The steps by which a node's states reach each other, or None."""

    def fair(self, node: Node) -> Any:
        """Of a node with an edge without a step: the kinds of steps that must recur in the run that it stands for."""

    def entry(self, node: Node) -> StateSet:
        """Of an initial node: the initial states that it was closed from."""


class ExplicitProduct(Product[Node], Protocol[Node]):
    """A product whose nodes are single states."""

    def state(self, node: Node) -> State:
        """The state of a node."""


@dataclass(frozen=True, slots=True)
class Run(Generic[Node]):
    """An accepting run of a product: from an initial node by the prefix to the cycle's first node, and round."""

    initial: Node
    prefix: tuple[Edge[Node], ...]
    cycle: tuple[Edge[Node], ...]

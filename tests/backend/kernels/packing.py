"""Runs a route pack and compares it with the reference; shared by the tests in the interpreter and on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from backend.kernels.route_pack import OrdinaryRoutePack, RoutePackDeclaration, StableRoutePack, prepare_route_pack
from backend.reference_pack import packed_routes_reference

__all__ = ["GUARD", "OUTPUTS", "Packing", "hostile_ids", "poisoned"]

OUTPUTS = ("packed_routes", "block_experts", "packed_count", "expert_offsets")
#: Bytes behind the scratch that nobody may write.
GUARD = 256


def poisoned(nbytes: int, poison: str, device: str) -> Any:
    """A scratch with a guard zone behind it, full of 0xFF or of random bytes."""
    if poison == "0xFF":
        return torch.full((nbytes + GUARD,), 0xFF, dtype=torch.uint8, device=device)
    return torch.randint(0, 256, (nbytes + GUARD,), dtype=torch.uint8, device=device)


class Packing:
    """A prepared pack with a poisoned scratch of exactly the size that it asks for."""

    def __init__(self, poison: str = "0xFF", device: str = "cpu", **facts: Any) -> None:
        self.facts = RoutePackDeclaration(device=device, **facts)
        self.carrier: OrdinaryRoutePack | StableRoutePack = prepare_route_pack(self.facts)
        self.buffer = poisoned(self.carrier.layout.nbytes, poison, device)
        self.guard = self.buffer[self.carrier.layout.nbytes :].clone()
        self.views = self.carrier.views(self.buffer[: self.carrier.layout.nbytes])
        self.device = device

    def ids(self, rows: Any) -> Any:
        """Ids of the declared dtype on the device."""
        ids = rows if isinstance(rows, torch.Tensor) else torch.tensor(np.asarray(rows, dtype=np.int64))
        return ids.reshape(-1, self.facts.topk).to(getattr(torch, self.facts.id_dtype)).to(self.device)

    def run(self, ids: Any, expert_map: Any = None, live: int | None = None) -> None:
        """Launch, with the live count given as the facts want it."""
        count: Any = live
        if self.facts.live_in_memory:
            count = torch.tensor([ids.shape[0] if live is None else live], dtype=torch.int32, device=self.device)
        self.carrier(ids, self.views, expert_map=expert_map, live_tokens=count)

    def check(self, ids: Any, expert_map: Any = None, live: int | None = None) -> None:
        """Launch, and compare every element of every output with the reference."""
        self.run(ids, expert_map, live)
        self.compare(ids, expert_map, live)

    def compare(self, ids: Any, expert_map: Any = None, live: int | None = None) -> None:
        """Compare what lies in the scratch with the reference."""
        facts = self.facts
        rows = ids.shape[0] if live is None else max(0, min(live, ids.shape[0]))
        wanted = packed_routes_reference(
            ids.cpu().numpy()[:rows],
            experts=facts.experts,
            block=facts.block,
            slots=facts.slots,
            expert_map=None if expert_map is None else expert_map.cpu().numpy(),
            local_experts=facts.local_experts,
        )
        found = {name: getattr(self.views, name).cpu().numpy().copy() for name in OUTPUTS}
        if facts.algorithm == "ordinary":
            # The order inside an expert is free: sort both alike. The sentinel is above every route, so it stays last.
            for begin, end in zip(wanted.expert_offsets, wanted.expert_offsets[1:], strict=False):
                found["packed_routes"][begin:end].sort()
                wanted.packed_routes[begin:end].sort()
        for name in OUTPUTS:
            np.testing.assert_array_equal(found[name], getattr(wanted, name), err_msg=f"{name} of {rows} live rows")
        assert torch.equal(self.buffer[self.carrier.layout.nbytes :], self.guard), "written behind the scratch"


def hostile_ids(name: str, experts: int, count: int, chance: Any) -> Any:
    """`count` ids of one kind, int64."""
    if name == "one expert":
        return np.full(count, experts - 1)
    if name == "none valid":
        return chance.choice([-1, -(2**31), experts, experts + 1, 2**31 - 1], count)
    if name == "edges":
        return chance.choice([-1, 0, experts - 1, experts], count)
    if name == "beyond 2^31":
        # The low halves are valid ids: a truncated one would be taken for one.
        return chance.integers(0, experts, count) + chance.choice([0, 2**31, 2**32, 2**40, -(2**32), -(2**63)], count)
    if name == "ascending":
        return np.arange(count) % experts
    if name == "descending":
        return experts - 1 - np.arange(count) % experts
    return chance.integers(-1, experts + 1, count)

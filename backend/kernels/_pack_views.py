"""The caller's storage as a route pack sees it: views into the scratch, and checks of tensors before any launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import torch

from backend.kernels._pack_errors import (
    ForeignPackViewsError,
    MisalignedTensorError,
    NotATensorError,
    OverlappingTensorError,
    PackDtypeError,
    PackShapeError,
    PackStrideError,
    ShortScratchError,
    WrongDeviceError,
)
from backend.kernels._pack_facts import ALIGNMENT, RoutePackLayout

__all__ = ["RoutePackViews", "checked_input", "checked_tensor"]

Tensor = Any


def checked_tensor(name: str, tensor: Tensor, *, dtype: Any, device: Any) -> None:
    """Refuse what is not a contiguous tensor of this dtype on this device, at a natural address."""
    if not isinstance(tensor, torch.Tensor):
        raise NotATensorError(name=name, given=tensor)
    if tensor.dtype != dtype:
        raise PackDtypeError(name=name, given=tensor.dtype, wanted=dtype)
    if tensor.device != device:
        raise WrongDeviceError(name=name, given=tensor.device, wanted=device)
    if not tensor.is_contiguous():
        raise PackStrideError(name=name, given=tuple(tensor.stride()), shape=tuple(tensor.shape))
    if tensor.data_ptr() % tensor.element_size():
        raise MisalignedTensorError(name=name, address=tensor.data_ptr(), wanted=tensor.element_size())


@dataclass(frozen=True, eq=False, slots=True)
class RoutePackViews:
    """A scratch, cut up as the layout says; it borrows the caller's memory and allocates nothing.

    Made by `RoutePackViews.of()` or `carrier.views()`. All views are int32 and of one dimension. The content of the
    four outputs is that of the latest run; `packed_routes`, `block_experts` and `expert_offsets` are as long as the
    capacity asks, not the live count.
    """

    layout: RoutePackLayout
    scratch: Tensor
    packed_routes: Tensor
    block_experts: Tensor
    packed_count: Tensor
    expert_offsets: Tensor
    cursors: Tensor
    prefix: Tensor | None
    totals: Tensor | None

    def __post_init__(self) -> None:
        """Refuse views that are not those of the layout, so that a run need not look at each again."""
        base = self.scratch.data_ptr()
        for region in self.layout.regions:
            view = getattr(self, region.name)
            if (
                view is None
                or view.data_ptr() != base + region.offset
                or view.shape != (region.elements,)
                or view.dtype != torch.int32
                or view.device != self.scratch.device
            ):
                raise ForeignPackViewsError(given=f"another {region.name}", wanted=region)

    @classmethod
    def of(cls, layout: RoutePackLayout, scratch: Tensor, *, device: Any) -> Self:
        """Cut the scratch up: uint8 of one dimension on `device`, at a multiple of `ALIGNMENT` bytes.

        Raises:
            NotATensorError, PackDtypeError, WrongDeviceError, PackStrideError, PackShapeError, MisalignedTensorError,
            ShortScratchError: it is none that can be used; nothing has been written.

        """
        checked_tensor("scratch", scratch, dtype=torch.uint8, device=device)
        if scratch.dim() != 1:
            raise PackShapeError(name="scratch", given=tuple(scratch.shape), wanted="one dimension")
        if scratch.numel() < layout.nbytes:
            raise ShortScratchError(given=scratch.numel(), wanted=layout.nbytes)
        if scratch.data_ptr() % ALIGNMENT:
            raise MisalignedTensorError(name="scratch", address=scratch.data_ptr(), wanted=ALIGNMENT)
        views = {
            region.name: scratch[region.offset : region.offset + region.nbytes].view(torch.int32)
            for region in layout.regions
        }
        views.setdefault("prefix", None)
        views.setdefault("totals", None)
        return cls(layout=layout, scratch=scratch, **views)


def checked_input(name: str, tensor: Tensor, views: RoutePackViews, *, dtype: Any) -> None:
    """Refuse an input that the program cannot read, or that lies in the scratch."""
    checked_tensor(name, tensor, dtype=dtype, device=views.scratch.device)
    begin, scratch = tensor.data_ptr(), views.scratch.data_ptr()
    nbytes = tensor.numel() * tensor.element_size()
    if begin < scratch + views.layout.nbytes and scratch < begin + nbytes:
        raise OverlappingTensorError(name=name)

"""What can go wrong with a route pack: one class a mistake, each raised before anything is launched or written."""

from __future__ import annotations

from typing import Any

__all__ = [
    "ForeignPackViewsError",
    "InterpreterError",
    "LiveAboveCapacityError",
    "LiveCountError",
    "MisalignedTensorError",
    "NotAPackDeclarationError",
    "NotATensorError",
    "OverlappingTensorError",
    "PackDtypeError",
    "PackFactError",
    "PackMapError",
    "PackShapeError",
    "PackStrideError",
    "PackingAlgorithmError",
    "RoutePackError",
    "ShortScratchError",
    "WrongDeviceError",
]


class RoutePackError(Exception):
    """The base of every error of route packing."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with the message, which the keyword-only constructors below do not take.
        return _again, (type(self), self.args), self.__dict__


def _again(cls: type[RoutePackError], args: tuple[Any, ...]) -> RoutePackError:
    return cls.__new__(cls, *args)


class PackFactError(RoutePackError, ValueError):
    """A fact of a declaration is of the wrong type or out of range."""

    def __init__(self, *, fact: str, given: object, wanted: str) -> None:
        self.fact, self.given, self.wanted = fact, given, wanted
        super().__init__(f"the route pack was declared with {fact} = {given!r}, but it must be {wanted}")


class NotAPackDeclarationError(RoutePackError, TypeError):
    """Something else than a declaration was to be prepared."""

    def __init__(self, *, given: object) -> None:
        self.given = given
        super().__init__(
            f"prepare_route_pack() was given a {type(given).__qualname__}; give it a RoutePackDeclaration, "
            "which holds every fact that a program depends on"
        )


class PackingAlgorithmError(RoutePackError, ValueError):
    """A carrier of one algorithm was made from a declaration of the other."""

    def __init__(self, *, carrier: type, declared: str) -> None:
        self.carrier, self.declared = carrier, declared
        super().__init__(
            f"{carrier.__qualname__} cannot stand in for the declared algorithm {declared!r}; "
            "make carriers with prepare_route_pack()"
        )


class InterpreterError(RoutePackError, RuntimeError):
    """The device asks for compiled kernels where Triton interprets, or the other way round."""

    def __init__(self, *, device: str, interpreted: bool) -> None:
        self.device, self.interpreted = device, interpreted
        have, advice = (
            ("interprets (TRITON_INTERPRET=1)", "declare device='cpu', or start without that variable")
            if interpreted
            else ("compiles", "set TRITON_INTERPRET=1 before Triton is imported, or declare a CUDA device")
        )
        super().__init__(f"the route pack is declared for {device}, but Triton {have} in this process: {advice}")


class NotATensorError(RoutePackError, TypeError):
    """An argument is not a tensor."""

    def __init__(self, *, name: str, given: object) -> None:
        self.name, self.given = name, given
        super().__init__(f"`{name}` must be a torch.Tensor, not a {type(given).__qualname__}")


class PackDtypeError(RoutePackError, TypeError):
    """A tensor is not of the dtype that the program was compiled for."""

    def __init__(self, *, name: str, given: object, wanted: object) -> None:
        self.name, self.given, self.wanted = name, given, wanted
        super().__init__(f"`{name}` is {given}, but this route pack was compiled for {wanted}; prepare one for it")


class WrongDeviceError(RoutePackError, ValueError):
    """A tensor is on another device than the program."""

    def __init__(self, *, name: str, given: object, wanted: object) -> None:
        self.name, self.given, self.wanted = name, given, wanted
        super().__init__(f"`{name}` is on {given}, but this route pack was prepared for {wanted}")


class PackShapeError(RoutePackError, ValueError):
    """A tensor has another shape than the declaration says."""

    def __init__(self, *, name: str, given: tuple[int, ...], wanted: str) -> None:
        self.name, self.given, self.wanted = name, given, wanted
        super().__init__(f"`{name}` has the shape {given}, but must have {wanted}")


class PackStrideError(RoutePackError, ValueError):
    """A tensor is not contiguous; a copy would be an allocation, so none is made."""

    def __init__(self, *, name: str, given: tuple[int, ...], shape: tuple[int, ...]) -> None:
        self.name, self.given, self.shape = name, given, shape
        super().__init__(f"`{name}` of shape {shape} has the strides {given}; it must be contiguous (copy it yourself)")


class MisalignedTensorError(RoutePackError, ValueError):
    """An address is not a multiple of what the compiled loads and stores need."""

    def __init__(self, *, name: str, address: int, wanted: int) -> None:
        self.name, self.address, self.wanted = name, address, wanted
        super().__init__(
            f"`{name}` begins at {address:#x}, {address % wanted} bytes past a multiple of {wanted}; "
            f"begin it at a multiple of {wanted} bytes"
        )


class ShortScratchError(RoutePackError, ValueError):
    """The scratch is smaller than the layout of the declared capacity."""

    def __init__(self, *, given: int, wanted: int) -> None:
        self.given, self.wanted = given, wanted
        super().__init__(
            f"the scratch has {given} bytes, but the declared capacity needs {wanted} (`carrier.layout.nbytes`)"
        )


class OverlappingTensorError(RoutePackError, ValueError):
    """An input lies in the scratch, where it would be overwritten while it is read."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(f"`{name}` overlaps the scratch of the route pack; keep inputs outside of it")


class ForeignPackViewsError(RoutePackError, ValueError):
    """The views were made for another layout or device, so their sizes are those of another plan."""

    def __init__(self, *, given: object, wanted: object) -> None:
        self.given, self.wanted = given, wanted
        super().__init__(
            f"the views belong to another route pack ({given}, but this one has {wanted}); make them with "
            "`carrier.views(scratch)` of the carrier that runs"
        )


class LiveAboveCapacityError(RoutePackError, ValueError):
    """More tokens are live than the plan was prepared for, or than there are rows of ids."""

    def __init__(self, *, live: int, bound: int, what: str) -> None:
        self.live, self.bound, self.what = live, bound, what
        super().__init__(
            f"{live} tokens are live, above {what} of {bound}; split the call or prepare a plan of more capacity"
        )


class LiveCountError(RoutePackError, TypeError):
    """The live count was given in another way than declared: as an argument, or in device memory."""

    def __init__(self, *, given: object, in_memory: bool) -> None:
        self.given, self.in_memory = given, in_memory
        wanted = (
            "an int32 tensor of shape (1,), as declared by live_in_memory=True"
            if in_memory
            else "an int of at least 0, or None for all rows of `topk_ids`, as declared by live_in_memory=False"
        )
        what = repr(given) if isinstance(given, int) else f"a {type(given).__qualname__}"
        super().__init__(f"`live_tokens` is {what}, but must be {wanted}")


class PackMapError(RoutePackError, ValueError):
    """An expert map was given that was not declared, or a declared one is missing."""

    def __init__(self, *, declared: bool) -> None:
        self.declared = declared
        super().__init__(
            "the route pack was declared with an expert map (local_experts), so `expert_map` must be given"
            if declared
            else "the route pack was declared without an expert map; declare local_experts to use one"
        )

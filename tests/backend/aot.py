"""Compiles kernels ahead of time for GPUs that need not be there, and reads what they will use."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

#: The compute capabilities that kernels are compiled for.
CAPABILITIES = (80, 90, 100, 120)

_TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled kernel: registers a thread, bytes of stack (spills) a thread, shared memory a block, texts."""

    registers: int
    stack: int
    shared: int
    ttgir: str
    ptx: str

    def row(self, name: str) -> str:
        """A row for a table of resources."""
        return f"{name:<44} {self.registers:>9} {self.stack:>7} {self.shared:>7}"


#: The head of a table made of `Compiled.row`.
HEAD = f"{'kernel':<44} {'registers':>9} {'spills':>7} {'shared':>7}"


def compile_for(
    capability: int,
    kernel: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    folder: Path,
    *,
    aligned: bool = True,
    **options: Any,
) -> Compiled:
    """Compile `kernel` for sm_`capability`; if `aligned`, all pointers and integers are divisible by 16."""
    types = dict(signature) | dict.fromkeys(constants, "constexpr")
    named = [name for name in kernel.arg_names if name not in constants]
    divisible = {(kernel.arg_names.index(name),): [["tt.divisibility", 16]] for name in named} if aligned else {}
    source = ASTSource(kernel, signature=types, constexprs=dict(constants), attrs=divisible)
    # The choice about fusion is the default; newer versions of Triton warn unless it is made.
    compiled = triton.compile(
        source, target=GPUTarget("cuda", capability, 32), options={"enable_fp_fusion": True} | options
    )
    cubin = folder / "kernel.cubin"
    cubin.write_bytes(compiled.asm["cubin"])
    command = [str(_TOOLS / "cuobjdump"), "-res-usage", str(cubin)]
    usage = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", usage)
    assert found is not None, usage
    return Compiled(int(found[1]), int(found[2]), compiled.metadata.shared, compiled.asm["ttgir"], compiled.asm["ptx"])

"""Which functions are worth running: those whose text speaks of plans, and that make, change or hand out something."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.index.model import FunctionInfo, ModuleInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Interest"]

#: A name that stands in more files than this says nothing about plans.
_COMMON = 60

#: Functions that make one object from another, or set attributes by name, ...
_COPIERS = frozenset({"replace", "evolve", "assoc", "copy", "deepcopy", "partial", "setattr", "transfer"})

#: ... and how a module may give them another name.
_RENAMED = re.compile(rb"\b(?:replace|evolve|assoc|copy|deepcopy|partial|transfer)\s+as\s+(\w+)")

#: Methods that do the same, and calls of a class that the text does not name.
_COPYING_METHODS = frozenset({
    "_replace", "__replace__", "model_copy", "__setattr__", "__new__", "__init__", "__copy__", "__deepcopy__", "_make",
    "evolve", "cls", "__class__", "vars",
})  # fmt: skip

#: Modules of the copiers, which a function may import for itself.
_MODULES = frozenset({"copy", "dataclasses", "functools", "attrs", "attr"})

#: What a function may do on its own account: `from .records import Plan as Stage`.
_AS = re.compile(r"\b(\w+)\s+as\s+(\w+)")

_NEWLINE = re.compile(r"\n")
_CALL = re.compile(r"(?<!\w)(\w++)(?:\[[^\]\n]{0,200}\])?\s*+\(")
_BARE_CALL = re.compile(r"(?<![\w.])(\w++)(?:\[[^\]\n]{0,200}\])?\s*+\(")
_DOTTED_CALL = re.compile(r"(?<![\w.])(\w++)\.(\w++)\s*+\(")
_UNNAMED_CALL = re.compile(r"\)\(")  # `type(self)(...)`
_STORE = re.compile(r"\.(\w+)[ \t]*(?:=(?!=)|:[^\n=]*=(?!=)|,[^\n=(]{0,200}[^\n=(!<> ][ \t]*=(?!=))")
_READ = re.compile(r"[.\"'](\w+)")
_RETURN = re.compile(r"\b(?:return|yield)\b[ \t]*[^\s#]")


@dataclass(slots=True)
class _Facts:
    """What a function's body may do, as far as one look at its text tells."""

    makes: bool = False
    stores: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    returns: bool = False


class Interest:
    """The names by which code can speak of plans, and the functions that do so to some effect."""

    def __init__(self, project: Project, plans: PlanTable, names: Iterable[str]) -> None:
        self.project = project
        self.plans = plans
        self.names: set[str] = set(names)
        self.classes: set[str] = {cls.qualname.rpartition(".")[2] for cls in plans.direct}
        self.transferable = {name for plan in plans.direct.values() for name in plan.transferable}
        #: Names of functions that make or change plans, or call one that does.
        self.productive: set[str] = set()
        self._pattern = _pattern(self.names)
        self._lines: dict[str, list[int]] = {}
        self._facts: dict[FunctionInfo, _Facts] = {}
        self._starts: dict[str, list[int]] = {}
        self._wrappers: dict[FunctionInfo, bool] = {}
        self._maker_names: frozenset[str] | None = None

    # Text

    def add_class_names(self, names: Iterable[str]) -> bool:
        """Names under which modules know the plan classes; returns whether any of them is new."""
        self.classes |= set(names)
        return self.add(names)

    def add(self, names: Iterable[str]) -> bool:
        """Look for more names from now on; returns whether any of them is new."""
        fresh = set(names) - self.names
        self.names |= fresh
        if fresh:
            self._pattern = _pattern(self.names)
            self._lines.clear()
        return bool(fresh)

    def paths(self) -> list[str]:
        """The files whose text has one of the names."""
        needles = [name.encode() for name in self.names]
        return [path for path, file in self.project.tree.files.items() if any(n in file.data for n in needles)]

    def rare(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are not all over the project."""
        files = self.project.tree.files.values()
        return {
            name
            for name in names
            if not name.startswith("__") and sum(name.encode() in file.data for file in files) <= _COMMON
        }

    def speaks(self, module: ModuleInfo, first: int, last: int) -> bool:
        """Whether a span of lines has one of the names."""
        lines = self._lines.get(module.path)
        if lines is None:
            lines = self._lines[module.path] = self._scan(module.text)
        at = bisect_left(lines, first)
        return at < len(lines) and lines[at] <= last

    def _scan(self, text: str) -> list[int]:
        lines: list[int] = []
        line, last = 1, 0
        for match in self._pattern.finditer(text):
            line += text.count("\n", last, match.start())
            last = match.start()
            if not lines or lines[-1] != line:
                lines.append(line)
        return lines

    def is_spoken_of(self, info: FunctionInfo) -> bool:
        """Whether the text of a function, its decorators included, has one of the names."""
        first = min([info.node.lineno, *(decorator.lineno for decorator in info.decorators)])
        return self.speaks(info.module, first, info.node.end_lineno or info.node.lineno)

    def names_carriers(self, info: FunctionInfo) -> bool:
        """Whether the text of a function has two or more names of transferable fields."""
        return len(self.transferable.intersection(_READ.findall(self._text_of(info)))) > 1

    # Effect

    def is_root(self, info: FunctionInfo) -> bool:
        """Whether a function could copy a plan: it is worth an analysis of its own.

        One that leaves all the work to helpers needs two of them: for the new plan, and for what is put into it. A
        single helper that does both is a root itself.
        """
        if not self.is_spoken_of(info):
            return False
        facts = self._facts_of(info)
        acts = facts.makes or bool(facts.stores & self.transferable) or len(facts.calls & self.productive) > 1
        return acts or bool(info.decorators)

    def is_followed(self, info: FunctionInfo) -> bool:
        """Whether a call of this function can tell where a field comes from."""
        if not self.is_spoken_of(info):
            return self._names_productive(info)
        facts = self._facts_of(info)
        return self._acts(info) or (facts.returns and bool(facts.reads & self.transferable))

    def _names_productive(self, info: FunctionInfo) -> bool:
        """Whether a function that speaks of no plan calls one that makes them."""
        known = self._wrappers.get(info)
        if known is None:
            text = self._text_of(info)
            known = self._wrappers[info] = any(name in text for name in self.productive)
        return known

    def learn(self, modules: Iterable[ModuleInfo]) -> None:
        """Find the names of functions that make or change plans, through any number of calls."""
        functions = [info for module in modules for info in module.functions if self.is_spoken_of(info)]
        common: set[str] = set()
        while True:
            known = self.productive | common
            fresh = {info.node.name for info in functions if info.node.name not in known and self._acts(info)}
            rare = self.rare(fresh)
            common |= fresh - rare
            if not rare:
                return
            self.productive |= rare
            self._wrappers.clear()

    def _acts(self, info: FunctionInfo) -> bool:
        facts = self._facts_of(info)
        return facts.makes or bool(facts.stores & self.transferable) or bool(facts.calls & self.productive)

    def _facts_of(self, info: FunctionInfo) -> _Facts:
        facts = self._facts.get(info)
        if facts is None:
            facts = self._facts[info] = self._look(info)
        return facts

    def _look(self, info: FunctionInfo) -> _Facts:
        """Read a function's text; a look at every node of its tree would cost more than most analyses."""
        text = self._text_of(info)
        makers = self._makers()
        if " as " in text:
            makers |= {new for old, new in _AS.findall(text) if old in makers}
        facts = _Facts()
        facts.calls.update(_CALL.findall(text))
        facts.stores.update(_STORE.findall(text))
        facts.reads.update(_READ.findall(text))
        facts.returns = _RETURN.search(text) is not None
        facts.makes = (
            not facts.calls.isdisjoint(_COPYING_METHODS)
            or not makers.isdisjoint(_BARE_CALL.findall(text))
            or _UNNAMED_CALL.search(text) is not None
            or "__dict__" in text
            or any(
                attribute in self.classes
                or (attribute in makers and (name in info.module.bindings or name in _MODULES))
                for name, attribute in _DOTTED_CALL.findall(text)
            )
        )
        return facts

    def _text_of(self, info: FunctionInfo) -> str:
        module = info.module
        starts = self._starts.get(module.path)
        if starts is None:
            starts = self._starts[module.path] = [0, *(match.end() for match in _NEWLINE.finditer(module.text))]
        last = info.node.end_lineno or info.node.lineno
        return module.text[starts[info.node.lineno - 1] : starts[last] if last < len(starts) else len(module.text)]

    def _makers(self) -> frozenset[str]:
        """Names that, called, make a plan or copy an object; some of them only in other modules."""
        if self._maker_names is None:
            renamed: set[str] = set()
            for file in self.project.tree.files.values():
                if b" as " in file.data and any(b"%b as" % name.encode() in file.data for name in _COPIERS):
                    renamed.update(name.decode() for name in _RENAMED.findall(file.data))
            self._maker_names = _COPIERS | renamed
        return self._maker_names | self.classes


def _pattern(names: set[str]) -> re.Pattern[str]:
    if not names:
        return re.compile(r"(?!)")
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})\b")

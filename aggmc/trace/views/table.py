"""A table over time: variables down, steps across, `*` where a value has changed."""

from __future__ import annotations

from collections.abc import Callable

from aggmc.trace.trace import Trace
from aggmc.trace.views.common import Look, folded, shown_steps
from aggmc.trace.views.steps import why

Cell = tuple[str, bool]  # text, changed


def table_view(trace: Trace, look: Look) -> str:
    """The table, cut into blocks of as many steps as the width allows."""
    shown = shown_steps(trace, look)
    states = [trace.initial, *(step.state for step in trace.steps[:shown])]
    names = list(trace.initial)
    if not look.full_states:
        names = [name for name in names if len({state[name] for state in states}) > 1]
    table: list[tuple[str, list[Cell]]] = []
    for name in names:
        row = [state[name] for state in states]
        table.append((name, [(str(v), i > 0 and v != row[i - 1]) for i, v in enumerate(row)]))
    if trace.evidence is not None:
        for name, truth in trace.evidence.propositions.items():
            values = [truth[trace.position(i)] for i in range(shown + 1)]
            cells = [("T" if v else ".", i > 0 and v != values[i - 1]) for i, v in enumerate(values)]
            table.append((f"[{name}]", cells))
    lines = []
    left = len(trace.initial) - len(names)
    for block in _blocks(table, shown, look, len(trace.prefix) if trace.cycle and shown == len(trace.steps) else shown):
        lines += [*block, ""]
    if left:
        lines.append(look.paint(f"({left} more that {'does' if left == 1 else 'do'} not change: --full-states)", "dim"))
    if trace.cycle and shown == len(trace.steps):
        lines.append(f"after step {shown} comes step {len(trace.prefix) + 1} again, for ever")
    lines += [*folded(trace, look), *why(trace, look)]
    return "\n".join((look.indent + line).rstrip() for line in lines)


def _blocks(table: list[tuple[str, list[Cell]]], shown: int, look: Look, prefix: int) -> list[list[str]]:
    numbers = ["|" * (i > prefix) + str(i) for i in range(shown + 1)]  # a bar where the cycle is
    heads = ["step", *(name for name, _ in table)]
    width = min(max(map(len, heads)), look.width // 2)
    widths = [
        max([len(numbers[i]), *(len(cells[i][0]) + cells[i][1] for _, cells in table)]) for i in range(shown + 1)
    ]
    blocks: list[list[str]] = []
    start = 0
    while start <= shown:
        end, used = start, width
        while end <= shown and (end == start or used + widths[end] + 2 <= look.width - len(look.indent)):
            used += widths[end] + 2
            end += 1
        columns = range(start, end)
        block = [_line("step", [numbers[i] for i in columns], [widths[i] for i in columns], width, _bold(look))]
        for name, cells in table:
            texts = [cells[i][0] + "*" * cells[i][1] for i in columns]
            marked = {text for text in texts if text.endswith("*")}

            def paint(padded: str, marked: set[str] = marked) -> str:
                return look.paint(padded, "green") if padded.strip() in marked else padded

            block.append(_line(name, texts, [widths[i] for i in columns], width, paint))
        blocks.append(block)
        start = end
    return blocks


def _bold(look: Look) -> Callable[[str], str]:
    return lambda text: look.paint(text, "bold")


def _line(name: str, texts: list[str], widths: list[int], width: int, paint: Callable[[str], str]) -> str:
    head = name if len(name) <= width else name[: width - 1] + "…"
    return "  ".join([head.ljust(width), *(paint(t.rjust(w)) for t, w in zip(texts, widths, strict=True))])

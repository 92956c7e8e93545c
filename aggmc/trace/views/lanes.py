"""Lanes: each process has its column, and a step stands in the columns of those who take part."""

from __future__ import annotations

from aggmc.trace.trace import Step, Trace
from aggmc.trace.views.common import Look, endless, folded, rows, told_apart
from aggmc.trace.views.steps import flips, why

OTHERS = "(others)"  # the lane of events that belong to no process
MIN_WIDTH = 8


def lanes_view(trace: Trace, look: Look) -> str:
    """A column for each process that takes part."""
    shown = list(rows(trace, look))
    lanes: list[str] = []
    for name in [*trace.initial, OTHERS]:
        if any(name in cells(row.step) for row in shown):
            lanes.append(name)
    lanes += [name for row in shown for name in cells(row.step) if name not in lanes]
    lanes = list(dict.fromkeys(lanes))
    widths = []
    room = max(MIN_WIDTH, (look.width - 6) // max(len(lanes) + 1, 1) - 2)
    for name in lanes:
        widest = max(len(name), *(len(cells(row.step).get(name, "")) for row in shown))
        widths.append(min(widest, room))
    head = "      " + "  ".join(_fit(n, w) for n, w in zip(lanes, widths, strict=True))
    lines = [look.paint(head.rstrip(), "bold")]
    for row in shown:
        if row.opens_cycle:
            lines.append(look.paint(endless(trace), "bold", "yellow"))
        here = cells(row.step)
        columns = "  ".join(
            look.paint(_fit(here.get(name, "."), width), "bold" if name in here else "dim")
            for name, width in zip(lanes, widths, strict=True)
        )
        changes = ", ".join(f"{name}: {old} -> {new}" for name, (old, new) in told_apart(row.step).items())
        places = [str(actor.line) for actor in (row.step.actor, row.step.partner) if actor and actor.line]
        if places:
            changes = f"(line {', '.join(places)})   {changes}".rstrip()
        bar = look.paint("|", "yellow") if row.in_cycle else " "
        lines.append(f"{bar}{row.number:>3}. {columns}   {changes}{look.paint(flips(row, trace), 'cyan')}")
    lines += [*folded(trace, look), *why(trace, look)]
    return "\n".join((look.indent + line).rstrip() for line in lines)


def cells(step: Step) -> dict[str, str]:
    """What stands in which lane."""
    found: dict[str, str] = {}
    if step.event is None or step.actor is None:
        return {OTHERS: "deadlock"}
    for actor in (step.actor, step.partner):
        if actor is None:
            continue
        name = actor.process if actor.process is not None else OTHERS
        if actor.source is None:
            found[name] = step.event
        elif actor.source == actor.target:
            found[name] = f"at {actor.target}"
        else:
            found[name] = f"-> {actor.target}"
        if step.partner is not None:
            found[name] += " ="  # both sides of a rendezvous
    return found


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"

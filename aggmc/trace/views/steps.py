"""One line a step: who moves, from where to where, the line of the model, and what changes."""

from __future__ import annotations

from aggmc.ltl.semantics import Reason
from aggmc.trace.trace import Trace
from aggmc.trace.views.common import (
    Look,
    Row,
    endless,
    event,
    first_state,
    folded,
    rows,
    shown_state,
    told_apart,
)


def steps_view(trace: Trace, look: Look) -> str:
    """The run, step by step, and why it violates the property."""
    first = first_state(trace, look)
    left = len(trace.initial) - len(first)
    more = look.paint(f"{', ' if first else ''}{left} more that never change" if left else "", "dim")
    lines = [f"initially  {shown_state(first)}{more}{_truths(trace, look)}"]
    for row in rows(trace, look):
        if row.opens_cycle:
            lines.append(look.paint(endless(trace), "bold", "yellow"))
        lines.append(_step(row, trace, look))
        if look.full_states:
            lines.append(f"        {look.paint(shown_state(row.step.state), 'dim')}")
    lines += folded(trace, look)
    lines += why(trace, look)
    return "\n".join(look.indent + line for line in lines)


def _truths(trace: Trace, look: Look) -> str:
    """The propositions that hold at first."""
    if trace.evidence is None:
        return ""
    holding = [name for name, row in trace.evidence.propositions.items() if row[0]]
    return look.paint(f"   [{', '.join(holding)}]", "cyan") if holding else ""


def _step(row: Row, trace: Trace, look: Look) -> str:
    bar = look.paint("|", "yellow") if row.in_cycle else " "
    changes = [
        f"{name}: {look.paint(str(old), 'red')} -> {look.paint(str(new), 'green')}"
        for name, (old, new) in told_apart(row.step).items()
    ]
    text = f"{bar}{row.number:>3}. {look.paint(event(row.step), 'bold')}"
    if changes:
        text += f"   {', '.join(changes)}"
    return text + look.paint(flips(row, trace), "cyan")


def flips(row: Row, trace: Trace) -> str:
    """The propositions that a step changes: `[+p, -q]` if p begins to hold and q ends."""
    if trace.evidence is None:
        return ""
    target = trace.position(row.number)
    changed = trace.evidence.flips(row.number - 1, target)
    return f"   [{', '.join(('+' if now else '-') + name for name, now in changed.items())}]" if changed else ""


def why(trace: Trace, look: Look) -> list[str]:
    """The parts of the formula that explain the violation, and where each fails or holds."""
    if trace.evidence is None or not trace.evidence.reasons:
        return []
    lines = [look.paint("why:", "bold")]
    for reason in trace.evidence.reasons:
        colour = "green" if reason.value else "red"
        said = look.paint("holds" if reason.value else "fails", colour)
        lines.append(f"  {'  ' * reason.depth}{reason.text}  {said} {_where(reason, trace)}")
    return lines


def _where(reason: Reason, trace: Trace) -> str:
    place = "initially" if reason.position == 0 else f"after step {reason.position}"
    if not reason.always:
        return place
    whole = len(trace.prefix) if trace.cycle else len(trace.steps)
    return f"{place}, and ever after" if reason.position <= whole else f"{place} and in all of the cycle"

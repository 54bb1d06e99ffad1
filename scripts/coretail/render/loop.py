"""Figure 2: the update-and-retrieval loop of the core-tail controller, drawn from its own rule."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from coretail.controller.allocation import allocate, integer_slots
from coretail.render.style import PAGE_WIDTH, POLICIES, style

# The whole picture is laid out in inches, from its lower left corner.
_HEIGHT = 3.1
_RANKS = 12

_INK = "#222222"
_AGENT, _MEMORY, _AUDIT = "#E8F1F8", "#FDEEE5", "#F0F0F0"
_CORE, _TAIL = POLICIES["ctwm"].color, "#AAAAAA"


@dataclass(frozen=True, slots=True)
class _Box:
    """A box by its centre and size, in inches."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> tuple[float, float]:
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y

    @property
    def top(self) -> tuple[float, float]:
        return self.x, self.y + self.height / 2

    @property
    def bottom(self) -> tuple[float, float]:
        return self.x, self.y - self.height / 2


_ENVIRONMENT = _Box(0.87, 2.55, 1.34, 0.70)
_MODEL = _Box(3.30, 2.55, 1.34, 0.70)
_CONTEXT = _Box(5.91, 2.55, 1.56, 0.90)
_TRANSITION = _Box(0.87, 1.10, 1.34, 0.86)
_STORE = _Box(2.52, 1.10, 1.18, 0.86)
_RANKING = _Box(4.08, 1.10, 1.18, 0.86)
_ALLOCATION = _Box(5.91, 1.10, 1.56, 1.14)
_TAIL_AUDIT = _Box(2.52, 0.22, 2.00, 0.34)


@style()
def figure2(tau: float, slots: int) -> Figure:
    """Draw the loop: act, record, rank, allocate by rank, pack core and tail, act again.

    The bars in the allocation are not sketched: they are the slots that the controller hands out
    to so many ranked items.

    Parameters
    ----------
    tau
        Allocation exponent τ, from 0 up.
    slots
        Budget B of a context, in slots.

    Raises
    ------
    InputError
        If ``tau`` or ``slots`` is out of range.
    """
    fig = Figure(figsize=(PAGE_WIDTH, _HEIGHT))
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, PAGE_WIDTH), ylim=(0, _HEIGHT))
    ax.set_axis_off()

    _box(ax, _ENVIRONMENT, _AGENT, "environment", "takes the action\nand answers")
    _box(ax, _MODEL, _AGENT, "frozen language model", "chooses and predicts;\nis never updated")
    _box(
        ax,
        _TRANSITION,
        _MEMORY,
        "update",
        "structured state $s_t$,\ntransition\n$(s_t, a_t, s_{t+1})$",
    )
    _box(ax, _STORE, _MEMORY, "memory $W_t$", "transitions with\nsupport and\naccess counts")
    _box(
        ax,
        _RANKING,
        _MEMORY,
        r"ranking $\rho$",
        "relevance to $(s_t, a_t)$,\nthen support:\nranks $r = 1 \\ldots M$",
    )
    _box(ax, _CONTEXT, _MEMORY, "context $C_t$", "")
    _box(ax, _ALLOCATION, _MEMORY, r"allocation  $b(r;\tau) \propto r^{-\tau}$", "")
    _box(ax, _TAIL_AUDIT, _AUDIT, "", "tail audit of the access counts")

    core = _slot_bars(ax, tau, slots)
    ranks = "rank 1" if core == 1 else f"ranks 1–{core}"
    top = _CONTEXT.top[1]
    left = _CONTEXT.left[0] + 0.14
    ax.text(left, top - 0.36, f"core: {ranks}, in order", color=_CORE, va="center")
    ax.text(left, top - 0.54, "tail: count, usual and", color="#666666", va="center")
    ax.text(left, top - 0.70, "rare transitions, in sum", color="#666666", va="center")

    _arrow(ax, _CONTEXT.left, _MODEL.right, "prompt of\n$B$ slots")
    _arrow(ax, _MODEL.left, _ENVIRONMENT.right, "action $a_t$")
    _arrow(ax, _ENVIRONMENT.bottom, _TRANSITION.top, "observation $o_t$", side=1)
    _arrow(ax, _TRANSITION.right, _STORE.left)
    _arrow(ax, _STORE.right, _RANKING.left)
    _arrow(ax, _RANKING.right, _ALLOCATION.left)
    _arrow(ax, _ALLOCATION.top, _CONTEXT.bottom, "pack", side=1)
    loss = (_MODEL.x, 1.86)
    _arrow(ax, _MODEL.bottom, (loss[0], loss[1] + 0.10))
    ax.text(
        *loss,
        r"prediction $\hat{s}_{t+1}$, loss $\ell_t = \mathbf{1}\{\hat{s}_{t+1} \neq s_{t+1}\}$",
        ha="center",
        va="center",
    )
    _arrow(ax, _STORE.bottom, (_STORE.x, _TAIL_AUDIT.top[1]), dashed=True)
    corner = (_ALLOCATION.x, _TAIL_AUDIT.y)
    ax.plot(*zip(_TAIL_AUDIT.right, corner, strict=True), color=_INK, lw=0.8, ls="--")
    _arrow(ax, corner, _ALLOCATION.bottom, dashed=True)
    ax.text(4.62, corner[1] + 0.07, r"recommended $\tau$", ha="center", va="bottom")
    return fig


def _box(ax: Axes, box: _Box, color: str, title: str, text: str) -> None:
    """Draw a box with a bold title at its top and text below."""
    ax.add_patch(
        FancyBboxPatch(
            (box.left[0], box.bottom[1]),
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=color,
            edgecolor=_INK,
            linewidth=0.7,
        )
    )
    if title:
        ax.text(box.x, box.top[1] - 0.07, title, ha="center", va="top", weight="bold")
    centre = box.y - (0.09 if title else 0)
    ax.text(box.x, centre, text, ha="center", va="center", linespacing=1.3)


def _arrow(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    label: str = "",
    side: int = 0,
    dashed: bool = False,
) -> None:
    """Draw an arrow, its label above the middle (side 0) or to the right of it (side 1)."""
    ax.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": _INK,
            "lw": 0.8,
            "ls": "--" if dashed else "-",
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 8,
        },
    )
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if side:
        ax.text(x + 0.07, y, label, va="center")
    else:
        ax.text(x, y + 0.06, label, ha="center", va="bottom", linespacing=1.2)


def _slot_bars(ax: Axes, tau: float, slots: int) -> int:
    """Draw the slots of each rank inside the allocation's box; return how many ranks get any."""
    shares = allocate(_RANKS, tau)
    given = integer_slots(shares, slots)
    core = int((given > 0).sum())
    base, width = _ALLOCATION.bottom[1] + 0.34, (_ALLOCATION.width - 0.36) / _RANKS
    left = _ALLOCATION.left[0] + 0.18
    height = 0.50 / max(given.max(), 1)
    for rank, number in enumerate(given, start=1):
        x = left + (rank - 0.5) * width
        if number:
            ax.bar(x, number * height, 0.7 * width, bottom=base, color=_CORE)
            for step in range(1, number):
                level = base + step * height
                ax.plot([x - 0.35 * width, x + 0.35 * width], [level, level], color="white", lw=0.8)
        else:
            ax.bar(x, 0.03, 0.7 * width, bottom=base, color=_TAIL)
    ax.plot([left, left + _RANKS * width], [base, base], color=_INK, lw=0.6)
    # Neighbouring numbers would run into each other.
    labelled = {1, _RANKS} | ({core} if 2 < core < _RANKS - 1 else set())
    for rank in sorted(labelled):
        ax.text(left + (rank - 0.5) * width, base - 0.03, str(rank), ha="center", va="top", size=6)
    ax.text(
        *(_ALLOCATION.x, base - 0.15),
        rf"slots of each rank: $B$ = {slots}, $\tau$ = {tau:g}",
        ha="center",
        va="top",
        size=6,
    )
    return core

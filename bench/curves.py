"""Curves of errors against sizes, side by side, as one SVG with styles for light and dark pages."""

from math import log10

#: One look for each map: colour, dashes, mark. Peers are grey.
LOOKS = {
    "i.i.d.": ("#1f77b4", "", "o"),
    "orthogonal": ("#2ca02c", "", "o"),
    "quasi-random": ("#9467bd", "", "o"),
    "turned": ("#bcbd22", "2 2", "s"),
    "structured": ("#17becf", "4 3", "o"),
    "RBFSampler": ("#888888", "6 3", "s"),
    "landmarks, uniform": ("#d62728", "", "d"),
    "landmarks, k-means++": ("#ff7f0e", "", "d"),
    "landmarks, leverage": ("#8c564b", "", "d"),
    "landmarks, Cholesky": ("#e377c2", "", "d"),
    "Nystroem": ("#888888", "2 3", "s"),
}

#: For curves without one of their own, in order.
OTHERS = [("#1f77b4", "", "o"), ("#d62728", "", "d"), ("#2ca02c", "", "o"), ("#888888", "6 3", "s")]

WIDTH, HEIGHT, LEFT, TOP = 330, 300, 60, 40


def look(label, labels):
    return LOOKS.get(label) or OTHERS[[l for l in labels if l not in LOOKS].index(label) % len(OTHERS)]


def mark(kind, x, y, colour):
    if kind == "o":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
    if kind == "s":
        return f'<rect x="{x - 2.5:.1f}" y="{y - 2.5:.1f}" width="5" height="5" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 4:.1f}l4 4-4 4-4-4z" fill="{colour}"/>'


def panel(at, sizes, title, curves):
    """One data set: log-log axes, a line for each map."""
    values = [v for curve in curves.values() for v in curve if v > 0]
    low, high = int(log10(min(values)) // 1), int(-(-log10(max(values)) // 1))
    x = lambda D: at + (log10(D) - log10(sizes[0])) / (log10(sizes[-1]) - log10(sizes[0])) * WIDTH
    y = lambda v: TOP + (high - log10(max(v, 10.0**low))) / (high - low) * HEIGHT
    parts = [f'<text x="{at + WIDTH / 2:.0f}" y="{TOP - 16}" text-anchor="middle" class="title">{title}</text>']
    for decade in range(low, high + 1):
        h = y(10.0**decade)
        parts.append(f'<line x1="{at}" x2="{at + WIDTH}" y1="{h:.1f}" y2="{h:.1f}" class="grid"/>')
        parts.append(f'<text x="{at - 8}" y="{h + 4:.1f}" text-anchor="end">1e{decade}</text>')
    for D in sizes:
        parts.append(f'<text x="{x(D):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{D:,}</text>')
    for label, curve in curves.items():
        colour, dashes, kind = look(label, list(curves))
        points = [(x(D), y(v)) for D, v in zip(sizes, curve)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"/>')
        parts += [mark(kind, a, b, colour) for a, b in points]
    return parts


def drawn(sizes, figure, caption="features D; mean squared error of z(x)·z(y)", about="kernel errors of maps by size", columns=4):
    """The panels and a legend below them, in so many columns."""
    width = LEFT + len(figure) * (WIDTH + LEFT) + 20
    height = TOP + HEIGHT + 130
    parts = []
    for i, (title, curves) in enumerate(figure):
        parts += panel(LEFT + i * (WIDTH + LEFT), sizes, title, curves)
    parts.append(f'<text x="{width / 2:.0f}" y="{TOP + HEIGHT + 40}" text-anchor="middle">{caption}</text>')
    labels = list(dict.fromkeys(label for _, curves in figure for label in curves))
    for i, label in enumerate(labels):
        a, b = LEFT + (i % columns) * 185, TOP + HEIGHT + 66 + (i // columns) * 22
        colour, dashes, kind = look(label, labels)
        parts.append(f'<line x1="{a}" x2="{a + 24}" y1="{b - 4}" y2="{b - 4}" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"/>')
        parts.append(mark(kind, a + 12, b - 4, colour))
        parts.append(f'<text x="{a + 32}" y="{b}">{label}</text>')
    style = "text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}@media(prefers-color-scheme:dark){text{fill:#ccc}.grid{stroke:#444}}"
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{about}"><style>{style}</style>\n{body}\n</svg>\n'

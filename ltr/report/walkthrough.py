"""An explanation for a person at a terminal: every number of one query, in plain words."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from ltr import gains
from ltr.gap.numbers import counted, number
from ltr.metrics import RankingMetric
from ltr.report.changes import Change, Delta, silence
from ltr.report.explain import Explanation, MetricValue, Row
from ltr.report.layout import Block, Page

FEWEST, MOST = 10, 20  # positions that are shown however small the cutoff, and where there is none
TERMS = 8  # of a sum that is written out
RUNS = 5  # of positions that are written out
RULES = {  # what the words of a convention mean, but for the gain and the discount, which are told above
    "relevant": "the grades that make a document relevant",
    "max": "the highest grade there can be",
    "p": "how likely a reader goes on from one result to the next",
    "ideal=judged": "the best order is that of all graded documents, returned or not",
    "ideal=retrieved": "the best order is that of the returned documents alone",
    "divisor=R": "what is found is divided by R, the number of relevant documents",
    "divisor=k": "what is found is divided by k, the number behind @; without one by the length of the list",
    "divisor=min(R,k)": "what is found is divided by R, the number of relevant documents, or by k where that is less; "
    "without a cutoff, k is the length of the list",
    "divisor=min(k,n)": "what is found is divided by k, or by the length of the list where that is less",
    "divisor=hits": "what is found is divided by the number of relevant documents in the first k",
    "unjudged=zero": "a document that nobody graded counts as one of grade 0",
    "unjudged=ignored": "a document that nobody graded leaves the list",
    "ties=average": "documents with equal scores: the mean over all their orders",
    "ties=tau-b": "documents with equal scores: this metric has a rule of its own",
    "ties=docid": "documents with equal scores stand in descending order of their ids",
    "ties=stable": "documents with equal scores stand in the order of the input",
    "ties=worst": "documents with equal scores stand in the worst order",
    "ties=best": "documents with equal scores stand in the best order",
    "empty=skip": "a list without an answer is left out of a mean",
    "empty=zero": "a list without an answer counts 0 in a mean",
    "empty=one": "a list without an answer counts 1 in a mean",
    "empty=error": "a list without an answer is refused",
}


def print_explanation(found: Explanation, title: Sequence[str], notes: Sequence[str] = ()) -> None:
    """Print an explanation.

    Args:
        found: what ``ltr.report.explain.explain`` gives.
        title: what was explained, the query and the file, and by whose rules.
        notes: what is to be said below the metrics.
    """
    page = Page()
    for line in title:
        page.title(line, apart=False)
    _list(found, page)
    _sums(found, page)
    _metrics(found, page)
    page.lines(notes, hang=False)
    if found.change is not None:
        _what_if(found.change, page)
    conventions = list(dict.fromkeys(each.convention for each in (found.metric, *(v.metric for v in found.values))))
    words = dict.fromkeys(word for each in conventions for word in each.split()[1:])
    page.title("by these rules")
    page.lines(conventions, whole=True)
    meanings = {word: RULES.get(word) or RULES.get(word.partition("=")[0]) for word in words}
    page.terms({word: text for word, text in meanings.items() if text})


# -- the list ---------------------------------------------------------------------------------------------------------


def _list(found: Explanation, page: Page) -> None:
    metric, rows = found.metric, found.rows
    top = max(rows, key=lambda row: row.gain)
    page.lines(
        [
            "Somebody has graded each document: 0 is worth nothing, and the higher the better. The table goes down the "
            "list, from position 1 on top."
        ],
        apart=True,
        hang=False,
    )
    worth = f", so {_whole(top.gain)} for grade {gains.number(top.grade)}" if top.grade and top.gain else ""
    page.terms(
        {
            "gain": f"what a grade is worth: {metric.gain.formula} for grade y{worth}"
            + ("; here in parts of the largest one, which is too large to write down" if found.scaled else ""),
            "discount": f"how much of it counts, {metric.discount.formula} at position r: readers start at the top, "
            "and few go far"
            + (f"; only the first {metric.k} positions count" if metric.k and metric.k < len(rows) else ""),
            "points": "gain times discount",
            "sum": "the points from the top down to here",
            "best": "the grade that would stand here in the best order, the highest grades first, and its points",
        },
        apart=False,
    )
    shown = _shown(found)
    page.table([Block("position", list(_rows(found, shown)))], text=("document",))
    notes = []
    if more := len(rows) - len(shown):
        rest = _decimals(found.dcg - sum(row.worth for row in shown))
        many = counted(more, "more document")
        if metric.k is None:
            notes.append(f"Below, {many} {_count(more)} for {rest} points.")
        else:
            notes.append(f"Below, {many} {'does' if more == 1 else 'do'} not count.")
    if many_left := found.left_out:
        notes.append(f"{counted(many_left, 'document')} that nobody has graded left the list (unjudged=ignored).")
    if any(row.grade is None for row in shown):
        notes.append("-: nobody has graded this document; it counts as one of grade 0.")
    blocks = dict.fromkeys(row.block for row in shown if row.block[0] < row.block[1])
    if blocks:
        named = "; ".join(f"{first} to {end}" for first, end in blocks)
        notes.append(
            f"=: documents with equal scores (positions {named}). Nobody can say which comes first, so each gets the "
            "mean discount of its positions."
        )
    page.lines(notes, hang=False)


def _count(many: int) -> str:
    return "counts" if many == 1 else "count"


def _shown(found: Explanation) -> list[Row]:
    """The first positions, and those that the change touches."""
    touched = found.change.positions if found.change else ()
    return [row for row in found.rows if row.position <= _many(found) or row.position in touched]


def _many(found: Explanation) -> int:
    return max(FEWEST, found.metric.k or MOST)


def _rows(found: Explanation, shown: Sequence[Row]) -> Iterator[tuple[str, dict[str, str]]]:
    before = 0
    for row in shown:
        if row.position > before + 1:
            yield "...", {}
        before = row.position
        cells = {
            "document": row.document or "",
            "grade": _grade(row.grade),
            "gain": _whole(row.gain),
            "discount": _decimals(row.discount),
            "points": _decimals(row.worth),
            "sum": _decimals(row.total),
        }
        yield f"{row.position}{'=' if row.block[0] < row.block[1] else ''}", cells | _best(found, row.position)
    for position in range(len(found.rows) + 1, min(len(found.ideal), _many(found)) + 1):  # the list is short
        yield str(position), _best(found, position)


def _best(found: Explanation, position: int) -> dict[str, str]:
    """The cells of the best order at a position."""
    if position > len(found.ideal):
        return {"|": "|"}
    row = found.ideal[position - 1]
    return {"|": "|", "best": _grade(row.grade), "best points": _decimals(row.worth)}


# -- the sums ---------------------------------------------------------------------------------------------------------


def _sums(found: Explanation, page: Page) -> None:
    metric = found.metric
    counting = [row.worth for row in found.rows if metric.k is None or row.position <= metric.k]
    best = max(found.rows, key=lambda row: row.worth)
    page.title("DCG, discounted cumulative gain: the points that this list collects")
    page.lines(["The points, added up from the top down.", f"DCG = {_sum(counting, found.dcg)}"])
    if found.dcg > 0 and len(counting) > 1:
        page.lines([f"Position {best.position} alone holds {_percent(best.worth / found.dcg)} of it."])
    page.title("IDCG, ideal DCG: the points that the best order would collect")
    page.lines([f"The same sum, with the highest grades first.{_missed(found)}"], hang=False)
    page.lines([f"IDCG = {_sum([row.worth for row in found.ideal], found.idcg)}"])
    page.title("NDCG, normalised DCG: how near the one comes to the other")
    if found.value is None:
        none = "No document is worth anything, so no order is better than another, and there is no answer."
        page.lines([none, _empty(found)])
        return
    parts = f"{_decimals(found.dcg)} / {_decimals(found.idcg)} = {number(found.dcg / found.idcg)}"
    page.lines([f"{metric} = DCG / IDCG = {parts}"])
    if found.value == 0 < found.dcg:
        page.lines([f"By this rule it counts 0 all the same: the list has fewer than {metric.k} documents (short0)."])
        return
    share = "all" if found.value == 1 else _percent(found.value)
    page.lines(
        [
            f"This list collects {share} of what the best order would; 1 is the best there is, 0 the worst. The same "
            f"documents in a random order come to {number(found.floor)} on average."
        ],
        hang=False,
    )


def _missed(found: Explanation) -> str:
    many, good = len(found.missed), sum(grade > 0 for grade in found.missed)
    if not many:
        return ""
    of = f"of grade {_grade(found.missed[0])}" if many == 1 else f"{good or 'none'} of them above grade 0"
    lacks = f" The list lacks {counted(many, 'graded document')}, {of}"
    if found.metric.ideal == "retrieved":
        return f"{lacks}; by this rule (ideal=retrieved) {'it does' if many == 1 else 'they do'} not count."
    return f"{lacks}; {'it counts' if many == 1 else 'they count'} here." if good else f"{lacks}."


def _empty(found: Explanation) -> str:
    rule = {"skip": "leaves such a list out", "zero": "counts it as 0", "one": "counts it as 1", "error": "refuses it"}
    return f"A mean over lists {rule[found.metric.empty]} (empty={found.metric.empty})."


def _sum(terms: Sequence[float], total: float) -> str:
    written = [_decimals(term) for term in terms]
    if len(written) > TERMS + 2:
        written = [*written[:TERMS], "...", written[-1]]
    return f"{' + '.join(written)} = {_decimals(total)}" if len(written) > 1 else _decimals(total)


# -- the metrics ------------------------------------------------------------------------------------------------------


def _metrics(found: Explanation, page: Page) -> None:
    page.title("every metric on this list")
    said = [
        "Each asks something else of the same list.",
        _where_alike(found, "k", "@{0}: only the first {0} positions count."),
        _where_alike(found, "top", "max{0}: grades go up to {0}."),
        _where_alike(found, "threshold", "Relevant means a grade of {0} or more."),
        "A position moved a metric if its value would be another with a worthless document (grade 0) in that place.",
    ]
    page.lines([" ".join(each for each in said if each)], hang=False)
    rows = [
        (
            each.metric.name,
            {
                "value": "no answer" if each.value is None else number(each.value),
                "moved by": "-" if each.value is None else _positions(each.moved_by),
                "what it is": _title(type(each.metric)),
            },
        )
        for each in found.values
    ]
    page.table([Block("metric", rows)], text=("moved by", "what it is"))
    residuals = [_residual(each) for each in found.values if each.residual is not None]
    page.lines([*_silent(found.values), *residuals], hang=False)
    page.lines(
        ["ltr list ap says how ap is computed, and so of each; ltr list metrics says what each assumes of a reader."],
        hang=False,
    )


def _title(metric: type[RankingMetric]) -> str:
    title = (inspect.getdoc(metric) or "").partition("\n")[0].partition(":")[0]
    return title + ("" if metric.larger_is_better else " (less is better)")


def _where_alike(found: Explanation, option: str, text: str) -> str:
    """What an option means, where all metrics that have it set it to the same number."""
    some = {getattr(each.metric, option, None) for each in found.values} - {None}
    return text.format(gains.number(some.pop() or 0)) if len(some) == 1 else ""


def _silent(values: Sequence[MetricValue]) -> Iterator[str]:
    """Why some have no answer."""
    reasons: dict[str, list[str]] = {}
    for each in values:
        if each.value is None:
            reasons.setdefault(silence(each.metric), []).append(each.metric.name)
    for why, names in reasons.items():
        yield f"No answer by {', '.join(names)}: {why}."


def _residual(each: MetricValue) -> str:
    beyond = "the end of the list" if each.metric.k is None else "the cutoff"
    return (
        f"{each.metric}: residual {number(each.residual)}, the most that documents which nobody graded, or which stand "
        f"beyond {beyond}, could add to its value."
    )


def _positions(positions: Sequence[int]) -> str:
    """Runs as one: 1-3, 5."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][-1] == position - 1:
            runs[-1][1:] = [position]
        else:
            runs.append([position])
    texts = ["-".join(map(str, run)) for run in runs]
    more = len(texts) - RUNS
    return ", ".join([*texts[:RUNS], *([f"{more} more"] if more > 0 else [])]) or "none"


# -- the change -------------------------------------------------------------------------------------------------------


def _what_if(change: Change, page: Page) -> None:
    page.title(f"what if {change.said}?")
    shown = change.grades[: max(MOST, *change.positions)]
    more = ", ..." if len(shown) < len(change.grades) else "."
    page.lines([f"The grades are then {', '.join(map(_grade, shown))}{more}"])
    moved = [delta for delta in change.deltas if delta.moved]
    if moved:
        rows = [
            (
                delta.metric.name,
                {"before": number(delta.before), "after": number(delta.after), "change": number(delta.by, sign=True)},
            )
            for delta in moved
        ]
        page.table([Block("metric that moves", rows)], apart=False)
        page.lines(list(_reasons(moved)))
    still = [delta for delta in change.deltas if not delta.moved]
    if still:
        page.lines(["The others do not see it:" if moved else "No metric sees it:", *_reasons(still)])


def _reasons(deltas: Sequence[Delta]) -> Iterator[str]:
    for why in dict.fromkeys(delta.why for delta in deltas if delta.why):
        names = ", ".join(delta.metric.name for delta in deltas if delta.why == why)
        yield f"  {names}: {why}."


# -- numbers ----------------------------------------------------------------------------------------------------------


def _grade(grade: float | None) -> str:
    return "-" if grade is None else gains.number(grade)


def _whole(gain: float) -> str:
    return f"{gain:.0f}" if gain == round(gain) and gain < 1e6 else _decimals(gain)


def _decimals(value: float) -> str:
    return f"{value:.3f}" if value < 1e6 else f"{value:.4g}"


def _percent(share: float) -> str:
    if 0.995 <= share < 1:
        return "more than 99 %"
    return "less than 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"

"""From columns of any kind to the arrays of RankedLists: ids, numbers, the rows of a query, the rows of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ltr.data.judgements import refuse_repeats
from ltr.data.ranking_data import LARGEST, DataError
from ltr.evaluation.padding import Doubles, Integers

if TYPE_CHECKING:
    import polars as pl

KNOWN = ("query", "document", "label", "score")


class Texts:
    """A column of ids that reads like an array of text: texts[3], texts[rows], texts.tolist(), np.asarray(texts).

    It stays as polars holds it: a million Python strings cost a tenth of a second, and few are ever looked at.

    Example:
        >>> texts = Texts.of(["d7", "d8", 9])
        >>> texts[0], texts[np.array([2, 1])].tolist(), len(texts)
        ('d7', ['9', 'd8'], 3)
    """

    def __init__(self, series: pl.Series) -> None:
        self.series = series

    @classmethod
    def of(cls, values: Any, source: str = "arrays") -> Texts:
        """The values as text. Raises DataError, with the row, for one that is no id."""
        import polars as pl

        if isinstance(values, Texts):
            return values
        if isinstance(values, pl.Series):
            texts = values.cast(pl.String)
        else:
            keys = plain(values).tolist()
            texts = pl.Series([None if _is_no_id(key) else _text(key) for key in keys], dtype=pl.String)
        if texts.null_count():
            raise DataError(f"{source}, row {texts.is_null().arg_true()[0]}: wanted the id of a document, came none")
        return cls(texts)

    def __len__(self) -> int:
        return len(self.series)

    @overload
    def __getitem__(self, at: int | np.integer[Any]) -> str: ...
    @overload
    def __getitem__(self, at: slice | NDArray[Any]) -> Texts: ...
    def __getitem__(self, at: int | np.integer[Any] | slice | NDArray[Any]) -> str | Texts:
        if isinstance(at, slice):
            return Texts(self.series[at])
        if isinstance(at, np.ndarray):
            return Texts(self.series.filter(at) if at.dtype == np.bool_ else self.series.gather(at))
        return str(self.series[int(at)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.tolist(), dtype=dtype or object)

    def tolist(self) -> list[str]:
        return self.series.to_list()


class Attributes(dict[str, NDArray[Any]]):
    """What is known of queries, by name [Q]. To ask for what is not there, or is not one value a query, is an error.

    Example:
        >>> attributes = Attributes({"market": np.array(["de", "fr"])}, {"price": "5 and 7 in query q1"})
        >>> attributes["price"]
        Traceback (most recent call last):
        ltr.data.ranking_data.DataError: wanted one value of price a query, came 5 and 7 in query q1
    """

    def __init__(self, known: Mapping[str, NDArray[Any]], varying: Mapping[str, str]) -> None:
        super().__init__(known)
        self.varying = dict(varying)

    def __missing__(self, name: str) -> NDArray[Any]:
        if name in self.varying:
            raise DataError(f"wanted one value of {name} a query, came {self.varying[name]}")
        raise DataError(f"wanted an attribute of the queries ({', '.join(self) or 'there are none'}), came {name}")


def plain(values: Any) -> NDArray[Any]:
    """An array of whatever it is: a tensor of any device, a list (whose numbers stay as they are), a series."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        return np.asarray(values.double() if values.is_floating_point() else values)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    return np.fromiter(values, dtype=object) if isinstance(values, Iterable) else np.asarray(values)


def numbers(values: Any, name: str, source: str) -> Doubles:
    """Flat numbers as float64.

    Raises:
        DataError: they are no numbers, not flat, or whole numbers that float64 does not tell apart.
    """
    given = plain(values)
    try:
        if given.dtype.kind not in "biufO" or any(isinstance(value, str) for value in given.flat[:1]):
            raise TypeError
        found = given.astype(np.float64)
    except (TypeError, ValueError):
        shown = ", ".join(map(repr, given.flat[:3].tolist()))
        raise DataError(f"{source}: wanted {name} as flat numbers, came {shown}") from None
    if found.ndim != 1:
        raise DataError(f"{source}: wanted {name} as flat numbers, one a row, came shape {list(found.shape)}")
    if given.dtype.kind in "iu":
        with np.errstate(invalid="ignore"):
            changed = found.astype(given.dtype) != given
        if changed.any():
            came = given[changed][0]
            raise DataError(f"{source}: wanted {name} as numbers that float64 tells apart (to 2^53), came {came}")
    return found


def grouped(qid: Any, rows: int, source: str) -> tuple[tuple[str, ...], Integers]:
    """The different ids as text, in order of first appearance, and [N] the place of each row's id among them.

    Raises:
        DataError: not one id a row, a row without an id, or two ids that are one text, such as 1 and "1".
    """
    given = plain(qid)
    if given.shape != (rows,):
        raise DataError(f"{source}: wanted a query id for each of {rows} rows, came shape {list(given.shape)}")
    try:
        changed = np.asarray(given[1:] != given[:-1], dtype=np.bool_)
    except (TypeError, ValueError):  # values that refuse to be compared
        changed = np.ones(rows - 1, np.bool_)
    heads = np.flatnonzero(np.concatenate([[True], changed]))  # rows of a query often stand together
    if given.dtype.kind == "O":
        keys = given[heads].tolist()
        try:
            index = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        except TypeError as error:
            raise DataError(f"{source}: wanted query ids such as texts or numbers, came {error}") from None
        place = np.fromiter(map(index.__getitem__, keys), np.int64, len(keys))
        first = np.unique(place, return_index=True)[1]
    else:
        _, first, place = np.unique(given[heads], return_index=True, return_inverse=True)
        order = np.argsort(first)
        first, place = first[order], np.argsort(order)[place]
    texts: dict[str, Any] = {}
    for key, row in zip(given[heads[first]].tolist(), heads[first].tolist(), strict=True):
        text = _text(key)
        if _is_no_id(key):
            raise DataError(f"{source}, row {row}: wanted a query id, came {text}")
        if text in texts:
            raise DataError(
                f"{source}, row {row}: wanted query ids of one kind, came {key!r} after {texts[text]!r}, which both "
                f"read {text}"
            )
        texts[text] = key
    return tuple(texts), np.repeat(place, np.diff(np.append(heads, rows)))


def together(group: Integers, queries: int) -> tuple[Integers | None, Integers]:
    """(order of rows that puts those of a query together, None where they are; [Q + 1] offsets)."""
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=queries))]).astype(np.int64)
    sorted_already = bool((group[1:] >= group[:-1]).all())
    return None if sorted_already else np.argsort(group, kind="stable"), offsets


def ids_and_numbers(table: pl.DataFrame, wanted: tuple[str, ...], source: str) -> pl.DataFrame:
    """The table with ids as text and numbers as Float64, and nothing in them that evaluation refuses."""
    import polars as pl

    if not isinstance(table, pl.DataFrame):
        raise DataError(f"{source}: wanted a polars DataFrame of {', '.join(wanted)}, came {type(table).__name__}")
    lacking = [name for name in wanted if name not in table.columns]
    if lacking or not len(table):
        came = ", ".join(table.columns) if lacking else "no rows"
        raise DataError(f"{source}: wanted the columns {', '.join(wanted)}, came {came}")
    for name in {"query", "document"} & set(table.columns):
        if table[name].null_count():
            raise DataError(
                f"{source}, row {table[name].is_null().arg_true()[0]}: wanted the id of a {name}, came none"
            )
    kinds = {"query": pl.String, "document": pl.String, "label": pl.Float64, "score": pl.Float64}
    try:
        return table.with_columns(pl.col(name).cast(kind) for name, kind in kinds.items() if name in table.columns)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{source}: cannot be read ({str(error).splitlines()[0]})") from error


def places(queries: pl.Series) -> tuple[tuple[str, ...], Integers]:
    """The different ids, in order of first appearance, and [N] the place of each row's id among them."""
    query_ids = tuple(queries.rle().struct.field("value").unique(maintain_order=True))
    return query_ids, among(queries, query_ids)


def among(queries: pl.Series, query_ids: tuple[str, ...]) -> Integers:
    """[N] the place of each row's id among the ids, -1 where it is not there."""
    import polars as pl

    runs = queries.rle()  # rows of a query often stand together
    found = runs.struct.field("value").cast(pl.Enum(query_ids), strict=False).to_physical()
    return np.repeat(found.cast(pl.Int64).fill_null(-1).to_numpy(), runs.struct.field("len").to_numpy())


def weights(given: Any, group: Integers, query_ids: tuple[str, ...], source: str) -> Doubles:
    """[Q] weights from one a query or one a row (group tells of which query).

    Raises:
        DataError: another number of them, two in one query, or one that is not a number from 0 to 1e30.
    """
    weight = numbers(given, "weights", source)
    if len(weight) not in (len(group), len(query_ids)):
        raise DataError(
            f"{source}: wanted a weight for each of {len(group)} rows or {len(query_ids)} queries, came {len(weight)}"
        )
    if len(weight) != len(query_ids):
        each = np.zeros(len(query_ids))
        each[group[::-1]] = weight[::-1]
        differs = weight != each[group]
        differs &= ~(np.isnan(weight) & np.isnan(each[group]))
        if differs.any():
            row = int(np.argmax(differs))
            raise DataError(
                f"{source}, row {row}: wanted one weight a query, "
                f"came {weight[row]:g} after {each[group[row]]:g} in query {query_ids[group[row]]}"
            )
        weight = each
    usable = (weight >= 0) & (weight <= LARGEST)
    if not usable.all():
        at = int(np.argmin(usable))
        raise DataError(
            f"{source}: wanted a weight that is a number from 0 to {LARGEST:g} for each query, "
            f"came {'none' if np.isnan(weight[at]) else f'{weight[at]:g}'} for {query_ids[at]}"
        )
    return weight


def attributes_of(table: pl.DataFrame, group: Integers, query_ids: tuple[str, ...]) -> Attributes:
    """The other columns of a table (weight among them) as one value a query; empty cells say nothing.

    Args:
        table: rows of any number of queries.
        group: [N] place of each row's query, -1 for rows that do not count.
        query_ids: Q texts.
    """
    known, varying = {}, {}
    for name in table.columns:
        if name in KNOWN:
            continue
        for part in (1000, len(table)):  # what is told of documents differs at once
            column, places = table[name][:part], group[:part]
            said = column.is_not_null().to_numpy() & (places >= 0)
            column, places = column.filter(said), places[said]
            first = np.full(len(query_ids), len(column))
            first[places[::-1]] = np.arange(len(column))[::-1]
            differs = (column != column.gather(first[places])).arg_true()
            if len(differs):
                place = places[differs[0]]
                values = f"{column[int(first[place])]} and {column[int(differs[0])]}"
                varying[name] = f"{values} in query {query_ids[place]}"
                break
        else:
            known[name] = column.extend_constant(None, 1).gather(first).to_numpy()
    return Attributes(known, varying)


def matched(rows: pl.DataFrame, judgements: pl.DataFrame, source: str) -> Integers:
    """[N] the row of the judgements that speaks of each row's document, -1 where none does.

    Rows are sorted together by a hash, several times faster than a join on text, and those that meet are compared as
    text. Where a hash brings strangers together, text alone decides.

    Args:
        rows, judgements: columns query, document (String) and place, that of the query.
        source: what messages name.

    Raises:
        DataError: a document stands twice in a query.
    """
    left = len(rows)
    keys = _keys(np.concatenate([rows["place"], judgements["place"]]), _hash(rows), _hash(judgements))
    keys.sort()
    bits = np.uint64(len(keys).bit_length())
    at = (keys & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    keys >>= bits
    same = np.concatenate([[False], keys[1:] == keys[:-1], [False]])
    pairs = np.flatnonzero(same[1:-1] & ~same[:-2] & ~same[2:])
    pairs = pairs[(at[pairs] < left) & (at[pairs + 1] >= left)]
    row, judgement = at[pairs], at[pairs + 1] - left
    equal = (rows["document"].gather(row) == judgements["document"].gather(judgement)).to_numpy()
    found = np.full(left, -1)
    found[row[equal]] = judgement[equal]
    unclear = same[1:] | same[:-1]
    unclear[pairs[equal]] = unclear[pairs[equal] + 1] = False
    if unclear.any():
        some = np.sort(at[unclear])
        _match_as_text(rows, judgements, some[some < left], some[some >= left] - left, found, source)
    return found


def _keys(place: Integers, *hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """[N] from the highest bit: the query, as much of the hash of the document as there is room for, the row."""
    query_bits, row_bits = (np.uint64(int(most).bit_length()) for most in (place.max() + 1, len(place)))
    keys = np.concatenate(hashes) >> query_bits >> row_bits << row_bits
    keys |= place.astype(np.uint64) << (np.uint64(64) - query_bits)
    return keys | np.arange(len(keys), dtype=np.uint64)


def _hash(table: pl.DataFrame) -> NDArray[np.uint64]:
    return table["document"].hash().to_numpy()


def _match_as_text(
    rows: pl.DataFrame, judgements: pl.DataFrame, some: Integers, spoken: Integers, found: Integers, source: str
) -> None:
    """Match these rows with these judgements and nothing but their text. A row or judgement is named from 0."""
    refuse_repeats(rows[some], lambda row: f"{source}: the run, row {some[row]}")
    refuse_repeats(judgements[spoken], lambda row: f"{source}: the judgements, row {spoken[row]}")
    pair = ["place", "document"]
    unclear = rows[some].select(*pair).with_row_index("row")
    met = unclear.join(judgements[spoken].select(*pair).with_row_index("judgement"), on=pair)
    found[some[met["row"].to_numpy()]] = spoken[met["judgement"].to_numpy()]


def _is_no_id(key: Any) -> bool:
    return not isinstance(key, str | bytes) and str(key) in ("None", "nan", "NaT", "<NA>")


def _text(key: Any) -> str:
    return key.decode(errors="backslashreplace") if isinstance(key, bytes) else str(key)

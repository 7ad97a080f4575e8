"""Names and conventions of all metrics under any options: a name is read back, and one that differs means another."""

import shlex
from dataclasses import fields, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ltr.metrics import RankingMetric, parse

Metrics = st.SearchStrategy[list[RankingMetric]]


@settings(max_examples=1000)
@given(st.data())
def test_every_name_reads_back_and_is_safe_to_type(anyhow: Metrics, data: st.DataObject) -> None:
    for metric in data.draw(anyhow):
        assert parse(str(metric)) == metric
        assert hash(parse(metric.name)) == hash(metric)
        assert shlex.quote(metric.name) == metric.name
        assert not set(metric.name) & set("=,()[]{}:$~/\\ ")


@settings(max_examples=1000)
@given(st.data(), st.integers(0, 99))
def test_names_and_conventions_differ_where_an_option_does(anyhow: Metrics, data: st.DataObject, which: int) -> None:
    """Of metrics that are alike but for one option at most."""
    for metric, other in zip(data.draw(anyhow), data.draw(anyhow), strict=True):
        option = fields(metric)[which % len(fields(metric))].name
        changed = replace(metric, **{option: getattr(other, option)})
        assert (metric == changed) == (metric.name == changed.name) == (metric.convention == changed.convention)
        assert (metric.name == other.name) == (metric == other)

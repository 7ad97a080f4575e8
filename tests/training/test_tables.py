"""The table of per-list values: each list once, in any order of batches."""

import pytest
import torch

from ltr.training import QueryTable


def test_rows_come_in_order_of_query_and_once() -> None:
    table = QueryTable(["a", "b"])
    table.update(torch.tensor([3, 0]), {"a": torch.tensor([0.3, 0.0]), "b": torch.tensor([1, 2])})
    table.update(torch.tensor([1, 3]), {"a": torch.tensor([0.1, 0.3]), "b": torch.tensor([True, False])})
    found = table.compute()
    assert {name: column.tolist() for name, column in found.items()} == {
        "query": [0, 1, 3],
        "a": [0.0, pytest.approx(0.1), pytest.approx(0.3)],
        "b": [2.0, 1.0, 1.0],
    }
    assert found["a"].dtype == torch.float64


def test_a_reset_frees_the_rows() -> None:
    table = QueryTable(["a"])
    table.update(torch.tensor([0]), {"a": torch.tensor([1.0])})
    table.reset()
    assert table.query == []
    assert table.values == []


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric QueryTable was called before:UserWarning")
def test_a_table_of_nothing_is_empty() -> None:
    found = QueryTable(["a"]).compute()
    assert {name: (column.dtype, list(column.shape)) for name, column in found.items()} == {
        "query": (torch.int64, [0]),
        "a": (torch.float64, [0]),
    }


def test_ids_and_values_stay_exact_whatever_the_module_is_made() -> None:
    table = QueryTable(["a"])
    table.update(torch.tensor([2**53 + 1]), {"a": torch.tensor([0.1], dtype=torch.float64)})
    table.to(torch.float16)
    table.set_dtype(torch.float32)
    found = table.compute()
    assert found["query"].tolist() == 2**53 + 1  # torchmetrics makes a scalar of a column of one list
    assert found["a"].item() == 0.1

"""Means of two processes: every query once, whatever each process was given."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Each process runs this with its rank. Of the five lists the first and the last have their relevant document on top.
PROGRAM = """
import json, sys, warnings
import torch
from ltr.training import MetricMean, QueryTable

rank = int(sys.argv[1])
torch.distributed.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
relevant = torch.tensor([1, 0, 0, 0, 1])
scores, labels = torch.tensor([[1.0, 0.0]]).expand(5, 2), torch.stack([relevant, 1 - relevant], 1)
ids = torch.arange(5) * 10**12
# what torch's DistributedSampler gives: filled up with the first list again
share = ([0, 2, 4], [1, 3, 0])[rank]
found = {}

sums, rows = MetricMean("ndcg@1"), MetricMean(["ndcg@1", "mrr"], per_query=True)
for query in share:
    rows.update(scores[[query]], labels[[query]], indexes=ids[[query]])
for query in share[: 3 - rank]:
    sums.update(scores[[query]], labels[[query]], weight=torch.tensor([query + 1.0]))
found["once"] = {name: value.item() for name, value in rows.compute().items()}
found["table"] = {name: column.tolist() for name, column in rows.table().items()}
found["weighted"], found["summary"] = sums.compute().item(), sums.summary()["ndcg@1"]
assert len(rows.metric_state["query of ndcg@1 mrr"]) == len(share), "each process has its own again"

late, table = MetricMean("mrr", per_query=True), QueryTable(["a", "b"])
if rank == 0:  # one process has all the lists
    late.update(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([0, 1, 1]), indexes=torch.tensor([8, 8, 2**53 + 1]))
    table.update(ids, {"a": relevant, "b": relevant})
found["late"] = {name: column.tolist() for name, column in late.table().items()}
with warnings.catch_warnings(action="ignore"):  # torchmetrics says that nothing came
    found["rows"] = table.compute()["query"].tolist()
print(json.dumps(found))
torch.distributed.destroy_process_group()
"""


def test_two_processes_count_every_query_once(tmp_path: Path) -> None:
    # field report ddp-01: a sampler that fills up makes 0.5 of a mean of 0.4.
    # https://github.com/pytorch/pytorch/issues/25162
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    started = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "meeting")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    done = [(*each.communicate(timeout=300), each.returncode) for each in started]
    assert [code for *_, code in done] == [0, 0], [errors for _, errors, _ in done]
    first, second = (json.loads(output.splitlines()[-1]) for output, *_ in done)
    assert first == second
    assert first["once"] == {"ndcg@1": 0.4, "mrr": 0.7}
    assert first["table"] == {
        "query": [at * 10**12 for at in range(5)], "ndcg@1": [1, 0, 0, 0, 1], "mrr": [1, 0.5, 0.5, 0.5, 1]
    }  # fmt: skip
    # the sums of lists 0, 2, 4 and 1, 3, weighed 1 to 5
    assert first["weighted"] == pytest.approx((1 + 5) / (1 + 2 + 3 + 4 + 5))
    assert (first["summary"]["mean"], first["summary"]["lists"]) == (first["weighted"], 5)
    # one process has no list
    assert first["late"] == {"query": [8, 2**53 + 1], "mrr": [0.5, 1]}
    assert first["rows"] == [at * 10**12 for at in range(5)]

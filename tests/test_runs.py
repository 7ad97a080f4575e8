"""A run folder: claimed once, found again, never written over, and read back as it was written."""

import json
import math
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ltr.runs import Run, RunError, claim, find


def test_starts_in_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    # field report config-03: two trainings at once share an output folder.
    # https://github.com/hydra-ecosystem/hydra/issues/1607
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: claim(tmp_path / "runs", None, "lambdarank-ndcg@10"), range(24)))
    names = {run.path.name for run in runs}
    assert len(names) == 24
    stem = r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d-lambdarank-ndcg@10(-\d+)?"
    assert all(re.fullmatch(stem, name) for name in names)


def test_processes_get_folders_of_their_own(tmp_path: Path) -> None:
    # field report config-03, with processes. https://github.com/hydra-ecosystem/hydra/issues/2925
    code = "import sys; from ltr.runs import claim; print(claim(sys.argv[1], None, 'mse').path)"
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    paths = {process.communicate()[0].strip() for process in started}
    assert len(paths) == 3
    assert all((Path(path) / "run.json").is_file() for path in paths)


def test_a_hint_becomes_a_name_that_a_shell_takes_as_it_is(tmp_path: Path) -> None:
    assert re.search(r"-my_loss_x_-ndcg@10$", claim(tmp_path, None, "my loss(x)-ndcg@10").path.name)


def test_a_named_run_is_never_written_over(tmp_path: Path) -> None:
    run = claim(tmp_path, "first", "")
    run.write_config("seed: 1\n")
    with pytest.raises(RunError, match=rf"^{re.escape(str(run.path))} exists, and a run never writes over another"):
        claim(tmp_path, "first", "")
    assert run.read_config() == {"seed": 1}


def test_a_sweep_holds_runs_and_a_run_holds_none(tmp_path: Path) -> None:
    claim(tmp_path, "sweep/loss-approx_seed-1", "")
    claim(tmp_path, "sweep/loss-mse_seed-1", "")
    claim(tmp_path, "single", "")
    with pytest.raises(RunError, match="is a run, so it cannot hold the run 'single/one'"):
        claim(tmp_path, "single/one", "")
    with pytest.raises(RunError, match="sweep exists"):
        claim(tmp_path, "sweep", "")


@pytest.mark.parametrize(
    "name", ["", " ", "a/b/c", "../up", "/root", "a/", "-x", ".hidden", "~", "a\\b", "last", "a\nb"]
)
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match=r"^wanted a run name of one or two parts.*; got "):
        claim(tmp_path / "runs", name, "")
    assert not (tmp_path / "runs").exists()


def test_a_run_is_found_by_path_by_name_and_as_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "runs"
    first = claim(root, "first", "")
    second = claim(root, "sweep/seed-2", "")
    monkeypatch.chdir(tmp_path)
    assert find(str(first.path), root).path == first.path
    assert find("runs/first", "elsewhere").path == first.path
    assert find("first", root).path == first.path
    assert find("sweep/seed-2", "runs").path == second.path
    assert find("last", root).path == second.path


def test_a_run_that_is_not_there_names_its_neighbours(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run 'frist': there are no runs below "):
        find("frist", tmp_path / "runs")
    claim(tmp_path, "first", "")
    claim(tmp_path, "sweep/a", "")
    with pytest.raises(RunError, match=r"no run 'frist': .*; there are: first"):
        find("frist", tmp_path)
    with pytest.raises(RunError, match="'sweep' is not one run but holds 1: sweep/a"):
        find("sweep", tmp_path)


def test_facts_are_merged_and_stay_json(tmp_path: Path) -> None:
    run = claim(tmp_path, "first", "")
    run.write_info(seed=1, test={"ndcg@10": math.nan})
    run.write_info(seed=2, wall=math.inf)
    assert {key: run.read_info()[key] for key in ("name", "status", "seed", "test", "wall")} == {
        "name": "first",
        "status": "started",
        "seed": 2,
        "test": {"ndcg@10": None},
        "wall": None,
    }
    json.loads(run.info_path.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_a_folder_without_the_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"holds no config\.yaml: it is no run folder, or the run did not get that far"):
        Run(tmp_path).read_config()


def test_metrics_have_one_header_for_all_keys(tmp_path: Path) -> None:
    # field report train-18: a CSV log loses columns that come later.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/18978
    run = Run(tmp_path)
    run.append_metrics({"step": 1, "val/ndcg@5": 0.1})
    run.append_metrics({"step": 2, "val/ndcg@5": 0.2, "val/mrr": 0.3})
    run.append_metrics({"step": 3, "test/ndcg@5": 0.25})
    assert run.metrics_path.read_text() == ("step,test/ndcg@5,val/mrr,val/ndcg@5\n1,,,0.1\n2,,0.3,0.2\n3,0.25,,\n")
    assert run.metrics()[1] == {"step": 2.0, "test/ndcg@5": None, "val/mrr": 0.3, "val/ndcg@5": 0.2}


def test_a_second_process_keeps_the_one_header(tmp_path: Path) -> None:
    # field report train-19. https://github.com/BenchLab-io/benchlab-pytools/pull/12
    Run(tmp_path).append_metrics({"step": 1, "a": 1.0})
    code = "import sys; from ltr.runs import Run; Run(sys.argv[1]).append_metrics({'step': 2, 'a': 2.0, 'b': 3.0})"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert Run(tmp_path).metrics_path.read_text() == "step,a,b\n1,1.0,\n2,2.0,3.0\n"


def test_every_digit_survives_and_nan_is_a_value(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.append_metrics({"step": 0, "a": 0.1 + 0.2, "b": math.nan})
    (row,) = run.metrics()
    assert row["a"] == 0.1 + 0.2
    assert row["b"] is not None
    assert math.isnan(row["b"])


def test_gap_rows_come_back(tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert run.gap_rows() == []
    run.append_gap({"epoch": 0, "belief": math.nan, "kind": "neither"})
    run.append_gap({"epoch": 1, "belief": 0.5, "kind": "approximation"})
    assert [row["belief"] for row in run.gap_rows()] == [None, 0.5]


def test_rewind_forgets_later_epochs_and_the_test(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for epoch in range(3):
        run.append_metrics({"step": epoch, "epoch": epoch, "val/mrr": epoch / 10})
        run.append_gap({"epoch": epoch, "step": epoch})
    run.append_metrics({"step": 0, "epoch": 0, "test/mrr": 0.5})
    run.rewind(1)
    assert run.metrics_path.read_text() == "step,epoch,val/mrr\n0,0,0.0\n1,1,0.1\n"
    assert [row["epoch"] for row in run.gap_rows()] == [0, 1]


def test_values_list_by_list_come_back(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"query": "0012", "metric": "ndcg@10", "value": 1 / 3, "documents": 4, "defined": True, "weight": 1.0},
        {"query": 'a,"b', "metric": "ndcg@10", "value": None, "documents": 1, "defined": False, "weight": 2.5},
    ]
    run = Run(tmp_path)
    run.write_per_query("test", rows)
    assert run.per_query("test").read_text().splitlines()[0] == "query,metric,value,documents,defined,weight"
    assert run.read_per_query("test") == rows


def test_the_best_checkpoint_is_what_the_index_says(tmp_path: Path) -> None:
    run = claim(tmp_path, "first", "")
    with pytest.raises(RunError, match="has no best checkpoint: the run has not validated yet"):
        run.best_checkpoint()
    entry = {"file": "epoch01-mrr-0.5000.ckpt", "epoch": 1, "value": 0.5}
    run.write_index({"monitors": ["val/mrr"], "best": {"val/mrr": entry}})
    with pytest.raises(RunError, match=r"no checkpoint .*epoch01-mrr-0\.5000\.ckpt"):
        run.best_checkpoint()
    (run.checkpoints / entry["file"]).touch()
    assert run.best_checkpoint().name == entry["file"]
    assert run.best("val/mrr")["epoch"] == 1
    with pytest.raises(RunError, match="has no best checkpoint by val/ap; there are: val/mrr"):
        run.best_checkpoint("val/ap")


def test_without_a_monitor_the_last_checkpoint_is_the_best(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write_index({"monitors": [], "best": {}})
    (run.checkpoints / "last.ckpt").touch()
    assert run.best_checkpoint() == run.last_checkpoint()

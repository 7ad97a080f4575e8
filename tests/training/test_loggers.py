"""Event files and metrics.csv: names to the letter, numbers as numbers, one record a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util.tensor_util import make_ndarray

from ltr.runs import Run
from ltr.training.loggers import EventFiles, MetricsFile, flatten, write_record

Read = Callable[[Path], dict[str, list[tuple[int, Any]]]]


def scalars(found: dict[str, list[tuple[int, Any]]]) -> dict[str, list[tuple[int, float]]]:
    """Step and value of the scalars among what was read."""
    return {
        tag: [(step, value.tensor.float_val[0]) for step, value in points]
        for tag, points in found.items()
        if points[0][1].metadata.plugin_data.plugin_name == "scalars"
    }


def record(found: dict[str, list[tuple[int, Any]]]) -> tuple[dict[str, Any], list[str]]:
    """The settings of the hyperparameter record, and the metrics that it names."""
    settings: dict[str, Any] = {}
    names: list[str] = []
    for _, value in (point for points in found.values() for point in points):
        if value.metadata.plugin_data.plugin_name == "hparams":
            data = plugin_data_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)
            for name, setting in data.session_start_info.hparams.items():
                settings[name] = getattr(setting, setting.WhichOneof("kind"))
            names += [each.name.tag for each in data.experiment.metric_infos]
    return settings, names


def test_a_tag_is_the_name_that_was_logged(tmp_path: Path, summaries: Read) -> None:
    # field report tensorboard-03. https://github.com/lanpa/tensorboardX/issues/696
    names = ["val/ndcg@10", "val/recall@10", "gap/belief[ndcg]", "val/ap-rel2@100"]
    logger = EventFiles(tmp_path)
    logger.log_metrics(dict.fromkeys(names, 0.5), 3)
    logger.finalize("success")
    assert scalars(summaries(tmp_path)) == {name: [(3, 0.5)] for name in names}


def test_the_files_lie_in_the_folder_itself_without_placeholders(tmp_path: Path, summaries: Read) -> None:
    logger = EventFiles(tmp_path)
    logger.log_hyperparams({"lr": 0.1})
    logger.log_metrics({"val/mrr": 0.5, "epoch": 0}, 1)
    logger.save()
    logger.finalize("success")
    assert [path.name[:20] for path in tmp_path.iterdir()] == ["events.out.tfevents."]
    assert set(scalars(summaries(tmp_path))) == {"val/mrr"}


def test_nothing_is_written_before_there_is_something_to_say(tmp_path: Path) -> None:
    logger = EventFiles(tmp_path / "run")
    logger.save()
    logger.finalize("success")
    assert not (tmp_path / "run").exists()


def test_histograms_leave_out_what_has_no_value(tmp_path: Path, summaries: Read) -> None:
    logger = EventFiles(tmp_path)
    logger.log_histogram("val/lists/mrr", np.array([0.5, np.nan, 1.0, np.inf]), 2)
    logger.log_histogram("val/lists/none", np.array([np.nan]), 2)
    logger.finalize("success")
    found = summaries(tmp_path)
    assert list(found) == ["val/lists/mrr"]
    buckets = make_ndarray(found["val/lists/mrr"][0][1].tensor)  # of left edge, right edge, count
    assert buckets[:, 2].sum() == 2


def test_charts_choose_their_lines_by_exact_name(tmp_path: Path, summaries: Read) -> None:
    logger = EventFiles(tmp_path)
    logger.log_layout({"gap": {"belief": ["gap/belief[ndcg]", "gap/exact_aim[ndcg]"]}, "loss": {"all": ["val/loss"]}})
    logger.finalize("success")
    ((_, value),) = summaries(tmp_path)["custom_scalars__config__"]
    first, second = layout_pb2.Layout.FromString(value.tensor.string_val[0]).category
    assert (first.title, second.title, second.chart[0].title) == ("gap", "loss", "all")
    assert list(first.chart[0].multiline.tag) == [r"^gap/belief\[ndcg\]$", r"^gap/exact_aim\[ndcg\]$"]


def test_a_text_has_a_step(tmp_path: Path, summaries: Read) -> None:
    logger = EventFiles(tmp_path)
    logger.log_text("gap/alarm", "first\nsecond", 7)
    logger.finalize("success")
    ((step, value),) = summaries(tmp_path)["gap/alarm/text_summary"]
    assert (step, value.tensor.string_val[0].decode()) == (7, "    first\n    second")


def test_the_record_holds_settings_and_real_results(tmp_path: Path, summaries: Read) -> None:
    # field report tensorboard-01: rows with hp_metric = -1, and last values in place of best ones.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/8175
    results = {"val/ndcg@10": 0.45, "test/ndcg@10": 0.41}
    write_record(tmp_path, {"lr": 0.1, "loss": "ranknet"}, results, 7)
    settings, names = record(summaries(tmp_path))
    assert settings == {"lr": 0.1, "loss": "ranknet"}
    assert sorted(names) == ["test/ndcg@10", "val/ndcg@10"]
    found = scalars(summaries(tmp_path))
    assert {tag: [step for step, _ in points] for tag, points in found.items()} == {tag: [7] for tag in results}
    assert {tag: points[-1][1] for tag, points in found.items()} == pytest.approx(results, abs=1e-6)


def test_none_is_left_out_and_numbers_stay_numbers(tmp_path: Path, summaries: Read) -> None:
    # field report tensorboard-04. https://github.com/tensorflow/tensorboard/issues/2942
    found = []
    for truncate in (10, None):
        folder = tmp_path / str(truncate)
        write_record(folder, {"lr": 0.1, "truncate": truncate}, {"val/mrr": 0.5}, 0)
        found.append(record(summaries(folder))[0])
    assert found == [{"lr": 0.1, "truncate": 10.0}, {"lr": 0.1}]


def test_nested_settings_are_flattened() -> None:
    settings = {
        "loss": {"_target_": "ltr.losses.LambdaRank", "metric": "ndcg@10", "sigma": 1.0},
        "optimizer": {"_target_": "torch.optim.Adam", "_partial_": True, "lr": 0.1},
        "seed": 3,
        "name": None,
        "metrics": ["mrr", "ap"],
        "resume": False,
    }
    assert flatten(settings) == {
        "loss": "LambdaRank",
        "loss.metric": "ndcg@10",
        "loss.sigma": 1.0,
        "optimizer": "Adam",
        "optimizer.lr": 0.1,
        "seed": 3,
        "metrics": "['mrr', 'ap']",
        "resume": False,
    }


def test_metrics_go_to_the_run(tmp_path: Path) -> None:
    logger = MetricsFile(Run(tmp_path))
    logger.log_hyperparams({"lr": 0.1})
    logger.log_metrics({"val/mrr": 0.5, "epoch": 0}, 1)
    logger.log_metrics({"train/loss": 0.25, "epoch": 0}, 1)
    assert Run(tmp_path).metrics_path.read_text() == "step,epoch,train/loss,val/mrr\n1,0,,0.5\n1,0,0.25,\n"

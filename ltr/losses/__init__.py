"""Differentiable surrogates, each one loss per list: ``LambdaRank("ndcg@10")(scores, relevance, mask)``."""

from ltr.losses.approx import ApproxMetric, approx_metric
from ltr.losses.base import Surrogate
from ltr.losses.lambdarank import LambdaRank, lambda_rank
from ltr.losses.listnet import ListNet, list_net
from ltr.losses.mse import MSE, mean_squared_error
from ltr.losses.ranknet import RankNet, rank_net
from ltr.losses.softmax import Softmax, softmax_cross_entropy

__all__ = [
    "MSE",
    "ApproxMetric",
    "LambdaRank",
    "ListNet",
    "RankNet",
    "Softmax",
    "Surrogate",
    "approx_metric",
    "lambda_rank",
    "list_net",
    "mean_squared_error",
    "rank_net",
    "softmax_cross_entropy",
]

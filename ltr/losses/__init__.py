"""Differentiable surrogates, each one loss per list: ``LambdaRank("ndcg@10")(scores, relevance, mask)``."""

from ltr.losses.adr_mse import ADRMSE, adr_mse
from ltr.losses.approx import ApproxMetric, approx_metric
from ltr.losses.arp_loss import ARPLoss, arp_loss
from ltr.losses.base import Surrogate
from ltr.losses.bound import BoundMetric, bound_metric
from ltr.losses.calibrated import CalibratedSoftmax, calibrated_softmax
from ltr.losses.dcg_hinge import DCGHinge, dcg_hinge
from ltr.losses.distil import Distil, distillation
from ltr.losses.expected import ExpectedMetric, expected_metric
from ltr.losses.hinge import Hinge, pairwise_hinge
from ltr.losses.lambdaloss import LambdaLoss, lambda_loss
from ltr.losses.lambdarank import LambdaRank, lambda_rank
from ltr.losses.list_mle import ListMLE, list_mle
from ltr.losses.listnet import ListNet, list_net
from ltr.losses.margin_mse import MarginMSE, margin_mse
from ltr.losses.mse import MSE, mean_squared_error
from ltr.losses.neural_ndcg import NeuralNDCG, neural_metric
from ltr.losses.ordinal import Ordinal, ordinal_cross_entropy
from ltr.losses.p_list_mle import PListMLE, p_list_mle
from ltr.losses.pairwise_mse import PairwiseMSE, pairwise_mse
from ltr.losses.perturbed import Perturbed
from ltr.losses.pi_rank import PiRank, pi_rank
from ltr.losses.poly1 import PolyOne, poly_one
from ltr.losses.quantile import Quantile, pairwise_quantile
from ltr.losses.ranknet import RankNet, rank_net
from ltr.losses.rcr import RCR, regression_compatible
from ltr.losses.sigmoid import SigmoidCrossEntropy, sigmoid_cross_entropy
from ltr.losses.smooth_i import SmoothI, smooth_i
from ltr.losses.soft_rank import SoftRank, soft_rank
from ltr.losses.soft_sort import SoftSortNDCG, soft_sort_metric
from ltr.losses.soft_zero_one import SoftZeroOne, soft_zero_one
from ltr.losses.softmax import Softmax, softmax_cross_entropy
from ltr.losses.unique_softmax import UniqueSoftmax, unique_softmax
from ltr.losses.weighted_sum import WeightedSum
from ltr.losses.xendcg import XENDCG, xe_ndcg
from ltr.losses.yeti import Yeti, yeti

__all__ = [
    "ADRMSE",
    "MSE",
    "RCR",
    "XENDCG",
    "ARPLoss",
    "ApproxMetric",
    "BoundMetric",
    "CalibratedSoftmax",
    "DCGHinge",
    "Distil",
    "ExpectedMetric",
    "Hinge",
    "LambdaLoss",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "MarginMSE",
    "NeuralNDCG",
    "Ordinal",
    "PListMLE",
    "PairwiseMSE",
    "Perturbed",
    "PiRank",
    "PolyOne",
    "Quantile",
    "RankNet",
    "SigmoidCrossEntropy",
    "SmoothI",
    "SoftRank",
    "SoftSortNDCG",
    "SoftZeroOne",
    "Softmax",
    "Surrogate",
    "UniqueSoftmax",
    "WeightedSum",
    "Yeti",
    "adr_mse",
    "approx_metric",
    "arp_loss",
    "bound_metric",
    "calibrated_softmax",
    "dcg_hinge",
    "distillation",
    "expected_metric",
    "lambda_loss",
    "lambda_rank",
    "list_mle",
    "list_net",
    "margin_mse",
    "mean_squared_error",
    "neural_metric",
    "ordinal_cross_entropy",
    "p_list_mle",
    "pairwise_hinge",
    "pairwise_mse",
    "pairwise_quantile",
    "pi_rank",
    "poly_one",
    "rank_net",
    "regression_compatible",
    "sigmoid_cross_entropy",
    "smooth_i",
    "soft_rank",
    "soft_sort_metric",
    "soft_zero_one",
    "softmax_cross_entropy",
    "unique_softmax",
    "xe_ndcg",
    "yeti",
]

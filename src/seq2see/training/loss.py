"""What training minimises: cross-entropy with label smoothing, and how far attention is from a given alignment."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from seq2see.models import Look, Output

# Numbers in the largest block of logits: 16 MiB of float32, about what stays near a core.
_LOGITS = 1 << 22


def cross_entropy(output: Output, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    """Sum over real positions of -sum_k q_k log p_k, q = 1 - smoothing on the target plus smoothing / V everywhere.

    targets (B, T), mask (B, T). The logits of all positions never exist at once, and padding has none.
    """
    features = output.features[mask]
    result: Tensor = _ChunkedLoss.apply(  # type: ignore[no-untyped-call]
        features, output.vocabulary.weight, output.vocabulary.bias, targets[mask], smoothing
    )
    return result


class _ChunkedLoss(torch.autograd.Function):
    """Linear layer, log-softmax and loss in blocks of rows; gradients are made in the same pass.

    Each block's logits turn into their own gradient, softmax(z) - q, while they are at hand, so the backward pass has
    nothing to recompute and nothing to keep but the gradients themselves.
    """

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float
    ) -> Tensor:
        vocabulary = weight.size(0)
        rows = max(1, _LOGITS // vocabulary)
        total = features.new_zeros(())
        wanted = any(ctx.needs_input_grad[:3])
        grad_features = torch.empty_like(features) if wanted else None
        grad_weight = torch.zeros_like(weight) if wanted else None
        grad_bias = torch.zeros_like(bias) if wanted and bias is not None else None
        for start in range(0, features.size(0), rows):
            block = features[start : start + rows]
            target = targets[start : start + rows].unsqueeze(1)
            logits = torch.matmul(block, weight.t()) if bias is None else torch.addmm(bias, block, weight.t())
            target_logits = logits.gather(1, target).sum()
            total -= (1 - smoothing) * target_logits
            if smoothing:
                total -= smoothing / vocabulary * logits.sum()
            highest = logits.amax(dim=-1, keepdim=True)
            grad = logits.sub_(highest).exp_()  # one pass of exp serves the loss and its gradient
            mass = grad.sum(dim=-1, keepdim=True)
            total += (mass.log() + highest).sum()
            if grad_features is None or grad_weight is None:
                continue
            grad.div_(mass)
            if smoothing:
                grad -= smoothing / vocabulary
            grad.scatter_add_(1, target, torch.full_like(mass, smoothing - 1))
            torch.matmul(grad, weight, out=grad_features[start : start + rows])
            grad_weight.addmm_(grad.t(), block)
            if grad_bias is not None:
                grad_bias += grad.sum(dim=0)
        ctx.save_for_backward(grad_features, grad_weight, grad_bias)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        features, weight, bias = ctx.saved_tensors
        return features * grad, weight * grad, None if bias is None else bias * grad, None, None


def alignment_loss(looks: Sequence[Look], links: Tensor) -> Tensor:
    """-sum over linked positions of log(attention on their partners): guided alignment (Chen 2016, section 2).

    links (B, T, S), rows that sum to 1 or 0. One head is guided, the first of the last layer's cross attention (one of
    many, as in Garg 2019, section 3.2): the mean of heads could be right with none of them being so, and the others
    stay free to look where they need to.
    """
    cross = [look.weights for look in looks if look.kind == "cross"]
    return -(links * cross[-1][:, 0].clamp(min=1e-6).log()).sum()

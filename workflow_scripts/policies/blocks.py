"""One decoder block with its backward pass written out.

A small model on few cores spends its time in element-wise work and in the framework rather than in matrix products.
Here products that share an input are one, norm weights are folded into the product that follows, the rotation is one
complex product, and each intermediate result is made once and stays in cache where chunks are of about 1,000 tokens.

Sources: RMSNorm, rotary embedding and SwiGLU as in transformers' `modeling_llama.py`; heads normalised as in
`modeling_qwen3.py`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

_silu_backward = torch.ops.aten.silu_backward.grad_input
_softmax_backward = torch.ops.aten._softmax_backward_data.out


@dataclass(frozen=True)
class Layout:
    """What a block needs to know of its B x L tokens besides their values.

    heads: attention heads. eps: of the norms. turns: complex64 [L, 2 heads, head_dim / 2], the rotation of queries and
    keys at each position; turns_back: their conjugates. mask: fp32 [L, L], 0 on and below the diagonal, −inf above.
    """

    heads: int
    eps: float
    turns: Tensor
    turns_back: Tensor
    mask: Tensor


def inverse_rms(x: Tensor, eps: float) -> Tensor:
    """1 / sqrt(mean(x²) + eps) over the last axis, which is kept with size 1."""
    scale = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return scale.square_().mul_(1 / x.shape[-1]).add_(eps).rsqrt_()


def normalised_backward(grad: Tensor, normalised: Tensor, scale: Tensor) -> Tensor:
    """Gradient for x of `x * inverse_rms(x)`, given that of the product. Overwrites `grad` and returns it."""
    along = (grad * normalised).sum(-1, keepdim=True).mul_(-1 / grad.shape[-1])
    return grad.addcmul_(normalised, along).mul_(scale)


class Normalise(torch.autograd.Function):
    """x * inverse_rms(x); the norm's weight belongs to the product that follows."""

    @staticmethod
    def forward(ctx, x: Tensor, eps: float) -> Tensor:
        scale = inverse_rms(x, eps)
        normalised = x * scale
        ctx.save_for_backward(normalised, scale)
        return normalised

    @staticmethod
    def backward(ctx, grad):
        normalised, scale = ctx.saved_tensors
        return normalised_backward(grad.clone(), normalised, scale), None


def _turn(qkv: Tensor, layout: Layout, backward: bool = False) -> None:
    """Rotates the queries and keys of [B, L, 3 heads, d] in place, or back."""
    pairs = torch.view_as_complex(qkv.view(*qkv.shape[:3], -1, 2))
    pairs[:, :, : 2 * layout.heads].mul_(layout.turns_back if backward else layout.turns)


def _attend(qkv: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
    """Causal attention. qkv: [B, L, 3 heads, d]. Returns [B, L, heads, d] and the probabilities [heads, B, L, L]."""
    rows, length, heads = qkv.shape[0], qkv.shape[1], layout.heads
    weights = qkv.new_empty(heads, rows, length, length)
    out = qkv.new_empty(rows, length, heads, qkv.shape[-1])
    for head in range(heads):
        torch.baddbmm(layout.mask, qkv[:, :, head], qkv[:, :, heads + head].transpose(1, 2), out=weights[head])
    torch.softmax(weights, -1, out=weights)
    for head in range(heads):
        out[:, :, head] = torch.bmm(weights[head], qkv[:, :, 2 * heads + head])
    return out, weights


def _attend_backward(grad: Tensor, qkv: Tensor, weights: Tensor, heads: int) -> Tensor:
    """Gradient of `_attend` for qkv. grad: [B, L, heads, d]."""
    out = torch.empty_like(qkv)
    inner = torch.empty_like(weights)
    for head in range(heads):
        given = grad[:, :, head]
        out[:, :, 2 * heads + head] = torch.bmm(weights[head].transpose(1, 2), given)
        torch.bmm(given, qkv[:, :, 2 * heads + head].transpose(1, 2), out=inner[head])
    _softmax_backward(inner, weights, -1, inner.dtype, grad_input=inner)
    for head in range(heads):
        out[:, :, head] = torch.bmm(inner[head], qkv[:, :, heads + head])
        out[:, :, heads + head] = torch.bmm(inner[head].transpose(1, 2), qkv[:, :, head])
    return out


class Block(torch.autograd.Function):
    """x + attention(norm(x)), then + mlp(norm(·)), for x of shape [B L, hidden].

    qkv: [3 heads d, hidden], the input norm's weight folded in, rows of each query and key head ordered so that rotated
    pairs are neighbours, queries scaled by 1/sqrt(d) (llama). out: [hidden, heads d]. gate, up: [mlp, hidden], the
    post-attention norm's weight folded in. down: [hidden, mlp]. head_norm: [2 heads, d], weights of the query and key
    norms, the former scaled by 1/sqrt(d) (qwen3), or None (llama).
    """

    @staticmethod
    def forward(ctx, x, qkv, out, gate, up, down, head_norm, layout: Layout):
        length, turned = len(layout.mask), slice(2 * layout.heads)
        scale_in = inverse_rms(x, layout.eps)
        normed_in = x * scale_in
        mixed = (normed_in @ qkv.t()).view(-1, length, 3 * layout.heads, qkv.shape[0] // (3 * layout.heads))
        unit = unit_scale = None
        if head_norm is not None:
            unit_scale = inverse_rms(mixed[:, :, turned], layout.eps)
            unit = mixed[:, :, turned] * unit_scale
            torch.mul(unit, head_norm, out=mixed[:, :, turned])
        _turn(mixed, layout)
        attended, weights = _attend(mixed, layout)
        attended = attended.view(x.shape[0], -1)
        middle = torch.addmm(x, attended, out.t())
        scale_mid = inverse_rms(middle, layout.eps)
        normed_mid = middle * scale_mid
        gates, ups = normed_mid @ gate.t(), normed_mid @ up.t()
        opened = torch.nn.functional.silu(gates)
        activity = opened * ups
        ctx.layout = layout
        ctx.save_for_backward(
            *(qkv, out, gate, up, down, head_norm, scale_in, normed_in, unit, unit_scale, mixed, attended, weights),
            *(scale_mid, normed_mid, gates, ups, opened, activity),
        )
        return middle.addmm_(activity, down.t())

    @staticmethod
    def backward(ctx, grad):
        qkv, out, gate, up, down, head_norm, scale_in, normed_in, unit, unit_scale, mixed, *rest = ctx.saved_tensors
        attended, weights, scale_mid, normed_mid, gates, ups, opened, activity = rest
        heads, turned = ctx.layout.heads, slice(2 * ctx.layout.heads)
        d_down = grad.t() @ activity
        d_activity = grad @ down
        d_ups = d_activity * opened
        d_gates = d_activity.mul_(ups)
        _silu_backward(d_gates, gates, grad_input=d_gates)
        d_gate, d_up = d_gates.t() @ normed_mid, d_ups.t() @ normed_mid
        d_middle = normalised_backward((d_gates @ gate).addmm_(d_ups, up), normed_mid, scale_mid).add_(grad)
        d_out = d_middle.t() @ attended
        d_mixed = _attend_backward((d_middle @ out).view(*mixed.shape[:2], heads, -1), mixed, weights, heads)
        _turn(d_mixed, ctx.layout, backward=True)
        d_head_norm = None
        if head_norm is not None:
            d_unit = d_mixed[:, :, turned]
            d_head_norm = (d_unit * unit).sum((0, 1))
            d_mixed[:, :, turned] = normalised_backward(d_unit * head_norm, unit, unit_scale)
        d_mixed = d_mixed.view(len(grad), -1)
        d_qkv = d_mixed.t() @ normed_in
        d_x = normalised_backward(d_mixed @ qkv, normed_in, scale_in).add_(d_middle)
        return d_x, d_qkv, d_out, d_gate, d_up, d_down, d_head_norm, None

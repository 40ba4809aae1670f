"""The claims about what brings breadth back: interventions, other roads, continued training."""

from workflow_scripts.measures.claims import Claim, Part


def _gain(name: str, what: str, *, sign: int = 1, margin: float | None = None, of: str = "coverage") -> Part:
    words = f"{of} {what} − {of} without (held-out problems)"
    return Part(name, sign=sign, words=words) if margin is None else Part(name, "null", margin=margin, words=words)


RECOVERY = (
    Claim(
        "C18",
        "Layer interpolation recovers breadth at no cost in precision",
        "layers 20–28, late mixed with step 50: coverage .111 → .152 (+37 %), pass@1 .278 → .305",
        "ppo",
        "interventions",
        (
            _gain("interpolation_coverage", "with interpolated layers"),
            Part("interpolation_loss", "null", margin=0.03, words="the loss of pass@1 (a gain counts as none)"),
        ),
        ("interpolation_pass",),
        "blocks and share chosen on calibration problems",
    ),
    Claim(
        "C19",
        "Mixing logits over the reasoning helps a little, over the answer it does not",
        "+.013; −.006",
        "ppo",
        "interventions",
        (
            _gain("mixing_reasoning_coverage", "with the reasoning mixed"),
            _gain("mixing_answer_coverage", "with the answer mixed", margin=0.03),
        ),
    ),
    Claim(
        "C20",
        "Hotter decoding buys breadth with precision",
        "T = 1: coverage +.016, pass@1 −.014",
        "ppo",
        "interventions",
        (
            _gain("temperature_coverage", "with hotter decoding"),
            _gain("temperature_pass", "with hotter decoding", sign=-1, of="pass@1"),
        ),
    ),
    Claim(
        "C21",
        "Diverse prompts and forced operators do not help",
        "+.014 (n.s.); −.007",
        "ppo",
        "interventions",
        (
            _gain("reordered_coverage", "with reordered numbers", margin=0.03),
            _gain("forced_operator_coverage", "with a forced first operator", sign=-1),
        ),
        (),
        "the policy's prompt has no words to ask for another method: its numbers are given in other orders",
    ),
    Claim(
        "C22",
        "Sampling from two checkpoints buys much breadth at a high price",
        "32 + 32 samples from 50 and 275: coverage +.100, pass@1 −.117",
        "ppo",
        "interventions",
        (
            _gain("checkpoints_coverage", "with half the samples from early"),
            _gain("checkpoints_pass", "with half the samples from early", sign=-1, of="pass@1"),
        ),
    ),
    Claim(
        "C23",
        "Spreading the budget over solver-feasible entrances helps only after collapse",
        "late: coverage +.077, families +.430; at step 50: null",
        "ppo",
        "interventions",
        (
            _gain("allocation_late_coverage", "with late's budget spread"),
            _gain("allocation_late_families", "with late's budget spread", of="families"),
            _gain("allocation_early_coverage", "with early's budget spread", margin=0.05),
        ),
        ("allocation_early_families",),
        "equal tokens a problem",
    ),
    Claim(
        "C30",
        "SFT on several solutions is broad at equal precision",
        "k = 4: coverage .709 at pass@1 .333 (GRPO .268 at .429)",
        "grpo",
        "roads",
        (Part("sft4_broader", words="coverage after SFT on 4 solutions − coverage of the line at equal pass@1"),),
    ),
    Claim(
        "C31",
        "Breadth grows with the number of demonstrated solutions",
        "k = 1, 2, 4, 8: coverage .471 → .766, monotone",
        "grpo",
        "roads",
        (
            Part("dose_slope", words="the change of coverage per doubling of k"),
            Part("dose_steps", words="the smallest upper end of the successive differences' intervals"),
        ),
        (),
        "dose_steps is one number: a monotone rise has no step whose interval lies wholly below 0",
    ),
    Claim(
        "C32",
        "On-policy RL collapses even a broad start",
        "500 GRPO steps from the k = 4 SFT policy: rollout entropy .085 nats",
        "grpo",
        "roads",
        (
            Part("continuation_entropy", sign=-1, words="entrance entropy after GRPO − at its start, the SFT policy"),
            Part("continuation_coverage", sign=-1, words="coverage after GRPO − at its start, the SFT policy"),
        ),
        ("continuation_pass",),
    ),
)
"""C18–C23 and C30–C32."""

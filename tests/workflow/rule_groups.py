"""The workflow's rules by what they read, for tests that say which run again; and what they plan."""

SAMPLED = {"rollouts", "more_rollouts", "clamped_rollouts"}
IN_BREADTH = {
    "problem_breadth", "survivors", "more_rollouts", "retention", "summary", "table1", "breadth", "trajectories",
    "coverage_curve",
}  # fmt: skip
IN_NATS = {"likelihood_changes", "table2", "token_costs"}
ON_LADDER = {"screening", "ladder", "table3", "clamp_ladder"}
IN_ACCESS = {"access", "figure2", "theory", "theory_test"}
IN_RECOVERY = {"recoverability", "recoverability_curve", "table3"}
AT_DEPTH = {"depth", "depth_curve"}
CLAMPS_OF_MENUS = {"menu_clamps", "depth_clamps"}
OF_POLICIES = {"policy_card", "masses", "step_masses", "likelihoods", "figure1", "rollouts", "tail_clamps"}
"""Rules that read a policy's folder, and the clamps that are made of masses."""
INTERVENED = {"calibration_outcomes", "intervention_choice", "held_out_outcomes", "interventions", "table4"}
PARTNERED = {"partner_outcomes", "partner_curve"}
COST_OF_LOSS = {"loss_cost", "cost_of_loss"}
DRAWING = {
    "summary", "retention", "coverage_curve", "calibration", "screening", "likelihood_changes", "access",
    "recoverability", "depth", "interventions", "partner_curve", "loss_cost",
}  # fmt: skip
"""Rules that draw bootstraps, but for those that read another of these."""

AFTER_ENTRANCES = {"clamped_rollouts", "scores", "scorecard"}.union(IN_ACCESS, IN_RECOVERY, COST_OF_LOSS)
"""What follows clamps of the menu and of the tail pool."""
AFTER_LADDER = {"clamped_rollouts", "scores", "scorecard"} | ON_LADDER
"""What follows clamps of the ladder."""
AFTER_SAMPLES = {"scores", "ladder_clamps", "calibration"}.union(
    AFTER_LADDER, IN_BREADTH, IN_ACCESS, IN_RECOVERY, INTERVENED, COST_OF_LOSS
)
"""What follows free samples: the ladder is made of them and of their verdicts."""
AFTER_TRAINING = {"train_segment", "training_curves"}.union(AFTER_SAMPLES, OF_POLICIES, IN_NATS, AT_DEPTH, PARTNERED)


def rules(jobs):
    return {job.rule for job in jobs}


def stale_by_themselves(jobs):
    """Rules whose own params, the digest of the code among them, have changed."""
    return {job.rule for job in jobs if "Params have changed" in job.reason}


def named(jobs, rule, wildcard):
    """Values of a wildcard of a rule's jobs."""
    return {job.wildcards[wildcard] for job in jobs if job.rule == rule}


def clamped(jobs):
    """Sets of clamps after which policies are sampled."""
    return named(jobs, "clamped_rollouts", "clamped")

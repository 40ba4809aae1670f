"""The claims about where breadth is lost: likelihood, clamps, access and execution, depth."""

from workflow_scripts.measures.claims import Claim, Part

LOCATION = (
    Claim(
        "C09",
        "The loss of likelihood sits at the entrance",
        "PPO: entrance +4.50 [4.37, 4.62] nats/token, execution +.28, 16×; GRPO 8.08 vs .71, 11×; 1,530 pairs",
        "ppo",
        "likelihood_changes",
        (
            Part("nll_gap"),
            Part("nll_entrance"),
            Part("nll_gap", line="grpo"),
            Part("nll_entrance", line="grpo"),
        ),
        ("nll_execution", "nll_gap_bare", "nll_entrance_bare", "nll_execution_bare"),
        "nll_gap is entrance minus execution, nats a token; _bare leaves the operator out of the entrance",
    ),
    Claim(
        "C10",
        "The largest loss of a single token is that of the entrance's operand",
        "relative position −3: +7.51 nats",
        "ppo",
        "likelihood_changes",
        (Part("operand_lead", words="the operand's loss − the largest loss at any other position"),),
        ("entrance_lead",),
        "the paper's −3 is the operand under a tokenizer that splits numbers; here operand and operator are a token "
        "each, and entrance_lead is the lead of the larger of the two over every later token",
    ),
    Claim(
        "C11",
        "The minimal entrance restores completion",
        "designated family completed: free .018, first number .015, first number + operator .212; GRPO .104 → .188",
        "ppo",
        "ladder",
        (
            Part("entrance_over_first_number", words="completion given the entrance − given its first number (late)"),
            Part("entrance_over_nothing", words="completion given the entrance − given nothing (late)"),
        ),
        ("first_number_over_nothing",),
        "the paper's first number alone restores nothing",
    ),
    Claim(
        "C12",
        "It works inside the policy's own failed attempt",
        "splice .176, +.121 over the path-enumeration reference .044",
        "ppo",
        "ladder",
        (Part("splice_excess", words="completion after a splice − the path-enumeration reference (late)"),),
        (),
        "scaffolds that the leak screen fails are left out",
    ),
    Claim(
        "C13",
        "Extinct families still execute",
        "28 families seen at 50, never at 275: clamped at 275 .529, at 50 .475",
        "ppo",
        "recoverability",
        (
            Part(
                "extinct_excess", words="clamped completion of extinct families − the path-enumeration reference (late)"
            ),
        ),
        ("extinct_completion",),
    ),
    Claim(
        "C14",
        "The deep tail recovers less: recoverability is graded",
        "800-problem pool, 276 zero-access cells, mean clamped completion .087",
        "ppo",
        "recoverability",
        (
            Part(
                "tail_gap",
                sign=-1,
                words="clamped completion of cells that neither end can open − of cells that only the late one cannot",
            ),
        ),
        ("tail_completion",),
        "both groups from the tail pool; a cell that cannot be opened has probability 0 under the study's decoding",
    ),
    Claim(
        "C15",
        "Prefixes cut from successful runs leak the plan",
        "completion .617 / .999; excluded by the mutual-information gate",
        "ppo",
        "screening",
        (Part("leak_run_cut", words="the information (nats) that the cut gives about what follows"),),
        ("leak_retry", "leak_retry_closed"),
        "the gate itself goes by the permutation test, see screening/",
    ),
    Claim(
        "C16",
        "Access and execution move in opposite directions",
        "menu entropy −.144; execution on the same prefixes +.107 [.073, .143]",
        "ppo",
        "access",
        (Part("menu_entropy", sign=-1), Part("execution_in_family")),
        ("execution_any_valid", "top1", "gini"),
    ),
    Claim(
        "C17",
        "The change in solve probability is part access reallocation, part conditional execution",
        "34.5 % access, 65.5 % execution",
        "ppo",
        "access",
        (
            Part("shapley_execution", words="the execution part of the change"),
            Part("shapley_access", words="the access part of the change"),
        ),
        ("shapley_access_share",),
    ),
    Claim(
        "C33",
        "With depth, execution becomes the second bottleneck",
        "534 four-number problems, depth × late interaction −.0152 [−.0224, −.0080]",
        "ppo",
        "depth",
        (Part("depth_interaction", sign=-1, words="the depth × late interaction of valid completion, depths 1 to 3"),),
        ("depth_interaction_from_zero", "depth_completion_1", "depth_completion_2", "depth_completion_3"),
        "errors clustered by problem",
    ),
)
"""C09–C17 and C33."""

# Other ways to train, and countermeasures during training: what they do to precision and breadth.
# Needs: policies/base, problems/, solutions/, scores/ of the lines. Makes: demonstrations, policies/ and training/ of roads,
# measures/roads/, figures/{plane,dose_response,continuation}.*, tables/roads.*.


rule demonstrations:
    """Solver-built solutions of the training problems, in the order in which they are shown."""
    input:
        problems=rules.problem_sets.output.training,
    output:
        demonstrations="<results>/problems/demonstrations.parquet",
        manifest="<results>/problems/demonstrations.manifest.json",
    log:
        "<results>/logs/demonstrations.log",
    benchmark:
        "<results>/benchmarks/demonstrations.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        code=of_code("stages/demonstrations.py"),
        seed=settings.seed,
        most=most_demonstrations(settings),
    script:
        "../workflow_scripts/stages/demonstrations.py"


rule road_sft:
    """A policy fine-tuned on several solutions a problem."""
    input:
        start=start_of_road,
        problems=rules.problem_sets.output.training,
        demonstrations=lambda wildcards: (
            rules.demonstrations.output.demonstrations if settings.roads[wildcards.road].source == "solver" else []
        ),
    output:
        policy=directory("<results>/policies/{road}-s{seed}"),
        metrics="<results>/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/roads/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/road_sft/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(roads_of_kind(settings, "sft")),
    priority: 5
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=lambda wildcards: of_code(
            "stages/road_sft.py", *(["policies/lora.py"] if settings.roads[wildcards.road].lora else [])
        ),
        study_seed=settings.seed,
        road=lambda wildcards: wildcards.road,
        max_new_tokens=settings.sampling.max_new_tokens,
        settings=road_settings,
    script:
        "../workflow_scripts/stages/road_sft.py"


rule road_sft_verl:
    """A policy fine-tuned by verl on several solutions a problem; its shards are merged in the same job."""
    input:
        start=start_of_road,
        problems=rules.problem_sets.output.training,
        demonstrations=rules.demonstrations.output.demonstrations,
    output:
        policy=directory("<results>/policies/{road}-s{seed}"),
        state=directory("<results>/training/{road}-s{seed}"),
        metrics="<results>/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/roads/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/road_sft_verl/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(roads_of_kind(settings, "sft", "verl")),
    priority: 5
    conda:
        "../envs/cluster.yaml"
    threads: 2
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpus=lambda wildcards: settings.roads[wildcards.road].gpus,
    params:
        code=of_code("stages/road_sft_verl.py"),
        wording=WORDING,
        study_seed=settings.seed,
        road=lambda wildcards: wildcards.road,
        settings=road_settings,
        hardware=settings.verl.model_dump(),
    script:
        "../workflow_scripts/stages/road_sft_verl.py"


rule road_dpo:
    """A policy trained on preferences among its start's own samples."""
    input:
        start=start_of_road,
        problems=rules.problem_sets.output.training,
    output:
        policy=directory("<results>/policies/{road}-s{seed}"),
        metrics="<results>/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/roads/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/road_dpo/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(roads_of_kind(settings, "dpo")),
    priority: 5
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        code=of_code("stages/road_dpo.py"),
        study_seed=settings.seed,
        road=lambda wildcards: wildcards.road,
        max_new_tokens=settings.sampling.max_new_tokens,
        settings=road_settings,
    script:
        "../workflow_scripts/stages/road_dpo.py"


rule road_grpo:
    """A policy trained with verifiable rewards from another start, or with something added against narrowing."""
    input:
        base=start_of_road,
        problems=rules.problem_sets.output.training,
    output:
        policy=directory("<results>/policies/{road}-s{seed}"),
        metrics="<results>/training/{road}-s{seed}.parquet",
        metrics_manifest="<results>/training/{road}-s{seed}.manifest.json",
    log:
        "<results>/logs/roads/{road}-s{seed}.log",
    benchmark:
        "<results>/benchmarks/road_grpo/{road}-s{seed}.tsv"
    wildcard_constraints:
        road=either(roads_of_kind(settings, "grpo")),
    priority: 5
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpus=lambda wildcards: settings.roads[wildcards.road].gpus,
    params:
        code=lambda wildcards: code_of_training(settings.roads[wildcards.road]),
        study_seed=settings.seed,
        line="roads",  # one stream for all: arms differ by what they do, not by the problems that they draw
        first_step=0,
        last_step=lambda wildcards: settings.roads[wildcards.road].steps,
        settings=lambda wildcards: training_settings(settings.roads[wildcards.road]),
    script:
        "../workflow_scripts/stages/train_segment.py"


rule roads:
    """Precision and breadth of every road and arm beside the training lines, at the same number of samples."""
    input:
        scores=[f"<results>/scores/{policy}.parquet" for policy in [*policy_ids(settings), *road_policies(settings)]],
        metrics=[f"<results>/training/{policy}.parquet" for policy in road_policies(settings)],
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        plane="<results>/measures/roads/plane.csv",
        plane_manifest="<results>/measures/roads/plane.manifest.json",
        broader="<results>/measures/roads/broader.csv",
        broader_manifest="<results>/measures/roads/broader.manifest.json",
        arms="<results>/measures/roads/arms.csv",
        arms_manifest="<results>/measures/roads/arms.manifest.json",
        worth="<results>/measures/roads/worth.csv",
        worth_manifest="<results>/measures/roads/worth.manifest.json",
        doses="<results>/measures/roads/doses.csv",
        doses_manifest="<results>/measures/roads/doses.manifest.json",
        trend="<results>/measures/roads/trend.csv",
        trend_manifest="<results>/measures/roads/trend.manifest.json",
        changes="<results>/measures/roads/changes.csv",
        changes_manifest="<results>/measures/roads/changes.manifest.json",
    log:
        "<results>/logs/roads.log",
    benchmark:
        "<results>/benchmarks/roads.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        code=of_code("stages/roads.py"),
        lines=line_rows(settings),
        roads=road_rows(settings),
        samples=settings.interventions.samples,
        solution_set=settings.measures.solution_set,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/roads.py"


rule plane:
    """Figure: the precision–breadth plane of all roads, arms and training lines."""
    input:
        plane=rules.roads.output.plane,
    output:
        **figure_files("plane", "plane: precision against breadth of every road"),
    log:
        "<results>/logs/plane.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/plane.py"),
        lines=line_rows(settings),
        roads=road_rows(settings),
        samples=settings.interventions.samples,
        solution_set=settings.measures.solution_set,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/plane.py"


rule roads_table:
    """Table: every road and arm, its precision and breadth, whether it is broader at equal precision, and its cost."""
    input:
        plane=rules.roads.output.plane,
        broader=rules.roads.output.broader,
        arms=rules.roads.output.arms,
        worth=rules.roads.output.worth,
    output:
        **table_files("roads", "roads: precision, breadth and cost"),
    log:
        "<results>/logs/roads_table.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/roads_table.py"),
        lines=line_ends(settings),
        roads=road_rows(settings),
        samples=settings.interventions.samples,
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/roads_table.py"


rule dose_response:
    """Figure: breadth by the number of demonstrated solutions, at equal tokens."""
    input:
        doses=rules.roads.output.doses,
        trend=rules.roads.output.trend,
    output:
        **figure_files("dose_response", "dose–response: breadth by demonstrated solutions"),
    log:
        "<results>/logs/dose_response.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/dose_response.py"),
        confidence=settings.measures.confidence,
    script:
        "../workflow_scripts/stages/dose_response.py"


rule continuation:
    """Figure: entropies by step when reinforcement learning starts from the base and from broader policies."""
    input:
        metrics=[f"<results>/training/{policy}.parquet" for policy in road_policies(settings, "grpo")],
    output:
        **figure_files("continuation", "continuation: entropy by step, by start"),
    log:
        "<results>/logs/continuation.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=of_code("stages/continuation.py"),
        roads=[row for row in road_rows(settings) if row["kind"] == "grpo"],
    script:
        "../workflow_scripts/stages/continuation.py"

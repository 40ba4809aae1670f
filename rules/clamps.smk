# Forced beginnings: what each policy is given, and how it goes on.
# Needs: problems/, solutions/, policies/, rollouts/, scores/. Makes: masses/, likelihoods/, clamps/, rollouts/ of
# clamped samples.


rule masses:
    """Exact probability that one policy opens a problem with each pair of number and operator; no sampling."""
    input:
        policy="<results>/policies/{policy}",
        problems="<results>/problems/{set}.parquet",
        openings="<results>/solutions/{set}_openings.parquet",
    output:
        masses="<results>/masses/{set}/{policy}.parquet",
        manifest="<results>/masses/{set}/{policy}.manifest.json",
    log:
        "<results>/logs/masses/{set}/{policy}.log",
    benchmark:
        "<results>/benchmarks/masses/{set}/{policy}.tsv"
    wildcard_constraints:
        set="evaluation|tail",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=of_code("stages/masses.py"),
        wording=WORDING,
        solution_set=menu_set(settings),
        settings=DECODING,
    script:
        "../workflow_scripts/stages/masses.py"


rule likelihoods:
    """Teacher-forced log-probabilities of the solver's continuations: every entrance of the menu, every leaf."""
    input:
        policy="<results>/policies/{policy}",
        problems=rules.problem_sets.output.evaluation,
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        likelihoods="<results>/likelihoods/{policy}.parquet",
        manifest="<results>/likelihoods/{policy}.manifest.json",
    log:
        "<results>/logs/likelihoods/{policy}.log",
    benchmark:
        "<results>/benchmarks/likelihoods/{policy}.tsv"
    conda:
        environment_of(settings.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=code_of_engine(settings.sampling.engine, "stages/likelihoods.py", "likelihood"),
        wording=WORDING,
        engine=settings.sampling.engine,
        solution_set=menu_set(settings),
    script:
        "../workflow_scripts/stages/likelihoods.py"


rule menu_clamps:
    """The minimal entrance of every opening of every evaluation problem's menu."""
    input:
        problems=rules.problem_sets.output.evaluation,
        openings="<results>/solutions/evaluation_openings.parquet",
    output:
        clamps="<results>/clamps/menu.parquet",
        manifest="<results>/clamps/menu.manifest.json",
    log:
        "<results>/logs/clamps/menu.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=of_code("stages/menu_clamps.py"),
        wording=WORDING,
        solution_set=menu_set(settings),
    script:
        "../workflow_scripts/stages/menu_clamps.py"


rule tail_clamps:
    """Entrances of the tail pool that the late policy cannot open, and whether the early one could."""
    input:
        problems="<results>/problems/tail.parquet",
        openings="<results>/solutions/tail_openings.parquet",
        early=lambda wildcards: end_of_line(wildcards, "early", "<results>/masses/tail/{policy}.parquet"),
        late=lambda wildcards: end_of_line(wildcards, "late", "<results>/masses/tail/{policy}.parquet"),
    output:
        clamps="<results>/clamps/{line}-s{seed}.tail.parquet",
        clamps_manifest="<results>/clamps/{line}-s{seed}.tail.manifest.json",
        cells="<results>/clamps/{line}-s{seed}.cells.csv",
        cells_manifest="<results>/clamps/{line}-s{seed}.cells.manifest.json",
    log:
        "<results>/logs/clamps/{line}-s{seed}.tail.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=of_code("stages/tail_clamps.py"),
        wording=WORDING,
        seed=settings.seed,
        solution_set=menu_set(settings),
        cells=settings.clamps.tail_cells,
    script:
        "../workflow_scripts/stages/tail_clamps.py"


rule ladder_clamps:
    """Every rung of the ladder, by itself and inside the late policy's own failed attempts; cuts of successful runs beside."""
    input:
        problems=rules.problem_sets.output.evaluation,
        solutions="<results>/solutions/evaluation.parquet",
        openings="<results>/solutions/evaluation_openings.parquet",
        rollouts=lambda wildcards: end_of_line(wildcards, "late", "<results>/rollouts/{policy}.parquet"),
        scores=lambda wildcards: end_of_line(wildcards, "late", "<results>/scores/{policy}.parquet"),
        early_rollouts=lambda wildcards: end_of_line(wildcards, "early", "<results>/rollouts/{policy}.parquet"),
        early_scores=lambda wildcards: end_of_line(wildcards, "early", "<results>/scores/{policy}.parquet"),
    output:
        clamps="<results>/clamps/{line}-s{seed}.ladder.parquet",
        manifest="<results>/clamps/{line}-s{seed}.ladder.manifest.json",
    log:
        "<results>/logs/clamps/{line}-s{seed}.ladder.log",
    benchmark:
        "<results>/benchmarks/ladder_clamps/{line}-s{seed}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=of_code("stages/ladder_clamps.py"),
        wording=WORDING,
        solution_set=menu_set(settings),
        families=settings.clamps.families,
        scaffolds=settings.clamps.scaffolds,
        run_cuts=settings.clamps.run_cuts,
        room=room_for_prefix(settings),
    script:
        "../workflow_scripts/stages/ladder_clamps.py"


rule depth_clamps:
    """One solution of each four-number problem, given up to its first, second and third operation."""
    input:
        problems="<results>/problems/depth.parquet",
        openings="<results>/solutions/depth_openings.parquet",
    output:
        clamps="<results>/clamps/depth.parquet",
        clamps_manifest="<results>/clamps/depth.manifest.json",
        menus="<results>/clamps/depth_menus.parquet",
        menus_manifest="<results>/clamps/depth_menus.manifest.json",
    log:
        "<results>/logs/clamps/depth.log",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=of_code("stages/depth_clamps.py"),
        wording=WORDING,
        solution_set=menu_set(settings),
    script:
        "../workflow_scripts/stages/depth_clamps.py"


rule step_masses:
    """Exact probability of every next step of one policy at each operation along the solutions of the depth set."""
    input:
        policy="<results>/policies/{policy}",
        problems="<results>/problems/depth.parquet",
        clamps=rules.depth_clamps.output.clamps,
        menus=rules.depth_clamps.output.menus,
    output:
        masses="<results>/masses/depth/{policy}.parquet",
        manifest="<results>/masses/depth/{policy}.manifest.json",
    log:
        "<results>/logs/masses/depth/{policy}.log",
    benchmark:
        "<results>/benchmarks/step_masses/{policy}.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=of_code("stages/step_masses.py"),
        wording=WORDING,
        settings=DECODING,
    script:
        "../workflow_scripts/stages/step_masses.py"


rule clamped_rollouts:
    """How one policy goes on from the beginnings of one set of clamps."""
    input:
        policy="<results>/policies/{policy}",
        problems=problems_clamped,
        clamps=clamps_of_set,
    output:
        rollouts="<results>/rollouts/{policy}.{clamped}.parquet",
        manifest="<results>/rollouts/{policy}.{clamped}.manifest.json",
    log:
        "<results>/logs/rollouts/{policy}.{clamped}.log",
    benchmark:
        "<results>/benchmarks/clamped_rollouts/{policy}.{clamped}.tsv"
    conda:
        environment_of(settings.sampling.engine)
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
        gpus=settings.sampling.gpus,
    params:
        code=code_of_engine(settings.sampling.engine, "stages/clamped_rollouts.py", "sampling"),
        wording=WORDING,
        study_seed=settings.seed,
        continuations=settings.clamps.continuations,
        settings=DECODING | {"max_new_tokens": settings.clamps.max_new_tokens},
    script:
        "../workflow_scripts/stages/clamped_rollouts.py"

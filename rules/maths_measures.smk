# First calculations, pass@k and same-trace differences of maths policies; blind judgements where a judge is configured.
# Needs: maths/scores/, maths/rollouts/, maths/policies/. Makes: maths/likelihoods/, measures/maths/.


rule maths_measures:
    """First calculations, traces and pass@k of every maths policy; what changed between the ends of each pair."""
    input:
        scores=maths_files(settings, "scores"),
    output:
        summary="<results>/measures/maths/summary.csv",
        summary_manifest="<results>/measures/maths/summary.manifest.json",
        contrasts="<results>/measures/maths/contrasts.csv",
        contrasts_manifest="<results>/measures/maths/contrasts.manifest.json",
        claims="<results>/measures/maths/claims.csv",
        claims_manifest="<results>/measures/maths/claims.manifest.json",
        example="<results>/measures/maths/example.csv",
        example_manifest="<results>/measures/maths/example.manifest.json",
    log:
        "<results>/logs/maths_measures.log",
    benchmark:
        "<results>/benchmarks/maths_measures.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=of_code("stages/maths_measures.py"),
        policies=maths_rows(settings),
        pairs=maths_pairs(settings),
        benchmarks=settings.maths.asked,
        pass_at=settings.maths.pass_at,
        depth=settings.maths.depth,
        example=settings.maths.example,
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/maths_measures.py"


rule trace_likelihoods:
    """Log-probabilities that one policy gives to correct traces, its own and those of the policies it is paired with."""
    input:
        policy="<results>/maths/policies/{policy}",
        problems=maths_problems_of(settings),
        rollouts=lambda wildcards: maths_files(settings, "rollouts", maths_partners(settings, wildcards.policy)),
        scores=lambda wildcards: maths_files(settings, "scores", maths_partners(settings, wildcards.policy)),
    output:
        likelihoods="<results>/maths/likelihoods/{policy}.parquet",
        manifest="<results>/maths/likelihoods/{policy}.manifest.json",
    log:
        "<results>/logs/trace_likelihoods/{policy}.log",
    benchmark:
        "<results>/benchmarks/trace_likelihoods/{policy}.tsv"
    wildcard_constraints:
        policy=either(maths_scorers(settings)) or "-",
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
        gpus=settings.maths.sampling.gpus,
    params:
        code=of_code("stages/trace_likelihoods.py"),
        prompt=settings.maths.prompt,
        per_branch=1,
        most=6000,  # of each origin
    script:
        "../workflow_scripts/stages/trace_likelihoods.py"


rule trace_differences:
    """Same-trace difference in differences of every pair, by benchmark and by origin of the traces, with its placebos."""
    input:
        likelihoods=expand("<results>/maths/likelihoods/{policy}.parquet", policy=maths_scorers(settings)),
    output:
        differences="<results>/measures/maths/differences.csv",
        differences_manifest="<results>/measures/maths/differences.manifest.json",
        exclusions="<results>/measures/maths/exclusions.csv",
        exclusions_manifest="<results>/measures/maths/exclusions.manifest.json",
        claims="<results>/measures/maths/difference_claims.csv",
        claims_manifest="<results>/measures/maths/difference_claims.manifest.json",
    log:
        "<results>/logs/trace_differences.log",
    benchmark:
        "<results>/benchmarks/trace_differences.tsv"
    conda:
        "../envs/laptop.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=of_code("stages/trace_differences.py"),
        pairs=maths_pairs(settings),
        statistics=statistics(settings),
    script:
        "../workflow_scripts/stages/trace_differences.py"


if settings.maths.judge and settings.maths.pairs:

    rule segmentation:
        """Blind judgements of where the first complete calculation of a trace stands."""
        input:
            problems=maths_problems_of(settings),
            rollouts=maths_files(settings, "rollouts", maths_judged(settings)),
            scores=maths_files(settings, "scores", maths_judged(settings)),
        output:
            judgements="<results>/maths/judgements.parquet",
            manifest="<results>/maths/judgements.manifest.json",
        log:
            "<results>/logs/segmentation.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=2000,
            runtime=240,
        params:
            code=of_code("stages/segmentation.py"),
            pairs=maths_pairs(settings)[:1],  # the one that claims are read on
            per_branch=1,
            most=6000,
            judged=settings.maths.judge.items,
            duplicates=0.1,
            seed=settings.seed,
            endpoint={"model": settings.maths.judge.model, "cache": "judge_answers"},
        script:
            "../workflow_scripts/stages/segmentation.py"

    rule segmentation_effect:
        """The same-trace difference where the judge puts the boundary, and how far the judge agrees with the rule."""
        input:
            judgements=rules.segmentation.output.judgements,
            likelihoods=expand("<results>/maths/likelihoods/{policy}.parquet", policy=maths_judged(settings)),
            policy="<results>/maths/policies/{policy}".format(policy=maths_judged(settings)[0]),
            problems=maths_problems_of(settings),
            rollouts=maths_files(settings, "rollouts", maths_judged(settings)),
            scores=maths_files(settings, "scores", maths_judged(settings)),
        output:
            effect="<results>/measures/maths/segmentation.csv",
            effect_manifest="<results>/measures/maths/segmentation.manifest.json",
            agreement="<results>/measures/maths/judge_agreement.csv",
            agreement_manifest="<results>/measures/maths/judge_agreement.manifest.json",
            claims="<results>/measures/maths/segmentation_claims.csv",
            claims_manifest="<results>/measures/maths/segmentation_claims.manifest.json",
        log:
            "<results>/logs/segmentation_effect.log",
        conda:
            "../envs/laptop.yaml"
        resources:
            mem_mb=4000,
            runtime=30,
        params:
            code=of_code("stages/segmentation_effect.py"),
            pairs=maths_pairs(settings)[:1],
            prompt=settings.maths.prompt,
            statistics=statistics(settings),
        script:
            "../workflow_scripts/stages/segmentation_effect.py"

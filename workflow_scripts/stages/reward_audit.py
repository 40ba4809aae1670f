"""What trivial policies earn under every reward: the table, the heat map, and where a reward pays the worse answer."""

from workflow_scripts.figures import tables
from workflow_scripts.figures.reward_audit import audit_table, figure, violations_markdown
from workflow_scripts.measures.reward_audit import audit, means, violations
from workflow_scripts.policies.endpoint import asking, placed
from workflow_scripts.records.files import write_text
from workflow_scripts.records.scicode_schemas import SCICODE_PROBLEMS
from workflow_scripts.records.stage import elsewhere, run
from workflow_scripts.records.tables import csv_text, read_table
from workflow_scripts.tasks.scicode.problems import problems_of
from workflow_scripts.tasks.scicode.rewards import rewards_of
from workflow_scripts.tasks.scicode.sandbox import limited


def main(input, output, params, wildcards):
    asked = problems_of(read_table(input["problems"], SCICODE_PROBLEMS))
    where = elsewhere(snakemake, "scicode", "judge")
    ask = asking(placed(params.endpoint, where)) if params.endpoint else None
    with limited(params.limits) as sandbox:
        audited = audit(asked, rewards_of(params.rewards), sandbox, ask)
    found, listed = means(audited), violations(audited)
    table = audit_table(found, listed)
    tables.write(table, [output.csv, output.tex])
    write_text(output.md, tables.markdown(table) + violations_markdown(listed))
    write_text(output.violations, csv_text(listed))
    figure(found, [output.pdf, output.png, output.svg, output.data])


run(main, snakemake)

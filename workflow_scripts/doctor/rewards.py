"""What is wrong with a config's scientific coding beyond its keys: families, rewards, and who pays them."""

from workflow_scripts.records.errors import UserError, closest
from workflow_scripts.settings.scicode import Scicode


def faults_of_scicode(scicode: Scicode) -> list[str]:
    """One sentence a fault, with its key: unknown families, rewards that are none, lines that cannot pay theirs."""
    faults = []
    if scicode.policy is not None:
        from workflow_scripts.tasks.scicode.families import FAMILIES

        faults += [
            f"scicode.sets.held_out: there is no family {name!r}{closest(name, list(FAMILIES))}"
            for name in scicode.sets.held_out
            if name not in FAMILIES
        ]
    if not scicode.rewards:
        return faults
    from workflow_scripts.tasks.scicode.rewards import rewards_of

    judged = set()
    for name, given in scicode.rewards.items():
        try:
            judged |= {name} if rewards_of({name: given})[name].needs_judge else set()
        except UserError as error:
            faults.append(f"scicode.rewards: {error}")
    for name, line in scicode.lines.items():
        asks = f"scicode.lines.{name}: its reward, {line.reward}, asks a judge"
        if line.reward in judged and scicode.judge is None:
            faults.append(f"{asks}; set scicode.judge to an endpoint")
        elif line.reward in judged and line.engine == "built_in":
            faults.append(f"{asks}, which lines of verl can; the small policy trains on rewards that are computed here")
    return faults

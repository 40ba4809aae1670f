"""All claims of the paper, in the order of their ids."""

from workflow_scripts.measures.breadth_claims import BREADTH
from workflow_scripts.measures.location_claims import LOCATION
from workflow_scripts.measures.recovery_claims import RECOVERY

CLAIMS = tuple(sorted((*BREADTH, *LOCATION, *RECOVERY), key=lambda claim: claim.id))

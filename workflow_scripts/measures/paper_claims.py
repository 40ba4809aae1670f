"""All claims of the paper, in the order of their ids."""

from workflow_scripts.measures.breadth_claims import BREADTH
from workflow_scripts.measures.location_claims import LOCATION

CLAIMS = tuple(sorted((*BREADTH, *LOCATION), key=lambda claim: claim.id))

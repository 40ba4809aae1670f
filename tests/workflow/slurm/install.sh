#!/usr/bin/env bash
# Installs SLURM and munge from the distribution's packages; nothing is started. Does nothing where they are installed.
set -euo pipefail
found() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ]; }
if found slurmctld && found slurmd && found sbatch && found munged; then exit 0; fi
command -v apt-get >/dev/null || { echo "no apt-get here; install slurm-wlm and munge by hand" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "root is needed to install slurm-wlm and munge" >&2; exit 1; }
# Packages may start services where there is an init system; these tests start their own daemons.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends slurm-wlm munge

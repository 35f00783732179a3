#!/usr/bin/env bash
# Applies a kustomization: roll-out.sh <directory>. First what the migration needs and the migration, then everything else, once it has ended well.
set -euo pipefail
[ $# -eq 1 ] || { echo 'Usage: roll-out.sh <directory of your kustomization>' >&2; exit 2; }
directory=$1
# shellcheck source=deploy/kubernetes/scripts/cluster.sh
source "$(dirname "$0")/cluster.sh"

# A Job cannot be changed.
kube delete job migrate --ignore-not-found
kube apply --kustomize "$directory" --selector app.kubernetes.io/component=setup

# An index over many orders takes its time, so this waits for as long as the Job tries.
until kube wait --for=condition=complete job/migrate --timeout=10s >/dev/null 2>&1; do
  failed=$(kube get job migrate --output 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}')
  if [ -n "$failed" ]; then
    kube logs job/migrate --tail=20 >&2 || true
    fail "The migration failed ($failed). What ran before goes on, nothing else was applied."
  fi
done

kube apply --kustomize "$directory"
for app in worker notifier intake portal operator; do kube rollout status "deployment/$app" --timeout=15m; done

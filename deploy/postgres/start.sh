#!/usr/bin/env bash
# Starts the image of Postgres with the settings that docs/operating/scale.md assumes, for the memory in POSTGRES_MEMORY, such as 4g or
# 512m. Its arguments come last, so that they win. Without Compose, `start.sh --show` prints the settings for postgresql.conf.
set -euo pipefail

[[ ${POSTGRES_MEMORY:-} =~ ^([1-9][0-9]*)([gGmM])(i?[bB])?$ ]] ||
  { echo "start.sh: POSTGRES_MEMORY must be megabytes or gigabytes, such as 512m or 4g" >&2; exit 2; }
megabytes=${BASH_REMATCH[1]}
[[ ${BASH_REMATCH[2]} == [mM] ]] || megabytes=$((megabytes * 1024))
# The workers of an autovacuum may use it three times at once.
maintenance=$((megabytes / 16 > 1024 ? 1024 : megabytes / 16))

settings=(
  max_connections=200
  shared_buffers=$((megabytes / 4))MB
  effective_cache_size=$((megabytes / 2))MB
  maintenance_work_mem=${maintenance}MB
  # Full pages are written to the log after each checkpoint, so checkpoints are rare. A restart after a crash replays this much at most.
  max_wal_size=$((megabytes * 2))MB
  checkpoint_timeout=30min
)

if [[ ${1:-} == --show ]]; then printf '%s\n' "${settings[@]}"; exit; fi
exec docker-entrypoint.sh "$1" "${settings[@]/#/-c}" "${@:2}"

#!/usr/bin/env bash
# Backup and restore of Postgres. It runs where the data directory is: in the container of deploy/compose/backup.yml,
# or on the machine of Postgres. docs/operating/backup.md, has the steps.
set -euo pipefail

usage() {
  cat <<'END'
Usage: backup.sh <command>

  take                          make a base backup, verify it, and check that archiving works
  list                          the base backups, oldest first
  prune --keep <n>              delete all but the newest <n> base backups that can be restored to now, and the WAL
                                that only they need
  archive <path> <name>         store one WAL file; for archive_command
  restore [--backup <name>] [--time <timestamp>] [--timeline <n>] [--check]
                                restore a base backup (default: the newest usable one) in place of the data
                                directory, and replay the WAL to its end or to <timestamp>, such as
                                '2026-11-20 18:55:00+00' (UTC if it has no offset). Postgres must be stopped. The old
                                data directory is kept under another name. --timeline: the timeline to follow
                                (default: that of the old data directory). --check: only show which backup would be
                                restored.

Environment:
  BACKUP_DIRECTORY   base backups and archived WAL of one Postgres (default /backup)
  PGDATA             the data directory, with postgresql.conf in it (restore)
  PGUSER             a superuser of Postgres (default postgres)
  PGDATABASE         the database of the service (default orders)

Exit codes: 0 done; 1 failed (a restore that failed has changed nothing); 2 wrong usage; 3 restored, but orders are
missing at the end, or may be.
END
}

# WAL and backups hold personal data.
umask 077
BACKUP_DIRECTORY=${BACKUP_DIRECTORY:-/backup}
BASES=$BACKUP_DIRECTORY/base
WAL=$BACKUP_DIRECTORY/wal
# The identifier that initdb gave to the Postgres whose backups these are.
OWNER=$BACKUP_DIRECTORY/system_identifier
DATABASE=${PGDATABASE:-orders}
export PGUSER=${PGUSER:-postgres}

say() { echo "backup: $*" >&2; }
fail() { say "$*"; exit 1; }
wrong_use() { say "$* (backup.sh --help)"; exit 2; }
sql() { psql --no-psqlrc --no-password --no-align --tuples-only --quiet --set=ON_ERROR_STOP=1 --dbname="$DATABASE" "$@"; }

# Postgres removes its own copy afterwards, so the file and its directory entry are on disk before this succeeds.
archive() {
  local source=$1 name=$2 target=$WAL/$2.gz
  if [[ -e $target ]]; then
    # Postgres asks again when it crashed between the copy and its note of it.
    if zcat "$target" | cmp --silent - "$source"; then
      sync "$target" "$WAL"
      return 0
    fi
    fail "$target exists with different content; does another Postgres use this archive?"
  fi
  local part=$WAL/.$name.part
  gzip -1 --stdout "$source" > "$part"
  sync "$part"
  mv "$part" "$target"
  sync "$WAL"
}

require_archiving() {
  [[ $(sql --command='show archive_mode') == on ]] ||
    fail 'archive_mode is off, so a restore would end at the base backup. See docs/operating/backup.md.'
}

# One command at a time.
lock() {
  exec 9> "$BACKUP_DIRECTORY/.lock"
  give_to_postgres "$BACKUP_DIRECTORY/.lock"
  flock --nonblock 9 || fail 'another backup, prune or restore is running'
}

# An archive of two servers would end the restore of either in the history of the other.
require_own_archive() {
  [[ -e $OWNER ]] || echo "$1" > "$OWNER"
  [[ $(< "$OWNER") == "$1" ]] || fail "$BACKUP_DIRECTORY belongs to another Postgres; use an empty directory"
}

# Whether the data directory is of the Postgres whose backups these are.
has_own_data() {
  [[ -f $PGDATA/global/pg_control ]] || return 1
  [[ ! -e $OWNER || $(< "$OWNER") == $(control_of "$PGDATA" 'Database system identifier') ]]
}

# Waits until everything up to now is archived.
await_archiver() {
  local last is_failing deadline=$((SECONDS + 120))
  # A record of its own, as an idle Postgres has nothing to switch.
  last=$(sql --command="select pg_walfile_name(pg_create_restore_point('backup'))")
  sql --command='select pg_switch_wal()' > /dev/null
  while true; do
    is_failing=$(sql --command="select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)
      from pg_stat_archiver")
    [[ -e $WAL/$last.gz && $is_failing == f ]] && return
    ((SECONDS < deadline)) || fail "$last is not archived after two minutes; the log of Postgres has the cause"
    sleep 1
  done
}

take() {
  local name part
  require_archiving
  [[ -w $WAL ]] || fail "$WAL is not a directory that $(id -un) can write to"
  lock
  require_own_archive "$(sql --command='select system_identifier from pg_control_system()')"
  mkdir -p "$BASES"
  name=$(date -u +%Y-%m-%dT%H%M%SZ)
  # Under another name until it is verified, so that nothing takes half a backup for a whole one.
  part=$BASES/.$name.part
  rm -rf "$BASES"/.*.part
  say "copying the data directory to $BASES/$name"
  pg_basebackup --no-password --pgdata="$part" --checkpoint=fast --wal-method=stream
  say 'verifying the copy'
  pg_verifybackup --quiet "$part"
  date -u +%s > "$part/backup_ended"
  await_archiver
  sync --file-system "$BASES"
  mv "$part" "$BASES/$name"
  sync "$BASES"
  echo "$name"
}

names() {
  local path
  for path in "$BASES"/20*Z; do
    [[ ! -f $path/backup_ended ]] || basename "$path"
  done
}

list() {
  local name
  for name in $(names); do
    echo "$name  $(du -sh "$BASES/$name" | cut -f1)"
  done
}

first_wal() { sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$BASES/$1/backup_label"; }

prune() {
  local keep=$1 name usable=() oldest timeline
  lock
  timeline=$(newest_timeline)
  for name in $(names); do
    if is_on_timeline "$name" "$timeline"; then usable+=("$name"); fi
  done
  ((${#usable[@]} > 0)) || fail "no base backup in $BASES can be restored to now; take one first"
  oldest=${usable[$((${#usable[@]} > keep ? ${#usable[@]} - keep : 0))]}
  for name in $(names); do
    [[ $name < $oldest ]] || continue
    say "deletes base backup $name"
    rm -rf "${BASES:?}/$name"
  done
  pg_archivecleanup -x .gz "$WAL" "$(first_wal "$oldest")"
  echo "The oldest moment that can be restored is now the end of base backup $oldest."
}

lsn() { local high=${1%/*} low=${1#*/}; echo $(((0x$high << 32) + 0x$low)); }

# A restore starts a new timeline. Its history file names the former ones, with the position at which each was left.
history_of() { printf '%s/%08X.history.gz' "$WAL" "$1"; }

newest_timeline() {
  local path newest=1
  for path in "$WAL"/????????.history.gz; do
    [[ ! -e $path ]] || newest=$((16#$(basename "$path" .history.gz)))
  done
  echo "$newest"
}

# Whether timeline $2 passes through the end of backup $1. What was backed up on a former timeline after it was left
# leads nowhere any more.
is_on_timeline() {
  local ranges own end parent switched
  ranges=$(tr -d ' \n' < "$BASES/$1/backup_manifest" | grep -o '"WAL-Ranges":.*')
  own=$(sed -E 's/.*"Timeline":([0-9]+).*/\1/' <<< "$ranges")
  ((own != $2)) || return 0
  end=$(lsn "$(sed -E 's/.*"End-LSN":"([0-9A-F\/]+)".*/\1/' <<< "$ranges")")
  [[ -e $(history_of "$2") ]] || return 1
  while read -r parent switched _; do
    if [[ $parent == "$own" ]]; then (($(lsn "$switched") >= end)) && return 0; fi
  done < <(zcat "$(history_of "$2")")
  return 1
}

# The timeline to restore: that of the old data directory, so that what another server has archived since does not count.
# A time before that timeline began is on its parent.
choose_timeline() {
  local time=$1 timeline
  if has_own_data; then
    timeline=$(control_of "$PGDATA" "Latest checkpoint's TimeLineID")
  else
    timeline=$(newest_timeline)
  fi
  while [[ -n $time && $timeline -gt 1 && -e $(history_of "$timeline") ]] &&
    (($(date -u -d "$time" +%s) < $(date -u -r "$(history_of "$timeline")" +%s))); do
    timeline=$(zcat "$(history_of "$timeline")" | awk 'NF { parent = $1 } END { print parent }')
  done
  echo "$timeline"
}

# The newest backup that ended before the time; without a time the newest.
choose_backup() {
  local time=$1 timeline=$2 name chosen=''
  for name in $(names); do
    if [[ -n $time ]] && (($(< "$BASES/$name/backup_ended") >= $(date -u -d "$time" +%s))); then continue; fi
    if is_on_timeline "$name" "$timeline"; then chosen=$name; fi
  done
  [[ -n $chosen ]] || fail "no base backup in $BASES ended before ${time:-now} on timeline $timeline"
  echo "$chosen"
}

give_to_postgres() {
  if [[ $(id -u) == 0 ]]; then chown -R postgres:postgres "$@"; fi
}

as_postgres() {
  if [[ $(id -u) == 0 ]]; then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi
}

control_of() { pg_controldata "$1" | sed -n "s/^$2: *//p"; }

# A recovery target that an earlier restore left behind would end this recovery, and every later one, at that target.
remove_recovery_settings() {
  local file
  for file in "$1/postgresql.auto.conf" "$1/postgresql.conf"; do
    if grep -Eq '^[[:space:]]*(recovery_target|restore_command|recovery_end_command|archive_cleanup_command)' "$file"; then
      sed -i -E 's/^[[:space:]]*(recovery_target|restore_command|recovery_end_command|archive_cleanup_command)/#&/' "$file"
      say "commented out recovery settings of an earlier restore in ${file##*/}"
    fi
  done
  rm -f "$1/standby.signal" "$1/backup_ended"
}

# A server in recovery needs at least what the primary had.
limits_of_primary() {
  pg_controldata "$1" | sed -nE \
    's/^(max_connections|max_worker_processes|max_wal_senders|max_prepared_xacts|max_locks_per_xact) setting: +([0-9]+)$/\1=\2/p' |
    sed -e 's/max_prepared_xacts/max_prepared_transactions/' -e 's/max_locks_per_xact/max_locks_per_transaction/'
}

# For restore_command: from the archive, else from the data directory that is replaced, which has what was not archived yet.
# Any exit code up to 125 means to Postgres that the archive ends here. A file that is there and cannot be read must not.
fetch() {
  local name=$1 target=$2
  if [[ -e $WAL/$name.gz ]]; then
    zcat "$WAL/$name.gz" > "$target" || exit 200
  elif [[ -n ${OLD_DATA:-} && -e $OLD_DATA/pg_wal/$name ]]; then
    cp "$OLD_DATA/pg_wal/$name" "$target" || exit 200
  else
    exit 1
  fi
}

# Runs in a directory of its own beside the data directory, which it replaces at the very end: until then a failure or an
# interruption changes nothing.
restore() {
  local name=$1 time=$2 timeline=$3 is_check=$4 script old='' is_own=1 log options setting needed free server told='' replayed
  : "${PGDATA:?is not set}"
  script=$(realpath "${BASH_SOURCE[0]}")
  if [[ -n $time ]]; then
    time=$(date -u -d "$time" '+%Y-%m-%d %H:%M:%S.%6N+00' 2> /dev/null) || wrong_use '--time needs a timestamp'
  fi
  [[ -n $timeline ]] || timeline=$(choose_timeline "$time")
  [[ -n $name ]] || name=$(choose_backup "$time" "$timeline")
  [[ -f $BASES/$name/backup_ended ]] || fail "there is no base backup $name in $BASES"
  is_on_timeline "$name" "$timeline" || fail "timeline $timeline does not pass through base backup $name"
  [[ -z $(ls -A "$PGDATA" 2> /dev/null) ]] || old=$PGDATA.before-$(date -u +%Y-%m-%dT%H%M%SZ)
  has_own_data || is_own=''
  [[ -n $is_own || -z $old ]] || say 'the present data directory is from another Postgres; keeping it, not replaying it'
  mkdir -p "$(dirname "$PGDATA")"
  needed=$(du -s --block-size=1 "$BASES/$name" | cut -f1)
  free=$(df --output=avail --block-size=1 "$(dirname "$PGDATA")" | tail -1)
  ((free > needed)) || fail "the volume of $PGDATA has $free bytes free, and the backup takes $needed"
  say "base backup $name, replayed to ${time:-the end of the archive} on timeline $timeline"
  [[ -z $is_check ]] || return 0
  if [[ -e $PGDATA/postmaster.pid ]] && as_postgres pg_ctl status --pgdata="$PGDATA" > /dev/null; then
    fail 'Postgres is running on this data directory; stop it first'
  fi
  lock

  WORK=$PGDATA.restoring
  rm -rf "$WORK"
  abandon() {
    as_postgres pg_ctl stop --pgdata="$WORK" --mode=immediate > /dev/null 2>&1 || true
    rm -rf "$WORK"
    say 'nothing was restored; the data directory is as it was'
  }
  trap abandon EXIT
  cp -Rp "$BASES/$name" "$WORK"
  remove_recovery_settings "$WORK"
  touch "$WORK/recovery.signal"
  give_to_postgres "$WORK"

  log=$(mktemp /tmp/restore-XXXXXX)
  echo 'local all all trust' > "$log.hba"
  give_to_postgres "$log" "$log.hba"
  # What is to be archived of the new timeline waits for the server that is started afterwards.
  options=(-c listen_addresses= -c unix_socket_directories=/tmp -c "hba_file=$log.hba" -c archive_mode=on
    -c archive_command=/bin/false -c "restore_command=bash $script fetch %f %p" -c recovery_target_action=promote
    -c "recovery_target_timeline=$timeline")
  [[ -z $time ]] || options+=(-c "recovery_target_time=$time")
  while IFS= read -r setting; do options+=(-c "$setting"); done < <(limits_of_primary "$WORK")

  # Not by pg_ctl, as its -o would need the settings quoted a second time.
  export BACKUP_DIRECTORY PGHOST=/tmp OLD_DATA=${is_own:+$PGDATA}
  as_postgres postgres -D "$WORK" "${options[@]}" > "$log" 2>&1 9>&- &
  server=$!
  while true; do
    if ! kill -0 "$server" 2> /dev/null; then
      grep -E 'FATAL|PANIC' "$log" | tail -3 >&2 || tail -5 "$log" >&2
      fail 'Postgres stopped during the recovery; see the lines above'
    fi
    [[ $(sql --command='select pg_is_in_recovery()' 2> /dev/null) == f ]] && break
    replayed=$(sql --command="select date_trunc('second', pg_last_xact_replay_timestamp())" 2> /dev/null || true)
    [[ -z $replayed || $replayed == "$told" ]] || say "replayed to $replayed"
    told=$replayed
    sleep 1
  done

  local reached is_complete=1
  # The last line of the history of the new timeline: where it left the former one.
  reached=$(cat "$WORK"/pg_wal/????????.history | awk 'NF { at = $2 } END { print at }')
  if [[ -n $time || -z $is_own ]] ||
    (($(lsn "$reached") < $(lsn "$(control_of "$PGDATA" 'Latest checkpoint location')"))); then
    is_complete=''
    # The ids of orders that are gone would be given to other orders, and the sequences of events that are gone to other events.
    sql --command="select setval('order_ids', last_value + 10000000) from order_ids" > /dev/null
    say 'raised the sequence of order ids by 10,000,000, so that no id is used twice'
    if [[ $(sql --command="select to_regclass('event_logs') is not null") == t ]]; then
      sql --command='update event_logs set last_sequence = last_sequence + 1000000' > /dev/null
      sql --command='update dispatch_counter set last_position = last_position + 1000000' > /dev/null
      say 'raised the sequence of events of each account by 1,000,000'
    fi
  fi
  as_postgres pg_ctl stop --pgdata="$WORK" --mode=fast --timeout=600 > /dev/null
  wait "$server" || fail "Postgres ended with an error: $(tail -3 "$log")"
  if grep -Eq '^[[:space:]]*recovery_target' "$WORK"/postgresql*.conf || [[ -e $WORK/recovery.signal ]]; then
    fail 'a recovery target was left in the configuration'
  fi
  sync --file-system "$WORK"
  if [[ -n $old ]]; then mv "$PGDATA" "$old"; else rm -rf "$PGDATA"; fi
  mv "$WORK" "$PGDATA"
  trap - EXIT
  sync "$(dirname "$PGDATA")"
  rm -f "$log" "$log.hba"

  # Complete segments of the old directory that the archive lacks; later restores pass through them.
  local path segment
  for path in "${old:-/none}"/pg_wal/archive_status/*.ready; do
    segment=$(basename "$path" .ready)
    [[ -n $is_own && -e ${path%/archive_status/*}/$segment ]] || continue
    as_postgres bash "$script" archive "${path%/archive_status/*}/$segment" "$segment" ||
      say "$segment is not archived: make room in $WAL, and keep $old until the next base backup"
  done
  [[ -z $old ]] || say "the old data directory is $old; delete it when all is well"
  if [[ -z $is_complete ]]; then
    say "Restored to ${time:-the last WAL that was found}. Orders that were accepted later are missing."
    exit 3
  fi
  say 'Restored to the latest state. Take a base backup soon.'
}

command=${1:-}
(($# == 0)) || shift
case $command in
  archive) (($# == 2)) || wrong_use 'archive takes a path and a name'; archive "$@" ;;
  fetch) fetch "$@" ;;
  take) (($# == 0)) || wrong_use 'take has no arguments'; take ;;
  list) (($# == 0)) || wrong_use 'list has no arguments'; list ;;
  prune)
    [[ ${1:-} == --keep && ${2:-} =~ ^[1-9][0-9]*$ && $# == 2 ]] || wrong_use 'prune takes --keep <n>, 1 or more'
    prune "$2"
    ;;
  restore)
    name='' time='' timeline='' is_check=''
    while (($# > 0)); do
      case $1 in
        --check) is_check=1; shift; continue ;;
        --backup) name=${2:?--backup takes a name} ;;
        --time) time=${2:?--time takes a timestamp} ;;
        --timeline)
          [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || wrong_use '--timeline takes a number'
          timeline=$2
          ;;
        *) wrong_use "restore has no option $1" ;;
      esac
      shift 2
    done
    restore "$name" "$time" "$timeline" "$is_check"
    ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) wrong_use "there is no command $command" ;;
esac

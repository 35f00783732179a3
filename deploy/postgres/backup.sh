#!/usr/bin/env bash
# Backup and restore of Postgres. It runs where the data directory is: in the container of deploy/compose/backup.yml,
# or on the machine of Postgres. docs/operating.md, "Backup and restore", has the steps.
set -euo pipefail

usage() {
  cat <<'END'
Usage: backup.sh <command>

  take                          make a base backup, verify it, and check that archiving works
  list                          the base backups, oldest first
  prune --keep <n>              delete all but the newest <n> base backups, and the WAL that only they need
  archive <path> <name>         store one WAL file; for archive_command
  restore [--backup <name>] [--time <timestamp>]
                                replace the data directory by a base backup (the newest that fits), and replay the
                                archive to its end or to <timestamp>, such as '2026-11-20 18:55:00+00'.
                                Postgres must be stopped. The old data directory is kept under another name.

Environment:
  BACKUP_DIRECTORY   base backups and archived WAL (default /backup)
  PGDATA             the data directory (restore)
  PGUSER             a superuser of Postgres (default postgres)
  PGDATABASE         the database of the service (default orders)

Exit codes: 0 done, 1 failed, 2 wrong use.
END
}

BACKUP_DIRECTORY=${BACKUP_DIRECTORY:-/backup}
BASES=$BACKUP_DIRECTORY/base
WAL=$BACKUP_DIRECTORY/wal
DATABASE=${PGDATABASE:-orders}
export PGUSER=${PGUSER:-postgres}

say() { echo "backup: $*" >&2; }
fail() { say "$*"; exit 1; }
wrong_use() { say "$* (backup.sh --help)"; exit 2; }
sql() { psql --no-psqlrc --no-align --tuples-only --quiet --set=ON_ERROR_STOP=1 --dbname="$DATABASE" "$@"; }

# Postgres removes its own copy afterwards, so the file and its directory entry are on disk before this succeeds.
archive() {
  local source=$1 name=$2 target=$WAL/$2.gz
  if [[ -e $target ]]; then
    # Postgres asks again when it crashed between the copy and its note of it.
    zcat "$target" | cmp --silent - "$source" && return 0
    fail "$target exists with other content; is the archive shared with another Postgres?"
  fi
  local part=$WAL/.$name.part
  gzip -1 --stdout "$source" > "$part"
  sync "$part"
  mv "$part" "$target"
  sync "$WAL"
}

require_archiving() {
  [[ $(sql --command='show archive_mode') == on ]] ||
    fail 'archive_mode is off, so a restore would end at the base backup. See docs/operating.md, "Backup and restore".'
}

# Waits until everything up to now is archived.
await_archiver() {
  local last failed deadline=$((SECONDS + 120))
  last=$(sql --command='select pg_walfile_name(pg_switch_wal())')
  until [[ -e $WAL/$last.gz ]]; do
    if ((SECONDS > deadline)); then
      failed=$(sql --command="select coalesce(last_failed_wal, 'nothing') from pg_stat_archiver")
      fail "$last is not archived after two minutes; last failure: $failed. The log of Postgres has the cause."
    fi
    sleep 1
  done
}

take() {
  require_archiving
  [[ -w $WAL ]] || fail "$WAL is no directory that $(id -un) can write to"
  mkdir -p "$BASES"
  local name part
  name=$(date -u +%Y-%m-%dT%H%M%SZ)
  # Under another name until it is verified, so that nothing takes half a backup for a whole one.
  part=$BASES/.$name.part
  rm -rf "$BASES"/.*.part
  say "copies the data directory to $BASES/$name"
  pg_basebackup --pgdata="$part" --checkpoint=fast --wal-method=stream
  say 'verifies the copy'
  pg_verifybackup --quiet "$part"
  await_archiver
  sync -f "$BASES"
  mv "$part" "$BASES/$name"
  sync "$BASES"
  echo "$name"
}

list() {
  local name
  for name in $(names); do
    echo "$name  $(du -sh "$BASES/$name" | cut -f1)"
  done
}

names() { [[ ! -d $BASES ]] || ls "$BASES"; }

first_wal() { sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$BASES/$1/backup_label"; }

prune() {
  local keep=$1 all name oldest
  mapfile -t all < <(names)
  ((${#all[@]} > 0)) || fail "there is no base backup in $BASES"
  for name in "${all[@]:0:$((${#all[@]} > keep ? ${#all[@]} - keep : 0))}"; do
    say "deletes base backup $name"
    rm -rf "${BASES:?}/$name"
  done
  oldest=$(names | head -1)
  pg_archivecleanup -x .gz "$WAL" "$(first_wal "$oldest")"
  echo "The oldest moment that can be restored is now the end of base backup $oldest."
}

lsn() { local high=${1%/*} low=${1#*/}; echo $(((0x$high << 32) + 0x$low)); }

# Whether the present timeline passes through the end of this backup. A restore to a time starts a new timeline there,
# and what was backed up on the former one after that moment leads nowhere any more.
is_on_timeline() {
  local ranges timeline end history parent switched
  ranges=$(tr -d ' \n' < "$BASES/$1/backup_manifest" | grep -o '"WAL-Ranges":.*')
  timeline=$(sed -E 's/.*"Timeline":([0-9]+).*/\1/' <<< "$ranges")
  end=$(lsn "$(sed -E 's/.*"End-LSN":"([0-9A-F\/]+)".*/\1/' <<< "$ranges")")
  history=$(ls "$WAL" | grep -E '^[0-9A-F]{8}\.history\.gz$' | tail -1 || true)
  [[ -n $history ]] && ((timeline != 0x${history%.history.gz})) || return 0
  while read -r parent switched _; do
    if [[ $parent == "$timeline" ]]; then (($(lsn "$switched") >= end)) && return 0; fi
  done < <(zcat "$WAL/$history")
  return 1
}

# The newest backup that ended before the time; without a time the newest.
choose_backup() {
  local time=$1 name chosen='' limit=''
  if [[ -n $time ]]; then
    limit=$(date -u -d "$time" +%s 2> /dev/null) || wrong_use "--time '$time' is no timestamp"
  fi
  for name in $(names); do
    if [[ -n $limit ]] && (($(date -u -r "$BASES/$name/backup_manifest" +%s) >= limit)); then continue; fi
    if is_on_timeline "$name"; then chosen=$name; fi
  done
  [[ -n $chosen ]] || fail "no base backup in $BASES ended before ${time:-now}"
  echo "$chosen"
}

as_postgres() {
  if [[ $(id -u) == 0 ]]; then setpriv --reuid=postgres --regid=postgres --init-groups "$@"; else "$@"; fi
}

# A recovery target that an earlier restore left behind would end this recovery, and every later one, at that target.
remove_recovery_settings() {
  local file
  for file in "$PGDATA/postgresql.auto.conf" "$PGDATA/postgresql.conf"; do
    if grep -Eq '^[[:space:]]*(recovery_target|restore_command|recovery_end_command|archive_cleanup_command)' "$file"; then
      sed -i -E 's/^[[:space:]]*(recovery_target|restore_command|recovery_end_command|archive_cleanup_command)/#&/' "$file"
      say "commented out recovery settings of an earlier restore in ${file##*/}"
    fi
  done
  rm -f "$PGDATA/standby.signal"
}

# A server in recovery needs at least what the primary had.
limits_of_primary() {
  pg_controldata "$PGDATA" | sed -nE \
    's/^(max_connections|max_worker_processes|max_wal_senders|max_prepared_xacts|max_locks_per_xact) setting: +([0-9]+)$/\1=\2/p' |
    sed -e 's/max_prepared_xacts/max_prepared_transactions/' -e 's/max_locks_per_xact/max_locks_per_transaction/'
}

# For restore_command: from the archive, else from the data directory that is replaced, which has what was not archived yet.
fetch() {
  local name=$1 target=$2
  if [[ -e $WAL/$name.gz ]]; then
    zcat "$WAL/$name.gz" > "$target"
  elif [[ -n ${OLD_DATA:-} && -e $OLD_DATA/pg_wal/$name ]]; then
    cp "$OLD_DATA/pg_wal/$name" "$target"
  else
    return 1
  fi
}

restore() {
  local name=$1 time=$2 stamp log options setting script
  old=''
  : "${PGDATA:?is not set}"
  stamp=$(date -u +%Y-%m-%dT%H%M%SZ)
  [[ -n $name ]] || name=$(choose_backup "$time")
  [[ -f $BASES/$name/backup_label ]] || fail "there is no base backup $name in $BASES"
  if [[ -e $PGDATA/postmaster.pid ]] && as_postgres pg_ctl status --pgdata="$PGDATA" > /dev/null; then
    fail 'Postgres is running on this data directory; stop it first'
  fi
  if [[ -f $PGDATA/restore.unfinished ]]; then
    old=$(< "$PGDATA/restore.unfinished")
    say 'an earlier restore was interrupted; this one takes its place'
    rm -rf "$PGDATA"
  elif [[ -n $(ls -A "$PGDATA" 2> /dev/null) ]]; then
    old=$PGDATA.before-$stamp
    mv "$PGDATA" "$old"
    say "keeps the old data directory as $old"
  fi
  # Whatever fails below: the archive is unchanged, so the old data directory can go on.
  put_back() {
    as_postgres pg_ctl stop --pgdata="$PGDATA" --mode=immediate > /dev/null 2>&1 || true
    rm -rf "$PGDATA"
    [[ -z $old ]] || mv "$old" "$PGDATA"
    say 'the restore failed; the data directory is as it was before'
  }
  trap put_back EXIT

  mkdir -p "$PGDATA"
  echo "$old" > "$PGDATA/restore.unfinished"
  local needed free
  needed=$(du -s --block-size=1 "$BASES/$name" | cut -f1)
  free=$(df --output=avail --block-size=1 "$PGDATA" | tail -1)
  ((free > needed)) || fail "the volume of $PGDATA has $free bytes free, and the backup takes $needed"
  say "restores base backup $name to ${time:-the end of the archive}"
  cp -Rp "$BASES/$name/." "$PGDATA"
  chmod 700 "$PGDATA"
  remove_recovery_settings
  touch "$PGDATA/recovery.signal"
  [[ $(id -u) != 0 ]] || chown -R postgres:postgres "$PGDATA"

  log=$(mktemp /tmp/restore-XXXXXX.log)
  [[ $(id -u) != 0 ]] || chown postgres "$log"
  script=$(realpath "${BASH_SOURCE[0]}")
  # What is to be archived of the new timeline waits for the server that is started afterwards.
  options=(-c "listen_addresses=" -c "unix_socket_directories=/tmp" -c archive_mode=on -c archive_command=/bin/false
    -c "restore_command=bash $script fetch %f %p" -c recovery_target_action=promote -c recovery_target_timeline=latest)
  [[ -z $time ]] || options+=(-c "recovery_target_time=$time")
  while IFS= read -r setting; do options+=(-c "$setting"); done < <(limits_of_primary)

  # Not by pg_ctl, as its -o would need the settings quoted a second time.
  export BACKUP_DIRECTORY OLD_DATA=$old
  as_postgres postgres -D "$PGDATA" "${options[@]}" > "$log" 2>&1 &
  local server=$! told=''
  export PGHOST=/tmp
  while true; do
    if ! kill -0 "$server" 2> /dev/null; then
      grep -E 'FATAL|PANIC' "$log" | tail -3 >&2 || tail -5 "$log" >&2
      fail 'the recovery ended early, see the lines above'
    fi
    [[ $(sql --command='select pg_is_in_recovery()' 2> /dev/null) == f ]] && break
    local replayed
    replayed=$(sql --command="select date_trunc('second', pg_last_xact_replay_timestamp())" 2> /dev/null || true)
    [[ -z $replayed || $replayed == "$told" ]] || say "replayed to $replayed"
    told=$replayed
    sleep 2
  done

  # Where something accepted is gone, its order ids would be given to other orders.
  if [[ -n $time || -z $old ]]; then
    sql --command="select setval('order_ids', last_value + 10000000) from order_ids" > /dev/null
    say 'order ids go on 10,000,000 higher, so that none is given twice'
  fi
  as_postgres pg_ctl stop --pgdata="$PGDATA" --mode=fast --timeout=600 > /dev/null
  wait "$server" || fail "Postgres ended with an error: $(tail -3 "$log")"
  if grep -Eq '^[[:space:]]*recovery_target' "$PGDATA"/postgresql*.conf || [[ -e $PGDATA/recovery.signal ]]; then
    fail 'a recovery target was left in the configuration'
  fi
  rm "$PGDATA/restore.unfinished"
  trap - EXIT

  # Complete segments of the old directory that the archive lacks; later restores pass through them.
  if [[ -n $old ]]; then
    local ready
    for ready in "$old"/pg_wal/archive_status/*.ready; do
      ready=$(basename "$ready" .ready)
      if [[ -e $old/pg_wal/$ready ]]; then as_postgres bash "$script" archive "$old/pg_wal/$ready" "$ready"; fi
    done
  fi
  say 'The restore is complete. Take a base backup soon: deploy/compose/manage.sh backup, or backup.sh take.'
  [[ -z $old ]] || say "When all is well, delete the old data directory: $old"
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
    name='' time=''
    while (($# > 0)); do
      case $1 in
        --backup) name=${2:?--backup takes a name}; shift 2 ;;
        --time) time=${2:?--time takes a timestamp}; shift 2 ;;
        *) wrong_use "restore has no option $1" ;;
      esac
    done
    restore "$name" "$time"
    ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) wrong_use "there is no command $command" ;;
esac

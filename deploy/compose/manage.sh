#!/usr/bin/env bash
# The procedures of docs/operating that change secrets or data, for the service under Compose. Each checks its result, and can be
# repeated after an interruption.
# shellcheck disable=SC2016 # What stands in single quotes is for the shell of a container.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# From .env alone: a variable of this shell would win over what is written there.
unset COMPOSE_FILE {POSTGRES,INTAKE_DB,WORKER_DB,PORTAL_DB,NOTIFIER_DB}_PASSWORD{,_FILE} SECRETS_KEY{,_FILE} SECRETS_KEY_PREVIOUS{,_FILE}

passwords=({POSTGRES,INTAKE_DB,WORKER_DB,PORTAL_DB,NOTIFIER_DB}_PASSWORD)

usage() {
  cat <<'END'
Usage: deploy/compose/manage.sh <command>

  init                    make secrets/, .env, docker-compose.override.yml and backup/; what exists is kept
  backup                  make a base backup in backup/, verify it, and check that archiving works
  backups                 list the base backups, oldest first
  prune --keep <n>        keep the newest <n> base backups that can be restored to now; delete the older ones, and the
                          WAL that only they need
  restore [--backup <name>] [--time <timestamp>] [--timeline <n>] [--yes]
                          restore Postgres to the latest state, or to <timestamp>, such as
                          '2026-11-20 18:55:00+00' (UTC if it has no offset); the present data is kept
  rotate-passwords        give the five roles of Postgres new passwords
  exchange-secrets-key    replace SECRETS_KEY by a new key, and encrypt all secrets with it
  upgrade-postgres <image>
                          copy the data to a new major version of Postgres, such as postgres:19, and run on that; the
                          old data is kept

Needs Linux, Docker with Compose 2.24 or newer, and openssl. Exit codes: 0 done; 1 failed; 2 wrong usage; 3 restored
without --time, but orders are missing at the end, or may be.
END
}

say() { echo "manage: $*" >&2; }
fail() { say "$*"; exit 1; }
wrong_use() { say "$* (deploy/compose/manage.sh --help)"; exit 2; }

compose() { docker compose "$@"; }
orders() { compose exec -T operator orders "$@"; }
postgres_backup() { compose exec -T --user postgres postgres bash /usr/local/bin/backup.sh "$@"; }

# A line of .env, or nothing.
setting() { sed -n "s/^$1=//p" .env | tail -1 | tr -d "\"'"; }

# Changes lines of .env together, so that an interruption leaves all of them or none: NAME=value, or NAME alone to remove it.
change_settings() {
  local part=.env.part line
  (umask 077; cp .env "$part")
  [[ -z $(tail -c 1 "$part") ]] || echo >> "$part"
  for line in "$@"; do
    sed -i "/^${line%%=*}=/d" "$part"
    [[ $line != *=* ]] || echo "$line" >> "$part"
  done
  sync "$part"
  mv "$part" .env
}

require_files() {
  local name
  [[ -f .env ]] || fail 'there is no .env here; run deploy/compose/manage.sh init'
  for name in "$@"; do
    [[ -f $(setting "$name") ]] || fail "$name in .env is not the path of a file. This command needs secrets in files (see init)."
  done
}

require_backup() {
  compose config --format json | grep -q '"target": "/usr/local/bin/backup.sh"' ||
    fail 'backups are not switched on: COMPOSE_FILE in .env must name deploy/compose/backup.yml (see init), then: docker compose up -d --wait'
}

# Readable by the users of the containers; the directory keeps other users out.
write_secret() {
  (umask 022; openssl rand -base64 "$2" > "$1")
  sync "$1" "$(dirname "$1")"
}

init() {
  local name file
  mkdir -p secrets
  chmod 700 secrets
  (umask 077; touch .env)
  for name in "${passwords[@]}" SECRETS_KEY; do
    if grep -q "^${name}\(_FILE\)\?=" .env; then continue; fi
    file=./secrets/${name,,}
    [[ -s $file ]] || write_secret "$file" "$([[ $name == SECRETS_KEY ]] && echo 32 || echo 24)"
    change_settings "$name=" "${name}_FILE=$file"
  done
  [[ -f docker-compose.override.yml ]] || cat > docker-compose.override.yml <<'END'
# Settings of this installation; each variable of docs/operating/configuration.md goes under the service that it is for, such as
#
# services:
#   intake:
#     environment:
#       MAX_IN_FLIGHT: 512
services: {}
END
  if ! grep -q '^COMPOSE_FILE=' .env; then
    change_settings COMPOSE_FILE=docker-compose.yml:deploy/compose/backup.yml:docker-compose.override.yml
  fi
  mkdir -p backup/wal backup/base
  for name in "${passwords[@]}" SECRETS_KEY; do
    [[ -n $(setting $name) || -s $(setting ${name}_FILE) ]] || fail "$name in .env is empty, or its file is"
  done
  compose run --rm --no-deps -T --user root --entrypoint chown postgres -R postgres:postgres /backup ||
    fail "cannot give backup/ to the user of Postgres; is deploy/compose/backup.yml in COMPOSE_FILE of .env?"
  say 'secrets/ and .env are complete. Copy secrets/secrets_key to where your passwords are kept.'
}

# In a container of its own, as that of the service may be stopped.
run_backup() {
  compose run --rm --no-deps -T --user root --entrypoint bash postgres /usr/local/bin/backup.sh "$@"
}

restore() {
  local yes='' has_time='' arguments=() answer code=0
  while (($# > 0)); do
    case $1 in
      --yes) yes=1; shift ;;
      --backup | --time | --timeline)
        (($# > 1)) || wrong_use "$1 takes a value"
        [[ $1 != --time ]] || has_time=1
        arguments+=("$1" "$2")
        shift 2
        ;;
      *) wrong_use "restore has no option $1" ;;
    esac
  done
  require_backup
  run_backup restore --check "${arguments[@]}" || exit $?
  if [[ -z $yes ]]; then
    [[ -t 0 ]] || wrong_use 'without a terminal, restore needs --yes'
    read -rp 'This stops the service and replaces the data of Postgres with this backup. Continue? [y/N] ' answer
    [[ $answer == [yY] ]] || fail 'nothing was changed'
  fi
  say 'stopping the apps and Postgres'
  compose stop intake worker notifier portal operator
  compose stop postgres
  compose rm --force postgres
  run_backup restore "${arguments[@]}" || code=$?
  ((code == 0 || code == 3)) || fail '"docker compose up -d --wait" starts the service as it was'
  compose up -d --wait postgres redis
  # Jobs of the lost state; the sweeper makes those that are needed again.
  compose exec -T redis redis-cli flushall > /dev/null
  if ((code == 3)); then
    say 'The apps are still stopped. Read "After a restore to a time" in docs/operating/backup.md, then: docker compose up -d --wait'
    [[ -n $has_time ]] || exit 3
    exit 0
  fi
  compose up -d --wait
  say 'The service runs again.'
}

rotate_passwords() {
  local name file
  require_files "${passwords[@]/%/_FILE}"
  say 'changing the password of the database owner'
  file=$(setting POSTGRES_PASSWORD_FILE)
  # Beside the present one until Postgres has it, so that a run after an interruption goes on with it.
  [[ -s $file.new ]] || write_secret "$file.new" 24
  # On the socket inside the container, which asks for no password.
  printf "set log_min_error_statement = panic; alter role orders password '%s'" "$(cat "$file.new")" |
    compose exec -T postgres psql --quiet --username=orders --set=ON_ERROR_STOP=1
  # In place, here and below: a container sees the file that it was started with.
  cat "$file.new" > "$file"
  rm "$file.new"
  say 'changing the passwords of the apps; until the apps have restarted, senders may get 503 and send again'
  for name in "${passwords[@]:1}"; do
    write_secret "$(setting "${name}_FILE")" 24
  done
  compose run --rm --no-deps -T migrate
  compose restart intake worker notifier portal operator
  compose up -d --wait --no-deps --no-recreate intake worker notifier portal operator
  orders accounts list --json > /dev/null || fail 'the operator cannot connect to Postgres with the new password'
  say 'All five passwords are new.'
}

# A restart alone would keep the former keys. Intake and the notifier go first: they must open what the others encrypt.
recreate_key_users() {
  compose up -d --wait --force-recreate intake notifier
  compose up -d --wait --force-recreate --no-deps portal operator
}

# Fails where a process has another key than the operator, or a secret opens with no key.
check_keys() {
  local expected id found
  expected=$(orders signing reseal --json | sed -n 's/.*"secrets_key": "\([0-9a-f]*\)".*/\1/p')
  [[ -n $expected ]] || fail 'the signing secrets are not all readable; see the line above'
  for id in $(compose ps --quiet intake notifier portal); do
    found=$(docker exec "$id" node -e 'fetch(`http://127.0.0.1:${process.env.ADMIN_PORT}/health/ready`)
      .then((reply) => reply.json()).then((state) => console.log(state.secrets_key))')
    [[ $found == "$expected" ]] || fail "container $id runs with key $found, the operator with $expected"
  done
  echo "$expected"
}

exchange_secrets_key() {
  local former next fingerprint='' last
  require_files SECRETS_KEY_FILE
  # In .env before the first step, so that a run after an interruption knows that an exchange is under way.
  next=$(setting SECRETS_KEY_NEXT_FILE)
  if [[ -z $next ]]; then
    [[ -z $(setting SECRETS_KEY_PREVIOUS_FILE)$(setting SECRETS_KEY_PREVIOUS) ]] ||
      fail 'SECRETS_KEY_PREVIOUS is set in .env: an exchange by hand is not finished. Finish it, or remove the line.'
    fingerprint=$(check_keys)
    say "every secret opens with the present key, $fingerprint"
    next=./secrets/secrets_key_$(date -u +%Y-%m-%dT%H%M%SZ)
    write_secret "$next" 32
    change_settings "SECRETS_KEY_NEXT_FILE=$next" "SECRETS_KEY_PREVIOUS_FILE=$(setting SECRETS_KEY_FILE)" \
      "SECRETS_KEY_FILE=$next"
    say "the new key is in $next; copy it to where your passwords are kept"
  fi
  require_files SECRETS_KEY_NEXT_FILE
  say 'step 1 of 2: encrypting every secret with the new key; sessions in the portal end'
  recreate_key_users
  check_keys > /dev/null
  say 'step 2 of 2: removing the former key'
  former=$(setting SECRETS_KEY_PREVIOUS_FILE)
  change_settings SECRETS_KEY_PREVIOUS_FILE
  recreate_key_users
  if ! last=$(check_keys) || [[ $last == "$fingerprint" ]]; then
    change_settings "SECRETS_KEY_PREVIOUS_FILE=$former"
    recreate_key_users
    fail 'not every secret opens with the new key alone, so both keys are in use again'
  fi
  change_settings SECRETS_KEY_NEXT_FILE
  say "Every secret opens with the new key, $last, in $next."
  say "Keep ${former:-the former key} until the backups from before have expired."
}

# Runs a command in a new container of the new version, or in that of the old one.
in_version() { compose run --rm --no-deps -T --user root --entrypoint bash "$1" -euc "${@:2}"; }

# Rows of each table and the state of each sequence.
counts='
  select format($$select %L, count(*) from %I.%I$$, tablename, schemaname, tablename) from pg_tables
  where schemaname not in ($$pg_catalog$$, $$information_schema$$) order by schemaname, tablename \gexec
  select schemaname, sequencename, last_value from pg_sequences order by 1, 2'

upgrade_postgres() {
  local image=$1 old new epoch
  require_backup
  old=$(in_version postgres 'echo "$PGDATA"')
  # Not local: the trap runs after this function has ended.
  extra=$(mktemp /tmp/upgrade-postgres-XXXXXX.yml)
  trap 'compose rm --force --stop postgres-next > /dev/null 2>&1 || true; rm -f "$extra"' EXIT
  cat > "$extra" <<END
services:
  postgres-next:
    extends: {file: "$PWD/docker-compose.yml", service: postgres}
    image: "$image"
    restart: "no"
END
  export COMPOSE_FILE
  COMPOSE_FILE=$(setting COMPOSE_FILE):$extra
  new=$(in_version postgres-next 'echo "$PGDATA"') || fail "$image does not run"
  [[ $new != "$old" ]] || fail "$image has the major version that runs. Put POSTGRES_IMAGE=$image into .env, then: docker compose up -d --wait"
  compose up -d --wait postgres
  postgres_backup take
  # What an interrupted run left behind is removed; other data is not.
  in_version postgres-next 'old=$0
    if [ -e "$PGDATA.unfinished" ]; then rm -rf "$PGDATA"; fi
    if [ -e "$PGDATA" ]; then echo "manage: $PGDATA exists, and this command did not make it" >&2; exit 1; fi
    mkdir -p "${PGDATA%/*}"
    needed=$(du -s --block-size=1 "$old" | cut -f1)
    free=$(df --output=avail --block-size=1 "${PGDATA%/*}" | tail -1)
    if [ "$free" -le "$needed" ]; then echo "manage: the volume has $free bytes free, and the data takes $needed" >&2; exit 1; fi
    touch "$PGDATA.unfinished"' "$old" || exit 1
  say 'stopping the apps'
  compose stop intake worker notifier portal operator
  compose up -d --wait --no-deps postgres-next
  # Transaction ids must go on: the cursor of the dispatching system consists of them. A higher epoch is above all former ones.
  epoch=$(compose exec -T postgres psql -XAtU orders -c 'select div(pg_current_xact_id()::text::numeric, 4294967296) + 1')
  compose stop postgres-next
  compose run --rm --no-deps -T --user postgres --entrypoint pg_resetwal postgres-next --epoch="$epoch" "$new" > /dev/null
  compose up -d --wait --no-deps postgres-next
  say "copying the database to $new"
  compose exec -T postgres-next bash -euo pipefail -c '
    if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); fi
    export PGUSER=orders PGPASSWORD=$POSTGRES_PASSWORD
    next() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres > /dev/null; }
    pg_dumpall --host=postgres --roles-only | sed "/^CREATE ROLE orders;/d" | next
    pg_dump --host=postgres --create --clean --if-exists orders | next
    psql --no-psqlrc --quiet --command=analyze orders'
  say 'comparing the rows of both'
  diff <(compose exec -T postgres psql -XAtU orders <<< "$counts") \
    <(compose exec -T postgres-next psql -XAtU orders <<< "$counts") >&2 ||
    fail 'the copy differs, see the lines above; "docker compose up -d --wait" starts the service as it was'
  compose stop postgres-next postgres
  # The archive of the old version cannot be continued by the new one.
  in_version postgres 'before=/backup/before-$(date -u +%Y-%m-%dT%H%M%SZ); mkdir "$before"
    mv /backup/base /backup/wal /backup/system_identifier "$before"
    mkdir /backup/base /backup/wal; chown -R postgres:postgres /backup'
  change_settings "POSTGRES_IMAGE=$image"
  in_version postgres-next 'rm "$PGDATA.unfinished"'
  compose rm --force --stop postgres-next
  COMPOSE_FILE=$(setting COMPOSE_FILE)
  compose up -d --wait
  postgres_backup take
  say "The service runs on $image. When all is well, delete $old in the volume, and before-… in backup/."
}

command=${1:-}
(($# == 0)) || shift
case $command in
  init | backup | backups | rotate-passwords | exchange-secrets-key)
    (($# == 0)) || wrong_use "$command has no arguments"
    ;;
  upgrade-postgres) (($# == 1)) || wrong_use 'upgrade-postgres takes an image, such as postgres:19' ;;
esac
case $command in
  init) init ;;
  backup) require_backup; postgres_backup take ;;
  backups) require_backup; postgres_backup list ;;
  prune) require_backup; postgres_backup prune "$@" ;;
  restore) restore "$@" ;;
  rotate-passwords) rotate_passwords ;;
  exchange-secrets-key) exchange_secrets_key ;;
  upgrade-postgres) upgrade_postgres "$@" ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) wrong_use "there is no command $command" ;;
esac

#!/usr/bin/env bash
# Gives the four roles of the apps new passwords in Postgres.
#
# One app at a time. Between the new password and the new pods only new connections are rejected; the pods keep those they have, and intake
# answers 503 where it needs another. It can be run again after it was stopped anywhere.
set -euo pipefail
# shellcheck source=deploy/kubernetes/scripts/cluster.sh
source "$(dirname "$0")/cluster.sh"

for app in intake worker notifier portal; do
  user=$(value "$app" DATABASE_URL | sed -nE 's#^postgres(ql)?://([^:@/]+):.*#\2#p')
  [ "$user" = "orders_$app" ] || fail "DATABASE_URL of the Secret $app is not one of the role orders_$app with a password."
  variable=$(printf '%s_DB_PASSWORD' "$app" | tr '[:lower:]' '[:upper:]')
  password=$(openssl rand -hex 24)
  say "$app"

  # The Secrets first: whatever stops this, the next run finds both alike and Postgres is given that one.
  kube get secret "$app" --output json |
    user=$user password=$password jq '
      { data: (.data | with_entries(
          select(.key | test("^(DATABASE_URL|DATABASE_READ_URL|QUEUE_URL)$"))
          | .value |= (@base64d
              | sub("^(?<scheme>postgres(ql)?)://\(env.user):[^@]*@"; "\(.scheme)://\(env.user):\(env.password)@")
              | @base64))) }' |
    patch_secret "$app"
  password=$password jq -n --arg name "$variable" '{ data: { ($name): (env.password | @base64) } }' |
    patch_secret operator

  printf %s "$password" | kube exec --stdin deploy/operator -- sh -c "export $variable=\$(cat) && exec orders migrate" >&2
  restart "$app"
done
say 'Done.'

#!/usr/bin/env bash
# Exchanges SECRETS_KEY while everything runs.
#
# Each step ends before the next begins: all pods open both keys, all pods encrypt with the new one, every secret is encrypted with it, the old
# one goes. How far it got is an annotation of the Secret `operator`, so a run that was stopped is continued by running this again. Both keys
# stay in the cluster until the last step.
set -euo pipefail
# shellcheck source=deploy/kubernetes/scripts/cluster.sh
source "$(dirname "$0")/cluster.sh"

# `operator` first: it says how far this got.
readers=(operator intake notifier portal)
annotation=secrets-key-exchange

# Gives all pods these keys: the one that encrypts and the other that also opens, empty for none. In jq's environment, as others on this
# machine can read its arguments.
give() {
  local step=$1 key=$2 other=$3 app
  for app in "${readers[@]}"; do
    step=$step key=$key other=$other jq -n --arg name "$annotation" '
      def given($text): if $text == "" then null else $text end;
      { metadata: { annotations: { ($name): given(env.step) } },
        data: { SECRETS_KEY: (env.key | @base64), SECRETS_KEY_PREVIOUS: (given(env.other) | if . then @base64 else . end) } }' |
      patch_secret "$app"
  done
  restart "${readers[@]}"
}

reseal() { kube exec deploy/operator -- orders signing reseal "$@"; }

key=$(value operator SECRETS_KEY)
other=$(value operator SECRETS_KEY_PREVIOUS)
step=$(kube get secret operator --output "jsonpath={.metadata.annotations.$annotation}")
[ -n "$key" ] || fail "The Secret operator has no SECRETS_KEY."

case $step in
'')
  [ -z "$other" ] || fail "SECRETS_KEY_PREVIOUS is set, and not by this: end that exchange first (README.md)."
  for app in "${readers[@]}"; do
    [ "$(value "$app" SECRETS_KEY)" = "$key" ] || fail "The Secrets $app and operator have different keys: put that right first."
  done
  # Fails where a secret exists that the key in use does not open.
  reseal
  old=$key new=$(openssl rand -base64 32)
  ;;
both) old=$key new=$other ;;
swapped) old=$other new=$key ;;
*) fail "The annotation $annotation of the Secret operator says $step, which this does not know." ;;
esac

if [ "$step" != swapped ]; then
  say '1 of 4: all pods open both keys'
  give both "$old" "$new"
fi
say '2 of 4: all pods encrypt with the new key'
give swapped "$new" "$old"

say '3 of 4: every secret is encrypted with the new key'
reseal
# A second run finds nothing to do unless a pod still has the old key.
[ "$(reseal --json | jq .resealed)" = 0 ] || fail 'A pod still encrypts with the old key: find it, and run this again.'

say '4 of 4: the old key goes'
give '' "$new" ''
if ! reseal; then
  give swapped "$new" "$old"
  fail 'Something needs the old key: it is back as SECRETS_KEY_PREVIOUS. Run this again once you know what.'
fi
say 'Done. Copy the new key to where your passwords are:'
say "  kubectl -n $namespace get secret operator -o jsonpath='{.data.SECRETS_KEY}' | base64 -d"
say 'Keep the old one as long as you keep backups of the database from before now.'

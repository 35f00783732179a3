# shellcheck shell=bash
# What the scripts beside this share. They speak to the current context of kubectl, in the namespace NAMESPACE, `orders` unless set.
namespace=${NAMESPACE:-orders}

kube() { kubectl --namespace "$namespace" "$@"; }

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

for program in kubectl jq openssl base64; do
  command -v "$program" >/dev/null || fail "This needs $program."
done

# One value of a Secret; empty where there is none.
value() { kube get secret "$1" --output "jsonpath={.data.$2}" | base64 --decode; }

# Reads a merge patch from standard input: a value on a command line would be seen by everybody on this machine.
patch_secret() { kube patch secret "$1" --type merge --patch-file /dev/stdin >/dev/null; }

# Pods read their secrets as they start. Returns when no pod with the earlier ones is left, not even one that still drains.
restart() {
  local names earlier app
  names=$(IFS=,; printf '%s' "$*")
  earlier=$(kube get pods --selector "app.kubernetes.io/name in ($names)" --output name)
  for app in "$@"; do kube rollout restart "deployment/$app" >/dev/null; done
  for app in "$@"; do kube rollout status "deployment/$app" --timeout=10m >&2; done
  # shellcheck disable=SC2086
  [ -z "$earlier" ] || kube wait --for=delete $earlier --timeout=5m >/dev/null
}

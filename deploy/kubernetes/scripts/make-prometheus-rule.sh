#!/bin/sh
# Writes deploy/prometheus/alerts.yml as the resource that the Prometheus operator reads.
set -eu
cd "$(dirname "$0")/.."
{
  cat <<'HEAD'
# Made from deploy/prometheus/alerts.yml by `npm run kubernetes:rules`; a test compares the two.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: orders
  labels:
    app.kubernetes.io/part-of: orders
spec:
HEAD
  sed 's/^\(.\)/  \1/' ../prometheus/alerts.yml
} >components/monitoring/prometheus-rule.yaml

#!/usr/bin/env bash
# Puts a screen of one cluster into CloudWatch: cloudwatch-cluster.sh STACK CLUSTER. It reads the log lines of `sync`, so it needs no metric of the cluster; each look is charged as a query of Logs Insights.
# A dashboard beyond the third of an account costs $3 a month; `aws cloudwatch delete-dashboards --dashboard-names STACK-CLUSTER` removes it.
set -euo pipefail
stack=${1:?write STACK and CLUSTER} cluster=${2:?write STACK and CLUSTER} region=${AWS_REGION:?set AWS_REGION}

widgets=()
# widget TITLE VIEW QUERY: two in a row.
widget() {
  local at=${#widgets[@]}
  widgets+=("{ \"type\": \"log\", \"x\": $((at % 2 * 12)), \"y\": $((at / 2 * 6)), \"width\": 12, \"height\": 6, \"properties\": { \"title\": \"$cluster: $1\", \"region\": \"$region\", \"view\": \"$2\", \"query\": \"SOURCE '/aws/lambda/$stack-sync' | filter cluster = '$cluster' | $3\" } }")
}
widget "syncs" timeSeries "filter ispresent(SyncLag) | stats sum(CompletedSyncs) as completed, sum(UnreachableSyncs) as unreachable by bin(1m)"
widget "start after the due time (ms)" timeSeries "filter ispresent(SyncLag) | stats pct(SyncLag, 50) as p50, pct(SyncLag, 99) as p99 by bin(1m)"
widget "scales" timeSeries "filter ispresent(SyncLag) | stats sum(ScalesApplied) as applied, sum(ScalesRefused) as refused, sum(ScalesUnknown) as unknown by bin(1m)"
widget "evaluations that failed" timeSeries "filter ispresent(SyncLag) | stats sum(EvaluationsFailed) as failed by bin(1m)"
widget "what scaled most" table "filter ispresent(event) | stats count(*) as scales, sum(abs(to - from)) as pods by autoscaler | sort by scales desc | limit 20"
widget "errors" table "filter level = 'ERROR' | fields @timestamp, message | sort @timestamp desc | limit 20"

body="{ \"widgets\": [$(
  IFS=,
  echo "${widgets[*]}"
)] }"
aws cloudwatch put-dashboard --dashboard-name "$stack-$cluster" --dashboard-body "$body"

#!/usr/bin/env bash
# Deploys one stack from a pipeline, with the AWS command line. Run it in a checkout after `npm ci`. It needs: BUCKET (a bucket of this region for packages), STACK, ALARM_ADDRESS, BOUNDARY (the ARN of a policy).
set -euo pipefail

version=$(node -p 'require("./package.json").version')
npm run package -- --s3-uri "s3://$BUCKET/tidemark/$version"
aws s3 cp --recursive dist/stack "s3://$BUCKET/tidemark/$version/"
aws cloudformation deploy \
  --stack-name "$STACK" \
  --template-file dist/stack/template.json \
  --s3-bucket "$BUCKET" \
  --s3-prefix "tidemark/$version" \
  --capabilities CAPABILITY_NAMED_IAM \
  --no-fail-on-empty-changeset \
  --tags team=platform cost-centre=42 \
  --parameter-overrides \
  NamePrefix="$STACK" \
  AlarmAddress="$ALARM_ADDRESS" \
  PermissionsBoundary="$BOUNDARY" \
  RolePath=/platform/

#!/usr/bin/env bash
# Deploys a stack into several regions of accounts of an organization. Run it in a checkout after `npm ci`, as the administrator of stack sets.
# Lambda reads a package in its own region only, so there is a bucket for each: "$BUCKET-REGION", which the accounts may read. It needs: BUCKET, ACCOUNTS and REGIONS (each with spaces between).
set -euo pipefail

version=$(node -p 'require("./package.json").version')
npm run package -- --s3-uri "s3://$BUCKET-{region}/tidemark/$version"
for region in $REGIONS; do
  aws s3 cp --recursive dist/stack "s3://$BUCKET-$region/tidemark/$version/" --region "$region"
done
# S3 knows its own address in each partition of AWS.
template=$(aws s3 presign "s3://$BUCKET-$AWS_REGION/tidemark/$version/template.json" --region "$AWS_REGION")
aws cloudformation create-stack-set \
  --stack-set-name tidemark \
  --template-url "${template%%\?*}" \
  --capabilities CAPABILITY_NAMED_IAM \
  --tags Key=team,Value=platform \
  --parameters ParameterKey=RolePath,ParameterValue=/platform/
# shellcheck disable=SC2086
aws cloudformation create-stack-instances --stack-set-name tidemark --accounts $ACCOUNTS --regions $REGIONS

#!/usr/bin/env bash
# Makes the role for EKS clusters in every account of an organizational unit, also in those that come later. Run it as the administrator of stack sets.
# It needs: SYNC_ROLE_ARN (output SyncRoleArn of the stack), EXTERNAL_ID (parameter externalId of the stack), ORGANIZATION (o-…), UNIT (ou-… or r-…).
set -euo pipefail
cd "$(dirname "$0")"

aws cloudformation create-stack-set \
  --stack-set-name tidemark-cluster-role \
  --template-body file://cluster-role.yaml \
  --permission-model SERVICE_MANAGED \
  --auto-deployment Enabled=true,RetainStacksOnAccountRemoval=false \
  --capabilities CAPABILITY_NAMED_IAM \
  --parameters "ParameterKey=SyncRoleArn,ParameterValue=$SYNC_ROLE_ARN" "ParameterKey=ExternalId,ParameterValue=$EXTERNAL_ID" "ParameterKey=OrganizationId,ParameterValue=$ORGANIZATION"
# A role belongs to no region, so one region makes it.
aws cloudformation create-stack-instances \
  --stack-set-name tidemark-cluster-role \
  --deployment-targets "OrganizationalUnitIds=$UNIT" \
  --regions "${AWS_REGION:-eu-west-1}"

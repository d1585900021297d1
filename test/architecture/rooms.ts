/** Rooms that compute: no package, no Node module, nothing that could wait or look at a clock. */
export const PURE_ROOMS = ["lib/model", "lib/fields", "lib/sources", "lib/policy"] as const;

/**
 * What a sync imports: the rules, the manifests that hold them, and the ways to tables, clusters
 * and people.
 */
const OF_SYNC = [
  ...PURE_ROOMS,
  "lib/manifest",
  "lib/store",
  "lib/cluster",
  "lib/source-client",
  "lib/report",
  "lib/plan",
];
const OF_SERVICE = [...OF_SYNC, "lib/views", "lib/sync"];
const OF_RUN = [...OF_SERVICE, "lib/service"];

/**
 * The rooms and the rooms that each may import, down the list of meaning (docs/architecture.md,
 * "Rooms"). A room that is not listed may not exist.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "lib/model": [],
  "lib/aws": [],
  "lib/cost": [],
  "lib/fields": ["lib/model"],
  "lib/sources": ["lib/model", "lib/fields"],
  "lib/policy": ["lib/model", "lib/fields", "lib/sources"],
  "lib/manifest": [...PURE_ROOMS],
  "lib/store": ["lib/model", "lib/aws"],
  "lib/cluster": ["lib/model", "lib/aws", "lib/sources"],
  "lib/source-client": ["lib/model", "lib/aws", "lib/sources", "lib/cluster"],
  "lib/report": ["lib/model"],
  "lib/views": ["lib/model", "lib/cluster", "lib/report"],
  "lib/plan": ["lib/model", "lib/store", "lib/report"],
  "lib/sync": OF_SYNC,
  "lib/service": OF_SERVICE,
  "lib/api": ["lib/model", "lib/store", "lib/report", "lib/views", "lib/service"],
  functions: [...OF_RUN, "lib/aws", "lib/api"],
  "lib/remote": ["lib/model", "lib/aws", "lib/report", "lib/views", "lib/service", "lib/api"],
  "lib/local": [...OF_RUN, "lib/aws", "functions"],
  "lib/cli": [...OF_RUN, "lib/cost", "lib/remote", "lib/local"],
};

/** Packages that only these rooms may load, because their weight or their I/O belongs there. */
export const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  "@kubernetes/client-node": ["lib/cluster"],
  dynalite: ["lib/local"],
  "@peculiar/x509": ["lib/local"],
  "reflect-metadata": ["lib/local"],
  "csv-parse": ["lib/local"],
  commander: ["lib/cli", "lib/local"],
  "@aws-sdk/client-dynamodb": [
    "lib/store",
    "lib/sync",
    "lib/service",
    "lib/local",
    "lib/cli",
    "functions",
  ],
  "@smithy/node-http-handler": ["lib/aws"],
  "@middy/core": ["functions"],
  "@middy/sqs-partial-batch-failure": ["functions"],
};

/** Room of a path ("lib/store/table/keys.ts" → "lib/store"), undefined outside all of them. */
export const roomOf = (path: string): string | undefined =>
  Object.keys(ROOMS).find((room) => path.startsWith(`${room}/`));

/** Name of the package behind a bare specifier: "@aws-sdk/client-sqs/x" → "@aws-sdk/client-sqs". */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/** The rooms of the rules below the manifests. */
const RULES = [
  "lib/rules/model",
  "lib/rules/fields",
  "lib/rules/sources",
  "lib/rules/policy",
] as const;

/** Rooms that compute: no package, no Node module, nothing that could wait or look at a clock. */
export const PURE_ROOMS = [...RULES, "lib/rules/doctor", "lib/replay"] as const;

/** What a sync imports: the rules, the manifests, and the ways to tables, clusters and people. */
const OF_SYNC = [
  ...RULES,
  "lib/rules/manifest",
  "lib/rules/doctor",
  "lib/stack/store",
  "lib/stack/turns",
  "lib/stack/cluster",
  "lib/stack/source-client",
  "lib/stack/report",
  "lib/stack/plan",
  "lib/stack/projections",
];
const OF_SERVICE = [...OF_SYNC, "lib/answers/views", "lib/answers/words", "lib/stack/sync"];
const OF_LAMBDA = [
  ...OF_SERVICE,
  "lib/stack/aws",
  "lib/answers/service",
  "lib/answers/cloud-events",
  "lib/answers/audit",
  "lib/answers/api",
];
const OF_RUN = [...OF_LAMBDA, "lib/lambda"];

/**
 * The rooms and the rooms that each may import, storey by storey, down the list of meaning
 * (docs/architecture.md, "Rooms"). A room that is not listed may not exist.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "lib/rules/model": [],
  "lib/rules/fields": ["lib/rules/model"],
  "lib/rules/sources": ["lib/rules/model", "lib/rules/fields"],
  "lib/rules/policy": ["lib/rules/model", "lib/rules/fields", "lib/rules/sources"],
  "lib/rules/manifest": [...RULES],
  "lib/rules/doctor": [...RULES],
  "lib/replay": [...RULES],
  "lib/stack/aws": [],
  "lib/stack/turns": [],
  "lib/stack/store": ["lib/rules/model", "lib/stack/aws"],
  "lib/stack/cluster": [
    "lib/rules/model",
    "lib/rules/sources",
    "lib/rules/doctor",
    "lib/stack/aws",
    "lib/stack/turns",
  ],
  "lib/stack/source-client": [
    "lib/rules/model",
    "lib/rules/sources",
    "lib/stack/aws",
    "lib/stack/turns",
    "lib/stack/cluster",
  ],
  "lib/stack/report": ["lib/rules/model"],
  "lib/stack/plan": ["lib/rules/model", "lib/stack/store", "lib/stack/report"],
  "lib/stack/projections": [...RULES, "lib/replay", "lib/stack/store", "lib/stack/report"],
  "lib/stack/sync": OF_SYNC,
  "lib/answers/cost": [],
  "lib/answers/views": ["lib/rules/model", "lib/stack/cluster", "lib/stack/report"],
  "lib/answers/words": ["lib/rules/model", "lib/stack/report", "lib/answers/views"],
  "lib/answers/service": OF_SERVICE,
  "lib/answers/cloud-events": [
    "lib/rules/model",
    "lib/stack/store",
    "lib/stack/report",
    "lib/stack/plan",
    "lib/answers/views",
    "lib/answers/words",
    "lib/answers/service",
  ],
  "lib/answers/audit": [
    "lib/rules/model",
    "lib/stack/store",
    "lib/answers/views",
    "lib/answers/words",
    "lib/answers/service",
  ],
  "lib/answers/api": [
    "lib/rules/model",
    "lib/stack/store",
    "lib/stack/report",
    "lib/stack/plan",
    "lib/answers/views",
    "lib/answers/service",
  ],
  "lib/answers/remote": [
    "lib/rules/model",
    "lib/stack/aws",
    "lib/stack/report",
    "lib/answers/views",
    "lib/answers/service",
    "lib/answers/api",
  ],
  "lib/dashboard/serve": [
    "lib/rules/model",
    "lib/stack/store",
    "lib/answers/service",
    "lib/answers/api",
  ],
  "lib/dashboard/page": [
    "lib/dashboard/serve",
    "lib/rules/model",
    "lib/stack/report",
    "lib/answers/cost",
    "lib/answers/views",
    "lib/answers/words",
  ],
  "lib/lambda": OF_LAMBDA,
  functions: OF_RUN,
  "lib/embedded": [...OF_RUN, "functions", "lib/dashboard/serve"],
  "lib/command": [
    ...OF_RUN,
    "lib/answers/cost",
    "lib/answers/remote",
    "lib/dashboard/serve",
    "lib/embedded",
    "lib/replay",
  ],
};

/** The page of the dashboard runs in a browser, from one file that esbuild makes of it. */
export const PAGE_ROOM = "lib/dashboard/page";

/**
 * The parts of the larger rooms, files and folders, in their order: each imports only parts that
 * stand before it. A part that is not listed may not exist.
 */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  "lib/stack/sync": [
    "rule-failures.ts",
    "pure-part.ts",
    "hand-over.ts",
    "sync-ports.ts",
    "connected.ts",
    "load",
    "specs",
    "observe",
    "decide",
    "scale",
    "keep",
    "summary",
    "objects",
    "sync.ts",
  ],
  "lib/answers/service": [
    "requests.ts",
    "service.ts",
    "fleet-documents.ts",
    "context.ts",
    "refusals.ts",
    "times.ts",
    "stored-spec.ts",
    "label-selector.ts",
    "known-partitions.ts",
    "find-autoscaler.ts",
    "whole-name.ts",
    "past-clusters.ts",
    "facts",
    "partitions",
    "views",
    "autoscalers.ts",
    "schedule.ts",
    "events.ts",
    "changes.ts",
    "rows",
    "history",
    "shadow",
    "explain",
    "series",
    "doctor",
    "access",
    "sources",
    "clusters",
    "calendars",
    "wakes",
    "edits",
    "apply",
    "overrides",
    "status",
    "open.ts",
  ],
  "lib/embedded": [
    "layout.ts",
    "host",
    "traces",
    "queue",
    "engine",
    "tables",
    "folder",
    "cluster",
    "view",
    "run",
    "main.ts",
    "start.ts",
  ],
};

/** Packages that only these rooms may load, because their weight or their I/O belongs there. */
export const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  "@kubernetes/client-node": ["lib/stack/cluster"],
  dynalite: ["lib/embedded"],
  "@peculiar/x509": ["lib/embedded"],
  "reflect-metadata": ["lib/embedded"],
  "csv-parse": ["lib/embedded"],
  commander: ["lib/command", "lib/embedded"],
  "@aws-sdk/client-dynamodb": [
    "lib/stack/store",
    "lib/stack/projections",
    "lib/stack/sync",
    "lib/answers/service",
    "lib/lambda",
    "lib/embedded",
    "lib/command",
    "functions",
  ],
  "@smithy/node-http-handler": ["lib/stack/aws"],
  "@middy/core": ["functions"],
  "@middy/sqs-partial-batch-failure": ["functions"],
};

/**
 * Room of a path ("lib/stack/store/table/keys.ts" → "lib/stack/store"), undefined outside all of
 * them.
 */
export const roomOf = (path: string): string | undefined =>
  Object.keys(ROOMS).find((room) => path.startsWith(`${room}/`));

/** Part of a path within a room: "lib/stack/sync/load/load.ts" of "lib/stack/sync" → "load". */
export const partOf = (room: string, path: string): string =>
  path.slice(room.length + 1).split("/")[0] ?? "";

/** Name of the package behind a bare specifier: "@aws-sdk/client-sqs/x" → "@aws-sdk/client-sqs". */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

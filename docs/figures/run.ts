/** Pages, tables and pictures of docs that are written from the code. */
const WRITERS: Readonly<
  Record<string, { readonly writes: string; readonly load: () => Promise<unknown> }>
> = {
  cli: { writes: "the commands of docs/cli.md", load: () => import("./cli.ts") },
  cluster: {
    writes: "docs/cluster.schema.json and the fields of docs/clusters-in-git.md",
    load: () => import("./cluster.ts"),
  },
  compared: { writes: "the table of docs/compared.md", load: () => import("./compared.ts") },
  cost: { writes: "the tables of docs/cost.md", load: () => import("./cost.ts") },
  crd: {
    writes: "docs/pod-autoscaler.crd.yaml and docs/pod-autoscaler.schema.json",
    load: () => import("./crd.ts"),
  },
  dashboard: {
    writes: "the pictures of docs/dashboard.md and README.md, with chromium",
    load: () => import("./dashboard.ts"),
  },
  "first-hour": {
    writes: "the outputs and pictures of docs/first-hour.md",
    load: () => import("./first-hour.ts"),
  },
  keda: { writes: "what differs from KEDA, in docs/migrating.md", load: () => import("./keda.ts") },
  openapi: { writes: "docs/openapi.json and docs/answers.md", load: () => import("./openapi.ts") },
  picture: {
    writes: "docs/images, from three virtual hours of the demonstration",
    load: () => import("./picture.ts"),
  },
  reads: {
    writes: "what answers ask of the tables, in docs/speed.md",
    load: () => import("./reads.ts"),
  },
  reasons: { writes: "docs/reasons.md", load: () => import("./reasons.ts") },
  replay: {
    writes: "the outputs and the picture of docs/replay.md",
    load: () => import("./replay.ts"),
  },
  rooms: {
    writes: "the drawings of the rooms of lib, in docs/images",
    load: () => import("./rooms.ts"),
  },
  shapes: {
    writes: "what becomes of ScaledObjects and of their fields, in docs/migrating.md",
    load: () => import("./shapes.ts"),
  },
  sizes: { writes: "the sizes of the functions in docs/api.md", load: () => import("./sizes.ts") },
  steps: {
    writes: "docs/images/native-steps.svg, the order of the steps of the native rules",
    load: () => import("./steps.ts"),
  },
};

/** `npm run docs -- NAME`: writes one of them. Without a name it lists them. */
const name = process.argv[2] ?? "";
const writer = Object.hasOwn(WRITERS, name) ? WRITERS[name] : undefined;
if (writer) await writer.load();
else {
  const listed = Object.entries(WRITERS).map(
    ([known, { writes }]) => `  ${known.padEnd(12)}${writes}\n`,
  );
  process.stderr.write(
    `${name === "" ? "Name what to write" : `Cannot write "${name}": there is no such page`}: npm run docs -- NAME\n${listed.join("")}`,
  );
  process.exitCode = 2;
}

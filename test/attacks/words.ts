import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillWith, kubernetes } from "../cluster/stand-in/kubernetes.ts";
import { type StandIn, standIn, status } from "../cluster/stand-in/server.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { type Attack, type Seen, said, withFolder } from "./attack.ts";

/** The title of the window, a colour, C1, an override of the direction, and a line separator. */
const HOSTILE = "\u001b]0;pwned\u0007\u001b[31m\u009b2J\u202e\u2028";
const RAW = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/u;
const WATCH_MS = 20_000;

const target = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "daily" },
  minReplicas: 1,
  maxReplicas: 10,
};
const external = {
  type: "External",
  external: {
    metric: { name: `queue${HOSTILE}` },
    target: { type: "AverageValue", averageValue: "10" },
  },
};
const cpu = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};
const hpa = (name: string, spec: object): object => ({
  ...{
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { namespace: "shop", name },
  },
  spec: { ...target, ...spec },
});
/** Each is applied by itself: one that is refused must not keep the others out. */
const MANIFESTS: readonly object[] = [
  {
    ...{
      apiVersion: "tidemark.dev/v1",
      kind: "PodAutoscaler",
      metadata: { namespace: "shop", name: "owned" },
    },
    spec: {
      ...target,
      owner: `team${HOSTILE}`,
      metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 50 }],
    },
  },
  hpa("queue", { metrics: [external] }),
  hpa("targets", { scaleTargetRef: { ...target.scaleTargetRef, name: `daily${HOSTILE}` } }),
];
const READING: readonly (readonly string[])[] = [
  ...["", "wide", "json", "yaml", "csv", "name"].map((format) => [
    "get",
    ...(format === "" ? [] : ["-o", format]),
  ]),
  ...[
    ["describe"],
    ["status"],
    ["changes", "-A"],
    ["changes", "-A", "-o", "csv"],
    ["events", "-A"],
    ["events", "-A", "-o", "csv"],
  ],
  ...["owned", "queue", "targets"].map((name) => ["explain", name]),
];

const rawIn = (texts: readonly string[]): number =>
  texts.flatMap((text) => text.split("\n")).filter((line) => RAW.test(line)).length;

const inManifests = (folder: string): Promise<Seen> =>
  withFolder(async (dir) => {
    const data = ["--data", join(dir, "data")];
    await said(folder, ["start", ...data, "--for", "1s", "--speed", "100000"], dir);
    const outs: string[] = [];
    let stored = 0;
    for (const [at, manifest] of MANIFESTS.entries()) {
      const file = join(dir, `${at}.json`);
      writeFileSync(file, JSON.stringify(manifest));
      const { out, code } = await said(folder, ["apply", "-f", file, ...data], dir);
      outs.push(out);
      if (code === 0) stored++;
    }
    await said(folder, ["start", ...data, "--for", "1m", "--speed", "100000"], dir);
    for (const words of READING) outs.push((await said(folder, [...words, ...data], dir)).out);
    const raw = rawIn(outs);
    return {
      held: raw === 0,
      saw: `${stored} of ${MANIFESTS.length} manifests stored; ${raw} lines with raw characters in ${outs.length} outputs`,
    };
  });

interface Watching {
  readonly server: StandIn;
  readonly manifest: object;
  readonly reading: readonly (readonly string[])[];
}

/** What a run on a cluster prints, and what the commands print of it afterwards. */
const outputsOf = async (
  folder: string,
  dir: string,
  { server, manifest, reading }: Watching,
): Promise<readonly string[]> => {
  const [kubeconfig, file] = [join(dir, "kubeconfig"), join(dir, "web.json")];
  writeFileSync(kubeconfig, kubeconfigText(server, { token: "t" }));
  writeFileSync(file, JSON.stringify(manifest));
  const data = ["--data", join(dir, "data")];
  const run = await said(
    folder,
    [
      "start",
      ...data,
      "--kubeconfig",
      kubeconfig,
      "--manifest",
      file,
      "--for",
      `${WATCH_MS / 1_000}s`,
    ],
    dir,
  );
  const outs = [run.out];
  for (const words of reading) outs.push((await said(folder, [...words, ...data], dir)).out);
  return outs;
};

const ofServer = (folder: string): Promise<Seen> =>
  withFolder(async (dir) => {
    const server = await standIn();
    server.answer = status(403, "Forbidden", `you may not${HOSTILE}`);
    const reading = [...READING.slice(0, -3), ["explain", "web"]];
    const outs = await outputsOf(folder, dir, {
      server,
      manifest: hpa("web", { metrics: [external] }),
      reading,
    });
    const log = readFileSync(join(dir, "data/log.jsonl"), "utf8");
    const isTold = outs.some((out) => out.includes("you may not"));
    await server.close();
    const [raw, logged] = [rawIn(outs), rawIn([log])];
    return {
      held: isTold && raw === 0 && logged === 0,
      saw: `its words are ${isTold ? "" : "not "}shown; ${raw} lines with raw characters in ${outs.length} outputs, ${logged} in the log`,
    };
  });

/**
 * An API server refuses a scale in words that a spreadsheet takes for a formula, in the hope that a
 * person opens the scale events there.
 */
const inCells = (folder: string): Promise<Seen> =>
  withFolder(async (dir) => {
    const server = await kubernetes();
    fillWith(server, [["shop", "daily"]]);
    server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
    server.documents.set("/apis/metrics.k8s.io", {
      versions: [{ version: "v1beta1" }],
      preferredVersion: { version: "v1beta1" },
    });
    server.overrides.push({
      match: ({ method }) => method === "PUT",
      answer: status(403, "Forbidden", '=HYPERLINK("http://evil.example")'),
    });
    const outs = await outputsOf(folder, dir, {
      server,
      manifest: hpa("web", { metrics: [cpu] }),
      reading: [["events", "-A", "-o", "csv"]],
    });
    await server.close();
    const out = outs.join("\n");
    const cells = out.split(/\n|,/).filter((cell) => /^"?[=+@-][A-Z]/.test(cell));
    return {
      held: out.includes("HYPERLINK") && cells.length === 0,
      saw: `${cells.length} cells begin a formula: ${cells.join(" ")}`,
    };
  });

/** Point 1.4. */
export const ATTACKS: readonly Attack[] = [
  { name: "escapes in the texts of a manifest", play: inManifests },
  { name: "escapes in the words of an API server", play: ofServer },
  { name: "a formula in a cell of CSV", play: inCells },
];

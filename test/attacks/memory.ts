import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { fillWith, kubernetes } from "../cluster/stand-in/kubernetes.ts";
import type { Attack, Seen } from "./attack.ts";
import { checkoutOf } from "./checkout.ts";
import { subjectOn } from "./subject.ts";

const HEAP_MIB = 128;
const WHOLE = Buffer.alloc(32 * 1024 * 1024 - 1_023, "{},");
/** 32 KB that unpack to 32 MiB. */
const BOMB = gzipSync(
  Buffer.concat([
    Buffer.from('{"kind":"List","metadata":{},"items":['),
    WHOLE,
    Buffer.from("{}]}"),
  ]),
);

const manifest = (name: string, metric: object): string =>
  JSON.stringify({
    ...{
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { namespace: "shop", name },
    },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [metric],
    },
  });
const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};
const QUEUE = {
  type: "External",
  external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "10" } },
};
const MANIFESTS = [manifest("web", CPU), manifest("worker", QUEUE)];

const syncOnce = async (
  folder: string,
  server: { readonly url: string; readonly ca: string },
): Promise<void> => {
  const subject = await subjectOn(await checkoutOf(folder), server, { manifests: MANIFESTS });
  const { evaluated } = await subject.next();
  process.send?.(`a sync of ${evaluated} autoscalers ended`, () => process.exit(0));
};

const attack = (what: string, path: RegExp): Attack => ({
  name: `32 KB of gzip that unpack to 32 MiB, ${what}`,
  play: async (folder): Promise<Seen> => {
    const server = await kubernetes();
    fillWith(server, [
      ["shop", "web"],
      ["shop", "worker"],
    ]);
    server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
    server.documents.set("/apis/metrics.k8s.io", {
      versions: [{ version: "v1beta1" }],
      preferredVersion: { version: "v1beta1" },
    });
    server.overrides.push({
      match: ({ url }) => path.test(url.pathname),
      answer: (_seen, response) =>
        void response
          .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
          .end(BOMB),
    });
    const execArgv = [`--max-old-space-size=${HEAP_MIB}`, "--max-semi-space-size=8"];
    const child = fork(fileURLToPath(import.meta.url), [folder, server.url], {
      execArgv,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.send(server.ca);
    const ended = once(child, "exit").then(([code, signal]) => ({
      held: false,
      saw: `with a heap of ${HEAP_MIB} MiB the process ended by ${signal ?? code}`,
    }));
    const seen = await Promise.race([
      once(child, "message").then(([saw]) => ({ held: true, saw: String(saw) })),
      ended,
    ]);
    await server.close();
    return seen;
  },
});

/** Point 1.3. */
export const ATTACKS: readonly Attack[] = [
  attack("from an API server, as its pods", /\/pods$/),
  attack("from a metrics adapter", /external\.metrics\.k8s\.io/),
  attack("from an API server, as its discovery", /^\/apis\/[^/]+$/),
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = "", url = ""] = process.argv.slice(2);
  process.once("message", (ca: string) => void syncOnce(folder, { url, ca }));
}

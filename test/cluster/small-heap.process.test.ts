import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fillWith, type Kubernetes, kubernetes } from "./stand-in/kubernetes.ts";
import type { Answer } from "./stand-in/server.ts";

const HEAP_MIB = 96;
const WHOLE_BYTES = 32 * 1024 * 1024 - 1_000;

interface Seen {
  readonly pods: {
    readonly kind: string;
    readonly failure?: { readonly reason: string; readonly message: string };
  };
  readonly queue: Seen["pods"];
  readonly rollout: Seen["pods"];
}

let server: Kubernetes;
beforeAll(async () => {
  server = await kubernetes();
});
afterAll(() => server.close());
beforeEach(() => {
  server.overrides.length = 0;
  fillWith(server, [
    ["shop", "web"],
    ["shop", "worker"],
  ]);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  server.documents.set("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth", {
    items: [{ metricName: "queue_depth", value: "7" }],
  });
  server.documents.set("/apis/example.com", { versions: [{ version: "v1" }] });
  server.documents.set("/apis/example.com/v1", {
    resources: [{ name: "rollouts", kind: "Rollout" }],
  });
  server.documents.set("/apis/example.com/v1/namespaces/shop/rollouts/roll/scale", {
    metadata: {},
    spec: { replicas: 2 },
    status: { replicas: 2, selector: "app=roll" },
  });
});

const filled = (begin: string, unit: string, end = ""): Buffer =>
  Buffer.concat([
    Buffer.from(begin),
    Buffer.alloc(WHOLE_BYTES - (WHOLE_BYTES % unit.length), unit),
    Buffer.from(end),
  ]);

/** What a few kilobytes of gzip unpack to. */
const BODIES: Readonly<Record<string, Buffer>> = {
  "empty objects": filled('{"kind":"List","metadata":{},"items":[', "{},", "{}]}"),
  "objects in the namespace": filled(
    '{"kind":"List","metadata":{},"items":[',
    '{"metadata":{"namespace":"shop"}},',
    "{}]}",
  ),
  "values of zero": filled(
    '{"kind":"List","metadata":{},"items":[',
    '{"value":"0"},',
    '{"value":"0"}]}',
  ),
  "objects in the metadata": filled('{"items":[],"metadata":{"a":[', "{},", "{}]}}"),
  "objects in an unknown field": filled(
    '{"versions":[],"resources":[],"items":[],"metadata":{},"more":[',
    "{},",
    "{}]}",
  ),
  "containers of one pod": filled(
    '{"kind":"List","metadata":{},"items":[{"metadata":{"namespace":"shop"},"spec":{"containers":[',
    "{},",
    "{}]}}]}",
  ),
  "versions and kinds": filled('{"versions":[', '{"version":"a"},', '{"version":"v1"}]}'),
  "lists in lists": filled('{"items":[{"a":', "["),
  "objects in objects": filled("", '{"metadata":'),
  "one text": filled('{"items":[{"metadata":{"namespace":"', "x", '"}}]}'),
  "different keys": Buffer.from(
    `{"items":[{"a":{${Array.from({ length: 2_000_000 }, (_, at) => `"k${at}":1`).join(",")}}}]}`,
  ),
  "one key": filled('{"items":[{"', "x", '":1}]}'),
};

/** Behind a limit of 2 MiB nothing is read of any of them. */
const SOME = Object.entries(BODIES).filter((_body, at) => at % 5 === 0);

const PASSED = [
  "objects in an unknown field",
  "containers of one pod",
  "one text",
  "different keys",
  "one key",
];
const NOT_READ =
  /^Cannot GET pods of cluster "eu-1": the server answered 200 without a JSON object that can be read: |^Cannot list pods: the answer has no list of items$|^Cannot call the cluster: /;

const PATHS = {
  pods: "/api/v1/namespaces/shop/pods",
  queue: "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth",
  rollout: "/apis/example.com",
} as const;

const packed = (body: Buffer): Answer => {
  const bytes = gzipSync(body, { level: 1 });
  return (_seen, response) =>
    void response
      .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
      .end(bytes);
};

const playing = (point: keyof typeof PATHS, body: Buffer): void => {
  server.overrides.push({
    match: ({ url }) => url.pathname === PATHS[point],
    answer: packed(body),
  });
};

/** What a process with a small heap observes. Rejects where the process ends before it says so. */
const observed = async (): Promise<Seen> => {
  const child = fork(join(import.meta.dirname, "stand-in/small-heap.ts"), [server.url], {
    execArgv: [`--max-old-space-size=${HEAP_MIB}`, "--max-semi-space-size=8"],
    silent: true,
  });
  const ended = once(child, "exit").then(([code, signal]) => {
    throw new Error(`the process ended with ${code ?? signal}`);
  });
  await Promise.race([once(child, "message"), ended]);
  child.send(server.ca);
  const [seen] = (await Promise.race([once(child, "message"), ended])) as [Seen];
  child.disconnect();
  await ended.catch(() => undefined);
  return seen;
};

describe("a process with a small heap", () => {
  it("observes the cluster", async () => {
    const { pods, queue, rollout } = await observed();
    expect([pods.kind, queue.kind, rollout.kind]).toEqual(["answered", "answered", "read"]);
  });

  it.each(SOME)(
    "goes on where discovery answers with 32 MiB of %s, and only the kinds of that group are not found",
    async (_what, body) => {
      playing("rollout", body);
      const { pods, queue, rollout } = await observed();
      expect([pods.kind, queue.kind]).toEqual(["answered", "answered"]);
      expect(rollout.failure).toMatchObject({
        reason: "AnswerTooLarge",
        message:
          'Cannot GET /apis/example.com of cluster "eu-1": answer is larger than 2097152 bytes',
      });
    },
  );

  it.each(SOME)(
    "goes on where a metrics adapter answers with 32 MiB of %s, and only that metric fails",
    async (_what, body) => {
      playing("queue", body);
      const { pods, queue, rollout } = await observed();
      expect([pods.kind, rollout.kind]).toEqual(["answered", "read"]);
      expect(queue.failure).toMatchObject({
        reason: "AnswerTooLarge",
        message: expect.stringContaining("Cannot GET queue_depth.external.metrics.k8s.io"),
      });
    },
  );

  it.each(Object.entries(BODIES))(
    "goes on where the pods are 32 MiB of %s, and only that answer fails",
    async (what, body) => {
      playing("pods", body);
      const { pods, queue, rollout } = await observed();
      expect([queue.kind, rollout.kind]).toEqual(["answered", "read"]);
      // What no rule reads is skipped, one object that is too large is passed over, and a name of
      // megabytes is none of Kubernetes.
      if (PASSED.includes(what))
        expect(["answered", "ObjectTooLarge", "MalformedAnswer"]).toContain(
          pods.failure?.reason ?? pods.kind,
        );
      else expect(pods.failure?.message).toMatch(NOT_READ);
    },
  );

  it("goes on where every LIST of a hostile server is as large as one may be", async () => {
    server.overrides.push({
      match: ({ url }) => !url.pathname.includes("deployments") && url.searchParams.has("limit"),
      answer: packed(BODIES["objects in the namespace"] ?? Buffer.alloc(0)),
    });
    expect((await observed()).pods.failure).toMatchObject({
      reason: "BudgetExhausted",
      message: expect.stringContaining("for which a third of the memory has room"),
    });
  });
});

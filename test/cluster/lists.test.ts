import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Observation } from "../../lib/rules/model/observation.ts";
import { readList } from "../../lib/stack/cluster/list.ts";
import { budgetOf, transportTo } from "./stand-in/connected.ts";
import { json, type StandIn, standIn } from "./stand-in/server.ts";
import { clientTo, QUEUE, WHOLE, watch } from "./stand-in/watched.ts";
import { partsOf } from "../answers.ts";

const DEPLOYMENT = {
  metadata: { namespace: "shop", name: "web", uid: "u", resourceVersion: "1" },
  spec: { replicas: 3, selector: { matchLabels: { app: "web" } } },
  status: { replicas: 3 },
};

let server: StandIn;
beforeAll(async () => {
  server = await standIn();
});
afterAll(() => server.close());

/** What an autoscaler observes where a path that ends like this has this answer. */
const observing = async (
  path: string,
  body: unknown,
  metrics?: Parameters<typeof watch>[2],
): Promise<Observation | undefined> => {
  server.answer = ({ url }, response, socket) => {
    const otherwise = url.pathname.endsWith("/deployments")
      ? { items: [DEPLOYMENT] }
      : { kind: "List", items: [] };
    json(200, url.pathname.endsWith(path) ? body : otherwise)({ url } as never, response, socket);
  };
  const client = clientTo(server);
  try {
    const { observations } = await client.observe([watch("shop", "web", metrics)], WHOLE);
    return observations.values().next().value?.observation;
  } finally {
    client.close();
  }
};

const NO_LISTS: readonly (readonly [string, unknown])[] = [
  ["an empty object", {}],
  ["a list without items", { kind: "PodList", apiVersion: "v1", metadata: {} }],
  ["items that are null in an object that is no list", { kind: "Status", items: null }],
  ["items that are null in an object without a kind", { items: null }],
  ["items that are an object", { kind: "PodList", items: {} }],
  ["an item that is null", { kind: "PodList", items: [null] }],
];

/** What none of Kubernetes has, and a shell, a path or a key would take for more than a name. */
const STRANGE: readonly (readonly [string, object])[] = [
  ["name", { name: "web$(touch X)" }],
  ["name", { name: "../../kube-system/secrets" }],
  ["name", { name: "-web" }],
  ["name", { name: "a".repeat(254) }],
  ["namespace", { namespace: "shop;rm -rf" }],
  ["namespace", { namespace: "a.b" }],
  ["namespace", { namespace: "a".repeat(64) }],
  ["uid", { uid: "a#b" }],
  ["label", { labels: { "team`id`": "x" } }],
  ["label", { labels: { team: "$(id)" } }],
  ["owner", { ownerReferences: [{ kind: "ScaledObject", name: "x$(id)" }] }],
];

describe("an object of a LIST whose names Kubernetes does not allow", () => {
  it.each(STRANGE)("fails the read by its %s: %j", async (what, strange) => {
    for (const path of [
      "/pods",
      "/horizontalpodautoscalers",
      "/deployments",
      "/metrics.k8s.io/v1beta1/pods",
    ]) {
      const seen: unknown[] = [];
      const transport = transportTo(server);
      const item = { metadata: { name: "web-1", namespace: "shop", ...strange } };
      server.answer = json(200, { kind: "List", items: [DEPLOYMENT, item] });
      for (const metadataOnly of [false, true]) {
        const listed = await readList(
          transport,
          {
            path,
            resource: "things",
            read: (raw) => seen.push(raw),
            ...(metadataOnly && { firstLimit: 0 }),
          },
          budgetOf(),
        );
        expect(listed, path).toMatchObject({
          kind: "failed",
          failure: {
            code: 0,
            reason: "MalformedAnswer",
            message: expect.stringMatching(
              new RegExp(
                `^Cannot list things: the answer has an object with the ${what} ".+", which Kubernetes does not allow$`,
              ),
            ),
          },
        });
      }
      // The object itself is never given to what would keep it.
      expect(JSON.stringify(seen)).not.toContain(JSON.stringify(strange).slice(1, -1));
      transport.close();
    }
  });

  it("holds what is decided by that LIST", async () => {
    const pod = { metadata: { name: "web$(touch X)", namespace: "shop" } };
    expect(
      partsOf((await observing("/pods", { kind: "PodList", items: [pod] }))?.answers).resource,
    ).toMatchObject({ kind: "failed", failure: { reason: "MalformedAnswer" } });
  });

  it("comes in at one door: only read-page.ts takes the items of an answer", () => {
    const folder = join(import.meta.dirname, "../../lib/stack");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts"),
    );
    expect(files.length).toBeGreaterThan(100);
    const takers = files.filter((file) =>
      /\bonItem\b|\["items"\]|\.items\b.*Json|\{ items\b[^}]*\}: Json/.test(
        readFileSync(join(folder, file), "utf8"),
      ),
    );
    // A look at a cluster (check) prints what it found, and stores and sends nothing of it. Values of
    // metrics (ask.ts) are found by the names of pods that are known already.
    expect(
      takers.filter((file) => !/^cluster\/(?:wire|transport|check)\//.test(file)).toSorted(),
    ).toEqual(["cluster/observe/ask.ts", "cluster/read-page.ts"]);
  });
});

describe("the answer to a LIST", () => {
  it.each(NO_LISTS)("fails the read where it is %s", async (_what, body) => {
    const failure = {
      kind: "failed",
      failure: {
        reason: "MalformedAnswer",
        message: expect.stringMatching(
          /the answer has no list of items|an object as the item of the list is expected/,
        ),
      },
    };
    expect(partsOf((await observing("/pods", body))?.answers).resource).toMatchObject(failure);
    expect((await observing("/deployments", body))?.scale).toMatchObject(failure);
  });

  it("is an empty list where a Go server writes null for its items", async () => {
    expect(
      (await observing("/deployments", { kind: "DeploymentList", items: null }))?.scale,
    ).toMatchObject({
      kind: "failed",
      failure: { code: 404 },
    });
  });
});

describe("the answer of a metrics API", () => {
  it("fails the metric where it has no items, and is empty where they are null", async () => {
    const external = async (body: unknown): Promise<unknown> =>
      partsOf((await observing("/queue_depth", body, { metrics: [QUEUE] }))?.answers)
        .external.values()
        .next().value;
    expect(await external({ kind: "ExternalMetricValueList" })).toMatchObject({
      kind: "failed",
      failure: { reason: "InvalidAnswer" },
    });
    expect(await external({ kind: "ExternalMetricValueList", items: null })).toMatchObject({
      kind: "answered",
      items: [],
    });
  });
});

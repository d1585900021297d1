import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Observation } from "../../lib/rules/model/observation.ts";
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
    const list = url.pathname.endsWith("/deployments")
      ? { items: [DEPLOYMENT] }
      : { kind: "List", items: [] };
    json(200, url.pathname.endsWith(path) ? body : list)({ url } as never, response, socket);
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

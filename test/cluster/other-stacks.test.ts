import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterClient, Observed } from "../../lib/stack/cluster/cluster-client.ts";
import { fieldManagerOf } from "../../lib/stack/cluster/scale.ts";
import { OTHER_STACK_MS } from "../../lib/stack/cluster/request-limits.ts";
import { json, type StandIn, standIn } from "./stand-in/server.ts";
import { clientTo, WHOLE, watch } from "./stand-in/watched.ts";

const OWN = "tidemark-uid-of-eu-1";
const OTHER = "tidemark-0b0cf6ee-57de-4a07-8d6e-000000000001";

const entry = (manager: string, subresource?: string) => ({
  manager,
  operation: "Update",
  apiVersion: "apps/v1",
  ...(subresource && { subresource }),
});

let server: StandIn;
let nowMs = 0;
const workload = { replicas: 3, uid: "u", writers: [entry(OTHER, "scale")] };
beforeAll(async () => {
  server = await standIn();
  server.answer = ({ url }, response, socket) => {
    const { uid, replicas, writers } = workload;
    const metadata = {
      namespace: "shop",
      name: "web",
      uid,
      resourceVersion: "1",
      managedFields: [entry("kubectl"), ...writers, entry("kubelet", "status")],
    };
    const deployment = {
      metadata,
      spec: { replicas, selector: { matchLabels: { app: "web" } } },
      status: { replicas },
    };
    json(200, { kind: "List", items: url.pathname.endsWith("/deployments") ? [deployment] : [] })(
      { url } as never,
      response,
      socket,
    );
  };
});
afterAll(() => server.close());

/** A client, of which nothing is known yet, and a workload that another stack has scaled. */
const fresh = (): ClusterClient => {
  nowMs = 1_000_000;
  Object.assign(workload, { replicas: 3, uid: "u", writers: [entry(OTHER, "scale")] });
  return clientTo(server, { clock: () => nowMs });
};

const observed = async (client: ClusterClient): Promise<Observed["otherStack"]> => {
  const { observations } = await client.observe([watch("shop", "web")], WHOLE);
  return observations.values().next().value?.otherStack;
};

const HELD = { manager: OTHER, own: OWN };

describe("a workload that another stack was the last to scale", () => {
  it("is held for five minutes from the first sync that saw it, and again when its count changes", async () => {
    const client = fresh();
    expect(await observed(client)).toEqual(HELD);
    nowMs += OTHER_STACK_MS - 1;
    expect(await observed(client)).toEqual(HELD);
    nowMs += 1;
    expect(await observed(client)).toBeUndefined();
    workload.replicas = 4;
    expect(await observed(client)).toEqual(HELD);
    client.close();
  });

  it("is held by a client that has seen nothing yet, and after its clock was set back", async () => {
    const client = fresh();
    await observed(client);
    nowMs += OTHER_STACK_MS;
    expect(await observed(client)).toBeUndefined();
    nowMs -= 2 * OTHER_STACK_MS;
    expect(await observed(client)).toEqual(HELD);
    client.close();
    expect(await observed(clientTo(server, { clock: () => nowMs }))).toEqual(HELD);
  });

  it.each([
    ["we have scaled it since", [entry(OWN, "scale")]],
    ["another program has scaled it since", []],
    ["a release that does not tell stacks apart has scaled it", [entry("tidemark", "scale")]],
    ["another controller has scaled it", [entry("horizontal-pod-autoscaler", "scale")]],
    ["another stack wrote something else than its scale", [entry(OTHER)]],
  ])("is held no more where %s", async (_what, writers) => {
    const client = fresh();
    Object.assign(workload, { writers });
    expect(await observed(client)).toBeUndefined();
    client.close();
  });
});

describe("the field manager of a cluster", () => {
  it("has its uid, which an edit keeps, and is the old name for a cluster without one", () => {
    expect(fieldManagerOf({ uid: "0b0cf6ee-57de-4a07-8d6e-000000000001" })).toBe(OTHER);
    expect(fieldManagerOf({})).toBe("tidemark");
  });
});

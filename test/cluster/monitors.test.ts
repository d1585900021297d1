import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import type { MonitorReading } from "../../lib/rules/model/observation.ts";
import { type Kubernetes, kubernetes, workload } from "./stand-in/kubernetes.ts";
import { status } from "./stand-in/server.ts";
import { clientTo, WHOLE, watch, watermarkWithMonitor } from "./stand-in/watched.ts";

const MONITORS = "/apis/datadoghq.com/v1alpha1/datadogmonitors";

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const monitorSeen = async (): Promise<MonitorReading | undefined> => {
  const gated = watermarkWithMonitor("shop", "gated");
  return (await client.observe([gated], WHOLE)).observations.get(gated.uid)?.observation.monitor;
};
const monitor = (name: string, state?: string) => ({
  metadata: { name, namespace: "shop" },
  status: state === undefined ? {} : { monitorState: state },
});

describe("observe() of a monitor that may stop an autoscaler", () => {
  it.each([
    [
      "its state",
      [monitor("other", "Alert"), monitor("gated", "OK")],
      { kind: "found", state: "OK" },
    ],
    ["a monitor without a state yet", [monitor("gated")], { kind: "found" }],
    ["that there is none of its name", [monitor("other", "OK")], { kind: "missing" }],
  ])("finds %s", async (_, monitors, expected) => {
    server.collections.set(MONITORS, monitors);
    expect(await monitorSeen()).toEqual(expected);
  });

  it("takes a cluster without monitors for one that has none of the name", async () =>
    expect(await monitorSeen()).toEqual({ kind: "missing" }));

  it("keeps a refusal apart from an absence", async () => {
    server.overrides.push({
      match: ({ url }) => url.pathname.includes("datadogmonitors"),
      answer: status(403, "Forbidden", "not for you"),
    });
    expect(await monitorSeen()).toMatchObject({ kind: "failed", failure: { code: 403 } });
  });

  it("asks nothing for autoscalers without the annotation", async () => {
    await client.observe([watch("shop", "web")], WHOLE);
    expect(server.paths().filter((path) => path.includes("datadogmonitors"))).toEqual([]);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type KubectlResult, kubectl, kubectlPath } from "./kubectl.ts";
import { type RunningCluster, runCluster } from "./running-cluster.ts";

const PROGRAM = kubectlPath() ?? "";
const SPEC = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 9,
  metrics: [{ name: "cpu", resource: { name: "cpu" }, target: 60 }],
};
const own = (spec: object = SPEC): string =>
  JSON.stringify({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec,
  });

describe.skipIf(PROGRAM === "")("kubectl on the simulated cluster", () => {
  let cluster: RunningCluster;
  beforeAll(async () => {
    cluster = await runCluster();
  });
  afterAll(() => cluster.remove());

  const run = (
    args: string,
    more: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<KubectlResult> =>
    kubectl(PROGRAM, args.split(" "), {
      kubeconfig: cluster.kubeconfigPath,
      home: cluster.dataDir,
      ...more,
    });

  it("applies, shows, explains, edits and deletes an autoscaler without --validate=false", {
    timeout: 60_000,
  }, async () => {
    expect(await run("apply -f -", { input: own() })).toEqual({
      code: 0,
      out: "podautoscaler.tidemark.dev/web created\n",
      err: "",
    });
    expect(await run("apply -f -", { input: own() })).toMatchObject({
      code: 0,
      out: "podautoscaler.tidemark.dev/web unchanged\n",
    });
    const dry = await run("apply --dry-run=server -f -", {
      input: own({ ...SPEC, maxReplicas: 5 }),
    });
    expect(dry).toEqual({
      code: 0,
      out: "podautoscaler.tidemark.dev/web configured (server dry run)\n",
      err: "",
    });
    const changed = await run("diff -f -", { input: own({ ...SPEC, maxReplicas: 5 }) });
    expect([changed.code, changed.out]).toEqual([1, expect.stringContaining("+  maxReplicas: 5")]);
    expect((await run("get pa web -n shop -o jsonpath={.spec.maxReplicas}")).out).toBe("9");
    expect((await run("get pa -A")).out).toMatch(
      /NAMESPACE +NAME +REFERENCE[^\n]*\nshop +web +web/,
    );
    expect((await run("explain podautoscaler.spec.maxReplicas")).out).toContain(
      "FIELD: maxReplicas <integer>",
    );
    expect((await run("describe pa web -n shop")).out).toContain("Max Replicas:  9");
    const editor = join(cluster.dataDir, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/maxReplicas: 9/maxReplicas: 7/" "$1"\n', {
      mode: 0o755,
    });
    expect(await run("edit pa web -n shop", { env: { EDITOR: editor } })).toMatchObject({
      out: "podautoscaler.tidemark.dev/web edited\n",
      err: "",
    });
    expect((await run("get pa web -n shop -o jsonpath={.spec.maxReplicas}")).out).toBe("7");
    expect(await run("delete pa web -n shop --dry-run=server")).toMatchObject({
      code: 0,
      out: expect.stringContaining("(server dry run)"),
    });
    expect((await run("get pa -n shop -o name")).out).toBe("podautoscaler.tidemark.dev/web\n");
    expect(await run("delete pa web -n shop")).toMatchObject({
      code: 0,
      out: expect.stringContaining('"web" deleted'),
      err: "",
    });
    expect((await run("get pa -n shop -o name")).out).toBe("");
  });

  it("names an unknown field that the server refuses", async () => {
    const refused = await run("apply -f -", { input: own({ ...SPEC, maxReplica: 5 }) });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("spec.maxReplica")]);
  });

  it("waits for a condition that a status brings, and follows a list", {
    timeout: 60_000,
  }, async () => {
    await run("apply -f -", { input: own() });
    const waited = run("wait --for=condition=Ready pa/web -n shop --timeout=20s");
    const followed = run("get pa -n shop -w --request-timeout=4s");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const status = {
      status: {
        currentReplicas: 4,
        conditions: [{ type: "Ready", status: "True", reason: "Within", message: "Within" }],
      },
    };
    const path = "/apis/tidemark.dev/v1/namespaces/shop/podautoscalers/web";
    await cluster.fetch(`${path}/status`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: status,
    });
    expect(await waited).toEqual({
      code: 0,
      out: "podautoscaler.tidemark.dev/web condition met\n",
      err: "",
    });
    expect((await followed).out).toMatch(/^NAME[^\n]*\nweb[^\n]*\nweb[^\n]* 4 +Within[^\n]*\n$/);
  });
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand } from "../../lib/embedded/run/options.ts";
import { run } from "../../lib/embedded/run/run.ts";
import { inside } from "../cli/inside.ts";
import { httpsRequest } from "./cluster/running-cluster.ts";
import { refusal, start } from "./folder/starting.ts";

const PAGE = readFileSync(
  fileURLToPath(new URL("../../docs/specs-in-cluster.md", import.meta.url)),
  "utf8",
);
const [, STARTED = ""] = /^npm start -- (.*--specs cluster.*) --data in-cluster$/m.exec(PAGE) ?? [];
const KUBECTL = [
  ...PAGE.matchAll(/^kubectl --kubeconfig in-cluster\/cluster\/kubeconfig (.*)$/gm),
].map(([, words]) => words);
const OBJECT = "/apis/tidemark.dev/v1/namespaces/documents/podautoscalers/native-steps";

interface Shown {
  readonly metadata: { readonly generation: number };
  readonly status: {
    readonly observedGeneration: number;
    readonly currentReplicas: number;
    readonly conditions: readonly { readonly type: string }[];
  };
}

describe("npm start -- --specs cluster, with the commands of docs/specs-in-cluster.md", () => {
  let folder = "";
  let data = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-in-cluster-"));
    data = join(folder, "data");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const tidemark = async (...args: readonly string[]): Promise<string> => {
    const { out, err } = await inside([...args, "--data", data]);
    expect(err).toBe("");
    return out;
  };

  /** What kubectl sends, with the address and the credentials of the kubeconfig. */
  const call = async (
    path: string,
    options: Parameters<typeof httpsRequest>[2] = {},
  ): Promise<unknown> => {
    const kubeconfig = readFileSync(join(data, "cluster", "kubeconfig"), "utf8");
    const [, server = ""] = /server: (\S+)/.exec(kubeconfig) ?? [];
    const { json } = await httpsRequest(
      `${server}${path}`,
      JSON.parse(readFileSync(join(data, "cluster", "cluster-credentials.json"), "utf8")),
      options,
    );
    return json;
  };

  it("scales the objects of the simulated cluster, and writes status and Events; an edit by kubectl is followed, and outlives the run", {
    timeout: 120_000,
  }, async () => {
    // test/local/cluster/kubectl.process.test.ts runs such commands.
    expect(KUBECTL).toEqual([
      "describe podautoscalers -A",
      "apply -f examples/native-steps.yaml",
      "wait --for=condition=Ready -n documents podautoscaler/native-steps",
    ]);
    const printed = await start(
      ...STARTED.split(" "),
      "--data",
      data,
      "--for",
      "10m",
      "--speed",
      "100000",
    );
    expect(printed).toContain("documents/native-steps 2 → 3 applied");
    expect(printed).toContain("documents/watermark 2 → 3 applied");
    const stop = new AbortController();
    const terminal = { stream: process.stdout, write: () => {}, live: false };
    const again = startCommand((options) => run(options, terminal, stop)).parseAsync(
      ["--data", data, "--speed", "600"],
      { from: "user" },
    );
    try {
      await expect
        .poll(() => call(OBJECT).catch(() => undefined), { timeout: 30_000 })
        .toMatchObject({ status: { observedGeneration: 1 } });
      const { status } = (await call(OBJECT)) as Shown;
      expect(status.conditions.map(({ type }) => type)).toContain("Ready");
      expect(status.currentReplicas).toBeGreaterThan(2);
      const patch = {
        method: "PATCH",
        headers: { "content-type": "application/merge-patch+json" },
        body: { spec: { maxReplicas: 3 } },
      };
      expect(await call(`${OBJECT}?fieldManager=kubectl-client-side-apply`, patch)).toMatchObject({
        metadata: { generation: 2 },
      });
      await expect
        .poll(() => call(OBJECT), { timeout: 30_000 })
        .toMatchObject({ status: { observedGeneration: 2, currentReplicas: 3 } });
      const events = (await call(
        "/api/v1/namespaces/documents/events?fieldSelector=involvedObject.name=native-steps",
      )) as {
        readonly items: readonly object[];
      };
      expect(events.items).toContainEqual(expect.objectContaining({ reason: "SuccessfulRescale" }));
    } finally {
      stop.abort();
      await again;
    }
    expect(await tidemark("changes", "native-steps", "-n", "documents")).toContain(
      'field manager "kubectl-client-side-apply"',
    );
    expect(
      await tidemark(
        "get",
        "native-steps",
        "-n",
        "documents",
        "-o",
        "jsonpath={.spec.maxReplicas}",
      ),
    ).toBe("3");
  });

  it("is refused with a cluster of your own, and says which command sets it there", async () => {
    expect(await refusal("--specs", "cluster", "--kubeconfig", "config")).toContain(
      "tidemark cluster add CLUSTER --replace --specs cluster",
    );
  });
});

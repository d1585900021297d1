import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inside } from "./inside.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-discover-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const file = (...objects: readonly object[]): string => {
  const path = join(folder, "objects.json");
  writeFileSync(path, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  return path;
};
const scaledObject = (metadata: object, trigger: object = {}) => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { name: "web" },
    minReplicaCount: 1,
    triggers: [
      { type: "prometheus", metadata: { query: "up", threshold: "5", ...metadata }, ...trigger },
    ],
  },
});
const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } };

describe("source discover", () => {
  it("prints commands that source put takes, word for word as a shell reads them", async () => {
    const evil = `$(touch ${join(folder, "ran")})'; touch ${join(folder, "ran")} #\n x`;
    const path = file(
      DEPLOYMENT,
      scaledObject({ serverAddress: "http://prometheus.monitoring.svc:9090/a" }),
      scaledObject(
        { serverAddress: "https://mimir.example.com", customHeaders: `x-scope-orgid=${evil}` },
        { authenticationRef: { name: "prom" } },
      ),
    );
    const { out, code } = await inside(["source", "discover", "-f", path, "--for-cluster", "eu-*"]);
    expect(code).toBe(0);
    const script = `tidemark() { printf '%s\\0' "$@"; printf 'END\\0'; }\n${out}`;
    const words = execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\0");
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect(words.filter((word) => word === "END")).toHaveLength(2);
    const service = words.indexOf("--service");
    expect(words[service + 1]).toBe("monitoring/prometheus:9090/a");
    expect(words[words.indexOf("--header") + 1]).toContain("$(touch");
    expect(words[words.indexOf("--for-cluster") + 1]).toBe("eu-*");
    expect(words).toContain("--secret");
  });

  it.each([
    ["bearer", /--url https:\/\/HOST\/a \\\n {2}--private \\\n {2}--auth bearer/],
    ["basic", /--url https:\/\/HOST\/a \\\n {2}--private \\\n {2}--auth basic/],
    ["apiKey", /--service monitoring\/prometheus:9090\/a \\\n {2}--auth header/],
  ])("asks a service with %s by what the API server lets through", async (authModes, words) => {
    const path = file(
      scaledObject(
        { serverAddress: "http://prometheus.monitoring.svc:9090/a", authModes },
        { authenticationRef: { name: "prom" } },
      ),
    );
    const { out } = await inside(["source", "discover", "-f", path]);
    expect(out).toMatch(words);
    expect(out.includes("in place of HOST")).toBe(authModes !== "apiKey");
  });

  it("says which triggers ask an exporter, and which are not carried over", async () => {
    const path = file(
      scaledObject({}, { type: "kafka", metadata: { consumerGroup: "g" } }),
      scaledObject({}, { type: "azure-queue", metadata: { queueName: "q" } }),
    );
    const { err } = await inside(["source", "discover", "-f", path]);
    expect(err).toContain(
      "note: 1 trigger of kafka: asked of a Prometheus with the series of kafka-exporter; give --source kafka=NAME, too",
    );
    expect(err).toContain("note: 1 trigger of azure-queue: not carried over; scrape ");
  });

  it("converts beside a source of the same files, and refuses one that asks another server", async () => {
    const source = (url: string) => ({
      apiVersion: "tidemark.dev/v1",
      kind: "MetricSource",
      metadata: { name: "main" },
      spec: { kind: "prometheus", url, clusters: ["*"], namespaces: ["shop"] },
    });
    const asking = scaledObject({ serverAddress: "https://one.example.com" });
    const convert = (url: string) =>
      inside(["convert", "-f", file(source(url), asking), "--source", "prometheus=main"]);
    const same = await convert("https://one.example.com");
    expect([same.code, same.err]).toEqual([0, expect.not.stringContaining("MetricSource")]);
    const other = await convert("https://other.example.com");
    expect(other.code).not.toBe(0);
    expect(other.err).toContain(
      'source "main": its address is https://other.example.com, and the trigger asks https://one.example.com',
    );
  });

  it("has nothing to print where no ScaledObject asks a source", async () => {
    const { out, err, code } = await inside(["source", "discover", "-f", file(DEPLOYMENT)]);
    expect([out, code]).toEqual(["", 0]);
    expect(err).toContain("0 ScaledObjects ask 0 sources");
  });

  it("needs files or a kubeconfig, and not both", async () => {
    for (const args of [[], ["-f", file(DEPLOYMENT), "--kubeconfig", "x"]]) {
      const { err, code } = await inside(["source", "discover", ...args]);
      expect([code, err]).toEqual([
        expect.any(Number),
        expect.stringContaining("either -f FILE or --kubeconfig"),
      ]);
      expect(code).not.toBe(0);
    }
  });
});

describe("convert", () => {
  it("passes over objects that are no autoscalers, and says so", async () => {
    const path = file(
      DEPLOYMENT,
      { apiVersion: "keda.sh/v1alpha1", kind: "TriggerAuthentication", metadata: { name: "a" } },
      scaledObject({ serverAddress: "http://a" }),
    );
    const { out, err, code } = await inside([
      "convert",
      "-f",
      path,
      "--source",
      "auto",
      "-o",
      "json",
    ]);
    expect([code, JSON.parse(out).kind]).toEqual([0, "PodAutoscaler"]);
    expect(err).toContain("note: 1 of kind Deployment passed over: no autoscaler");
    expect(err).toContain("note: 1 of kind TriggerAuthentication passed over: no autoscaler");
  });
});

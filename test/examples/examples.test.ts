import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deploymentsOf } from "../../lib/embedded/run/manifest-files.ts";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";

const FOLDER = join(import.meta.dirname, "../../examples");
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
const textOf = (file: string): string => readFileSync(join(FOLDER, file), "utf8");

describe("examples/", () => {
  it("has manifests and traces", () => expect(files.length).toBeGreaterThanOrEqual(10));

  it.each(files)("are admitted without a warning: %s", (file) => {
    for (const { document } of readManifests(textOf(file), file))
      expect(admit(document)).toMatchObject({ ok: true, warnings: [] });
  });

  it("are read for the simulated cluster as strictly, and no further, than they are for apply", () => {
    const deployments = (text: string) => deploymentsOf([{ file: "x.yaml", text }]);
    expect(() => deployments("{} ".repeat(600_000))).toThrow(
      'Cannot read "x.yaml", line 1, column 4: ',
    );
    expect(() => deployments(textOf("noisy.yaml").replace("maxReplicas", "maxReplica"))).toThrow(
      "unknown field",
    );
  });

  it("name the recorded workload that the simulated cluster plays", () =>
    expect(deploymentsOf([{ file: "noisy.yaml", text: textOf("noisy.yaml") }])).toEqual([
      {
        namespace: "documents",
        name: "noisy-hpa",
        targetCpuPercent: 50,
        trace: "nab-ec2-cpu-noisy-5m",
        replicas: 13,
      },
      {
        namespace: "documents",
        name: "noisy-watermark",
        trace: "nab-ec2-cpu-noisy-5m",
        replicas: 13,
      },
      { namespace: "documents", name: "noisy-native", trace: "nab-ec2-cpu-noisy-5m", replicas: 13 },
    ]));

  it.each(["many", "-1", "1.5", "10001", ""])("refuse to begin with %j pods", (replicas) => {
    const text = textOf("noisy.yaml").replaceAll('"13"', JSON.stringify(replicas));
    expect(() => deploymentsOf([{ file: "noisy.yaml", text }])).toThrow(
      `Cannot begin with "${replicas}" pods for "noisy.yaml, document 1": the annotation tidemark.dev/simulated-replicas must be a whole number, at most 10000`,
    );
  });

  it("refuse a workload that was never recorded, by the names of those that were", () => {
    const text = textOf("noisy.yaml").replaceAll("nab-ec2-cpu-noisy-5m", "quiet");
    const refused = () => deploymentsOf([{ file: "noisy.yaml", text }]);
    expect(refused).toThrow(TidemarkError);
    expect(refused).toThrow(
      /Cannot play "quiet" for "noisy.yaml, document 1": the annotation tidemark.dev\/simulated-trace must be one of azurefn-diurnal-1m, /,
    );
  });
});

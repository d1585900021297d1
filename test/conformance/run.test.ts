import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadManifest } from "../policy/loop.ts";
import { report } from "./report.ts";

const RUNNER = join(import.meta.dirname, "run.ts");
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-vectors-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const quantity = (id: string, text: string, milli: string) => ({
  id,
  text,
  expect: { milli, value: "1", canonical: text, float: Number(text) },
});
const document = (kind: string, ...cases: readonly object[]) => ({
  format: "tidemark-conformance/1",
  dialect: "hpa",
  kind,
  cases,
});
const write = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
/** The command as a process. */
const command = (...paths: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUNNER, ...paths], {
    encoding: "utf8",
  });
  return { status, stderr, last: stdout.trimEnd().split("\n").at(-1) };
};
/** The same in this process. */
const run = (...paths: readonly string[]) => {
  const lines: string[] = [];
  const status = report(paths, (text) => lines.push(text)) ? 0 : 1;
  return { status, stdout: lines.map((text) => `${text}\n`).join(""), last: lines.at(-1) };
};

const perPod = (averageValue: string) => ({
  type: "External",
  external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue } },
});
const YAML = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 100
  metrics:
    - type: External
      external: { metric: { name: load }, target: { type: AverageValue, averageValue: 10 } }
`;

describe("npm run prove -- conformance", () => {
  it("counts each case once and ends well when all agree", () => {
    const path = write(
      "good.json",
      document("quantity", quantity("one", "1", "1000"), {
        id: "none",
        text: "x",
        expect: { error: true },
      }),
    );
    for (const ended of [command(path), run(path)])
      expect(ended).toMatchObject({ status: 0, last: "2 passed, 0 failed" });
  });

  it("shows the fields that differ, and ends with 1", () => {
    const path = write(
      "wrong.json",
      document("quantity", quantity("off", "1", "1001"), quantity("one", "1", "1000")),
    );
    const { status, stdout, last } = run(path);
    expect({ status, last }).toEqual({ status: 1, last: "1 passed, 1 failed" });
    expect(command(path).status).toBe(1);
    expect(stdout).toContain('  milli\n    expected "1001"\n    actual   "1000"');
    expect(stdout).toContain("wrong.json off");
  });

  it("shows ten cases in full, and of the others name and first field", () => {
    const path = write(
      "many.json",
      document(
        "quantity",
        ...Array.from({ length: 12 }, (_, at) => quantity(`off-${at}`, "1", "1001")),
      ),
    );
    const { stdout, last } = run(path);
    expect(last).toBe("0 passed, 12 failed");
    expect(stdout).toMatch(
      /and 2 more cases:\n\S*many.json off-10: milli\n\S*many.json off-11: milli\n/,
    );
  });

  it("fails every case of a kind or dialect that it does not know", () => {
    const kind = write("kind.json", document("guesses", { id: "a" }, { id: "b" }));
    const dialect = write("dialect.json", {
      ...document("quantity", quantity("one", "1", "1000")),
      dialect: "absent",
    });
    expect(run(kind, dialect)).toMatchObject({ status: 1, last: "0 passed, 3 failed" });
  });

  it("takes an exception of one case for its failure, and runs the others", () => {
    const path = write(
      "broken.json",
      document("normalize", { id: "odd", op: "guess", expect: {} }),
    );
    const { status, stdout, last } = run(path);
    expect({ status, last }).toEqual({ status: 1, last: "0 passed, 1 failed" });
    expect(stdout).toContain("unknown op guess");
  });

  const counted = (...cases: readonly object[]) => ({
    format: "tidemark-conformance/1",
    dialect: "any",
    kind: "counts",
    cases,
  });
  const steps = [
    { at: 0, external: { load: "120" }, expect: 12 },
    { at: 7.5, external: { load: null }, expect: 12 },
    { at: 30, set: 7, external: { load: 90 }, expect: 9 },
  ];

  it("follows the counts of an autoscaler of any form, from an object or from YAML, and says which step differs", () => {
    const manifest = loadManifest({ maxReplicas: 100, metrics: [perPod("10")] });
    const path = write(
      "counts.json",
      counted(
        { name: "as JSON", manifest, start: { replicas: 10 }, steps },
        { name: "as YAML", manifest: YAML, steps },
      ),
    );
    const { status, stdout, last } = run(path);
    expect({ status, last }).toEqual({ status: 1, last: "0 passed, 2 failed" });
    // Nine would be enough, but the twelve of 30 seconds ago still count.
    expect(stdout).toContain(
      'counts.json as JSON\n  steps[2] at 30 s\n    expected 9\n    actual   "12, because',
    );
    expect(stdout).toContain(
      'counts.json as YAML\n  steps[0] at 0 s\n    expected 12\n    actual   "4, because MetricAboveTarget: load 120 of 10 asks for 12; the rate limit allowed 4',
    );
  });

  it("tells of a case of counts that cannot be read what is wrong with it", () => {
    const manifest = loadManifest({ maxReplicas: 100, metrics: [perPod("10")] });
    const path = write(
      "odd.json",
      counted(
        { name: "no steps", manifest },
        { name: "setting", manifest, settings: { tolerence: 0 }, steps },
        { name: "refused", manifest: loadManifest({ maxReplicas: 0 }), steps },
      ),
    );
    const { stdout, last } = run(path);
    expect(last).toBe("0 passed, 3 failed");
    expect(stdout).toContain("→ at steps");
    expect(stdout).toContain(
      'Unknown setting \\"tolerence\\": known are tolerance, downscaleStabilizationMs',
    );
    expect(stdout).toContain("spec.maxReplicas");
  });

  it("passes other files over by name, and ends with 1 when nothing ran", () => {
    const paths = [
      write("notes.md", "# notes"),
      write("other.json", { format: "x/1", cases: [] }),
      write("text.json", "{"),
      write("list.json", []),
    ];
    const { status, stdout, last } = run(...paths);
    expect({ status, last }).toEqual({ status: 1, last: "0 passed, 0 failed" });
    expect(
      stdout
        .match(/passed over .*/g)
        ?.map((line) => line.replace(/^.*?([a-z]+\.(json|md): )/, "$1")),
    ).toEqual([
      "notes.md: not a JSON file",
      'other.json: format "x/1"',
      "text.json: not JSON",
      "list.json: no cases",
    ]);
  });

  it("asks for paths when it is given none", () => {
    expect(command()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("give files or folders of vectors"),
    });
  });
});

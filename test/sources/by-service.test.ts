import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { registeredQuestions } from "../../lib/rules/policy/dialects.ts";
import { answererOf } from "../../lib/rules/sources/sources.ts";
import { type Folder, shopInMemory } from "../cli/folder.ts";
import { inside } from "../cli/inside.ts";
import { NOON } from "../noon.ts";
import { specOf } from "../policy/spec-of.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

const page = readFileSync(new URL("../../docs/sources-by-service.md", import.meta.url), "utf8");
const sections = page.split("\n## ").slice(1);
const block = (section: string, of: string): string | undefined =>
  new RegExp(`\`\`\`${of}\\n(.*?)\`\`\``, "s").exec(section)?.[1];

const specWith = (metric: string) =>
  specOf({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 20,
      ...(metric.includes("activation:") && { idle: {} }),
      metrics: parse(metric),
    },
  });

describe("a metric of docs/sources-by-service.md", () => {
  it.each(sections.map((section) => [section.split("\n")[0] ?? "", section] as const))(
    "is admitted, and reads the value of the answer below it: %s",
    (_name, section) => {
      const spec = specWith(block(section, "yaml") ?? "");
      const [query] = registeredQuestions(spec, { kept: undefined, nowMs: NOON });
      const answer = block(section, "json");
      if (query === undefined || answer === undefined) {
        // An external metric asks no registered source.
        expect([query, answer, section.includes("datadogmetric@")]).toEqual([
          undefined,
          undefined,
          true,
        ]);
        return;
      }
      const { asking } = answererOf(query);
      if (asking.way !== "registered" || asking.batch) throw new Error("it is asked by itself");
      const read = asking.read(
        { status: 200, bytes: answer.length, body: JSON.parse(answer) },
        query,
      );
      const milli = BigInt(
        Math.round(Number(/The value is ([\d.]+?)\.\n/.exec(section)?.[1]) * 1000),
      );
      expect(read).toMatchObject({ kind: "answered", items: [{ milli }] });
    },
  );

  it.each(
    sections.flatMap((section) => {
      const command = block(section, "sh");
      return command === undefined ? [] : [[section.split("\n")[0] ?? "", command] as const];
    }),
  )("is of a source that source put takes: %s", async (_name, command) => {
    const words = [...command.trim().matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) =>
      String(quoted ?? plain),
    );
    expect(words.slice(0, 2)).toEqual(["npx", "tidemark"]);
    const { code, out } = await inside([...words.slice(2), "--data", folder.data]);
    expect([code, out]).toEqual([0, `Source ${words[4]} registered\n`]);
  });

  it("has six sections", () => {
    expect(sections).toHaveLength(6);
  });
});

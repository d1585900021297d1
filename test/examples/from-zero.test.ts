import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { alertPayload, wakesOfAlerts } from "../../lib/stack/plan/wake-alerts.ts";
import { registeredQuestions } from "../../lib/rules/policy/dialects.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { ROOT } from "../architecture/source.ts";
import { type Folder, shopInMemory } from "../cli/folder.ts";
import { inside } from "../cli/inside.ts";
import { NOON } from "../noon.ts";
import { sync } from "../policy/native/world.ts";
import { specOf } from "../policy/spec-of.ts";

/** The recipes for a request to a workload at zero, in docs/wake.md. */
const page = readFileSync(join(ROOT, "docs/wake.md"), "utf8");
const recipes = page
  .split("\n### ")
  .filter((section) => section.startsWith("Recipe: "))
  .map((section) => [section.slice("Recipe: ".length).split("\n")[0] ?? "", section] as const);
const blocks = (section: string, of: string): readonly string[] =>
  [...section.matchAll(new RegExp(`\`\`\`${of}\\n(.*?)\`\`\``, "gs"))].map(([, text = ""]) => text);

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

describe("the recipe for a workload at zero behind", () => {
  it("each of three kinds is there", () => {
    expect(recipes.map(([name]) => name)).toEqual([
      "a queue of SQS",
      "an ALB",
      "a gateway with metrics in Prometheus",
    ]);
  });

  it.each(recipes)("%s is applied, without a warning of its fields", async (_name, section) => {
    const [text = ""] = blocks(section, "yaml");
    const [autoscaler] = parseAllDocuments(text);
    expect(admit(autoscaler?.toJS())).toMatchObject({ ok: true, warnings: [] });
    const file = folder.write("recipe.yaml", text);
    const { code, out, err } = await inside([
      ...["apply", "-f", file, "--cluster", "eu-1", "--dry-run", "--data", folder.data],
    ]);
    expect([code, out], err).toEqual([0, expect.stringContaining("PodAutoscaler")]);
  });

  it.each(recipes)("%s scales one pod at the first load, and none without", (_name, section) => {
    const [autoscaler] = parseAllDocuments(blocks(section, "yaml")[0] ?? "");
    const spec = specOf(autoscaler?.toJS());
    const [query] = registeredQuestions(spec, { kept: undefined, nowMs: NOON });
    const countAt = (milli: bigint): number =>
      sync(spec, {
        replicas: 0,
        observed: {
          answers: new Map(
            query
              ? [[queryKey(query), { kind: "answered", items: [{ milli, timestampMs: NOON }] }]]
              : [],
          ),
        },
      }).count;
    expect([countAt(0n), countAt(1_000n)]).toEqual([0, 1]);
  });

  it.each(recipes)("%s is woken by what it names", (_name, section) => {
    const [own = "", rules] = blocks(section, "yaml");
    const [autoscaler, wake] = parseAllDocuments(own).map((one) => one.toJS());
    const { name } = autoscaler.metadata;
    if (rules !== undefined) {
      const [rule] = parse(rules).groups[0].rules;
      const labels = { alertname: rule.alert, ...rule.labels };
      const { alerts } = alertPayload.parse({ alerts: [{ status: "firing", labels }] });
      expect(wakesOfAlerts(alerts)).toMatchObject([
        { cluster: "eu-1", namespace: "shop", names: [name] },
      ]);
      return;
    }
    expect(wake.spec).toMatchObject({ cluster: "eu-1", namespace: "shop", names: [name] });
    const [command = ""] = blocks(section, "sh");
    const alarm = /--alarm-name (\S+)/.exec(command)?.[1];
    expect(wake.spec.alarm).toBe(`arn:aws:cloudwatch:eu-central-1:123456789012:alarm:${alarm}`);
  });
});

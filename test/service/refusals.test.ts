import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";

let world: ServiceWorld;
let service: Service;

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  await service.addCluster({
    name: "eu-1",
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});
afterAll(() => world.close());

const checked = (text: string) => service.apply([{ file: "a.yaml", text }], { dryRun: true });
const linesOf = async (text: string): Promise<readonly string[]> => {
  try {
    await checked(text);
    return [];
  } catch (error) {
    return error instanceof Error ? error.message.split("\n") : [String(error)];
  }
};

describe("what apply() says of a manifest that it refuses", () => {
  it("is one line for a field that is missing, and nothing about its value", async () =>
    expect(await linesOf(hpa("web").replace("  maxReplicas: 10\n", ""))).toEqual([
      'Cannot accept "a.yaml", line 5: spec.maxReplicas is required; write spec.maxReplicas: the largest count the workload may have, 1 or more',
    ]));

  it("is fifty lines at most for one manifest, and the number of the others", async () => {
    const policies = `  behavior: { scaleUp: { policies: [${"{},".repeat(1_000)}] } }\n`;
    const lines = await linesOf(hpa("web", { more: policies }));
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toMatch(/^Cannot accept "a\.yaml": it has \d{4} further problems$/);
  });

  it("is a bounded answer for many broken manifests: the rest is not looked at", async () => {
    const policies = `  behavior: { scaleUp: { policies: [${"{},".repeat(60)}] } }\n`;
    const lines = await linesOf(
      documents(
        ...Array.from({ length: 30 }, (_, index) => hpa(`web-${index}`, { more: policies })),
      ),
    );
    expect(lines).toHaveLength(511);
    expect(lines.at(-1)).toBe("Cannot check the other 20 documents; correct these first");
  });

  it("is a warning of bounded length where hundreds scale one workload", async () => {
    const shared = Array.from({ length: 300 }, (_, index) =>
      hpa(`web-${index}`).replace("    name: web-", "    name: one # web-"),
    );
    const applied = await checked(documents(...shared));
    expect(applied[7]?.warnings).toEqual([
      'Deployment "one" is also the target of "default/web-0", "default/web-1", "default/web-2", "default/web-3", "default/web-4", 294 more: "default/web-7" and they hold until only one of them has this target',
    ]);
  });

  it("is refused as a whole where the texts of one step are more than it may have", async () => {
    const sources = Array.from({ length: 6 }, (_, index) => ({
      file: `${index}.yaml`,
      text: `# ${"x".repeat(999_990)}\n${hpa(`web-${index}`)}`,
    }));
    await expect(service.apply(sources, { dryRun: true })).rejects.toMatchObject({
      code: "manifest.unreadable",
      message: expect.stringContaining(
        'Cannot read "4.yaml": the files of one step have more than 5000000 bytes; apply it in several steps',
      ),
    });
  });
});

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";
import { runs } from "../runs.ts";

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

const good = fc
  .tuple(fc.constantFrom("a", "b", "c", "d"), fc.integer({ min: 2, max: 50 }))
  .map(([name, max]) => hpa(name, { max }));
const bad = fc.constantFrom(
  hpa("e", { max: 1 }),
  hpa("Not_A_Name"),
  hpa("f").replace("kind: HorizontalPodAutoscaler", "kind: HorizontalPodAutoscalr"),
  hpa("g").replace("averageUtilization: 60", "averageUtilization: many"),
  "- a list\n",
);
const stored = async (): Promise<string> =>
  JSON.stringify(
    (await Array.fromAsync(service.autoscalers({}))).map(({ name, generation, manifest }) => [
      name,
      generation,
      manifest,
    ]),
  );

describe("apply() of any mixture", () => {
  it("never stores anything when one document is bad, wherever it stands", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(good, { selector: (text) => text.slice(0, 90), maxLength: 3 }),
        bad,
        fc.nat(),
        async (goods, wrong, place) => {
          const before = await stored();
          const text = documents(...goods.toSpliced(place % (goods.length + 1), 0, wrong));
          await expect(
            service.apply([{ file: "a.yaml", text }], { dryRun: false }),
          ).rejects.toMatchObject({
            name: "TidemarkError",
            message: /^Cannot /,
          });
          expect(await stored()).toBe(before);
        },
      ),
      runs(10),
    );
  });

  it("always ends with what was applied last, one generation for each that changed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(good, { minLength: 1, maxLength: 4 }), async (texts) => {
        for (const text of texts) {
          const [applied] = await service.apply([{ file: "a.yaml", text }], { dryRun: false });
          const view = await service.get({ name: applied?.name ?? "" });
          expect(view.generation).toBe(applied?.generation);
          expect(`maxReplicas: ${view.maxReplicas}`).toBe(/maxReplicas: \d+/.exec(text)?.[0]);
        }
      }),
      runs(5),
    );
  });
});

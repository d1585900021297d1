import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

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

const apply = (text: string) =>
  service.apply([{ file: "a.yaml", text }], { cluster: "eu-1", dryRun: true });

const hpa = (metadata: string, metrics: string): string =>
  `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop, ${metadata} }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 10
  metrics: [${metrics}]
`;
const external = (value: string): string =>
  `{ type: External, external: { metric: { name: lag }, target: { type: Value, value: "${value}" } } }`;

const native = (described: string): string =>
  `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 10
  metrics: [{ object: { metric: lag, describedObject: { ${described} } }, target: 4 }]
`;

describe("apply()", () => {
  it("warns of the annotation for custom metrics of the first design, which it does not read", async () => {
    const annotation = `annotations: { alpha/target.custom-metrics.podautoscaler.kubernetes.io: '{"items":[{"name":"qps","value":"10"}]}' }`;
    const [applied] = await apply(hpa(annotation, external("4")));
    expect(applied?.warnings.join("\n")).toMatch(
      /custom-metrics.*are not read; write them as spec\.metrics/,
    );
    const [other] = await apply(hpa("annotations: { team: shop }", external("4")));
    expect(other?.warnings).toEqual([]);
  });

  it("refuses a target beyond 64 bits of thousandths, which the controllers would cut", async () => {
    for (const value of ["4E", "9223372036854775808", "1e30"])
      await expect(apply(hpa("labels: {}", external(value)))).rejects.toThrow(
        "must be at most 9223372036854775807 thousandths",
      );
    for (const value of ["4P", "9007199254740991"])
      expect(await apply(hpa("labels: {}", external(value)))).toHaveLength(1);
  });

  it("takes the namespace of the autoscaler as a described object without a name, and no other object", async () => {
    for (const described of ["kind: Namespace", "apiVersion: v1, kind: Namespace"])
      expect(await apply(native(described))).toHaveLength(1);
    for (const described of ["kind: Service", "apiVersion: x.y/v1, kind: Namespace"])
      await expect(apply(native(described))).rejects.toThrow("describedObject.name is required");
  });
});

import { describe, expect, it } from "vitest";
import { deploymentsOf } from "../../lib/embedded/run/manifest-files.ts";
import { divided } from "../../lib/embedded/run/option-values.ts";

const hpa = (name: string, metric: string): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  maxReplicas: 9
  metrics: [${metric}]
`;
const PODS = `{ type: Pods, pods: { metric: { name: requests }, target: { type: AverageValue, averageValue: "15" } } }`;
const QUEUE = `{ type: External, external: { metric: { name: messages, selector: { matchLabels: { queue: orders } } }, target: { type: Value, value: "15" } } }`;
const CPU = `{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }`;
const SERVICE = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\n";

describe("the workloads of manifests", () => {
  it("are found among objects of other kinds, with the metrics that are asked for them", () => {
    const text = [hpa("web", PODS), SERVICE, hpa("worker", QUEUE), hpa("api", CPU)].join("---\n");
    expect(deploymentsOf([{ file: "all.yaml", text }])).toEqual([
      { namespace: "shop", name: "web", metrics: [{ name: "requests", selector: "" }] },
      {
        namespace: "shop",
        name: "worker",
        metrics: [{ name: "messages", selector: "queue=orders" }],
      },
      { namespace: "shop", name: "api", targetCpuPercent: 60 },
    ]);
  });

  it("begin with the replicas of a Deployment of any file, and an annotation of the autoscaler goes before", () => {
    const deployment = (name: string, replicas: unknown): string =>
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: ${name}, namespace: shop }\nspec: { replicas: ${replicas} }\n`;
    const begin = (...texts: readonly string[]) =>
      deploymentsOf(texts.map((text, at) => ({ file: `${at}.yaml`, text }))).map(
        ({ replicas }) => replicas,
      );
    const web = hpa("web", CPU);
    expect(begin(web, `${deployment("web", 7)}---\n${hpa("api", CPU)}`)).toEqual([7, undefined]);
    const list = `apiVersion: v1\nkind: List\nitems:\n- { apiVersion: apps/v1, kind: Deployment, metadata: { name: web, namespace: shop }, spec: { replicas: 5 } }\n`;
    expect(begin(`${web}---\n${list}`)).toEqual([5]);
    const annotated = web.replace(
      "namespace: shop }",
      'namespace: shop, annotations: { tidemark.dev/simulated-replicas: "3" } }',
    );
    expect(begin(`${annotated}---\n${deployment("web", 7)}`)).toEqual([3]);
    for (const none of ['"7"', -1, 1.5, 1e9])
      expect(begin(`${web}---\n${deployment("web", none)}`)).toEqual([undefined]);
    const stateful = deployment("web", 7).replace("Deployment", "StatefulSet");
    expect(begin(`${web}---\n${stateful}`)).toEqual([undefined]);
  });

  it("may be of a kind that only the manifest names, and a Deployment of the first versions is a Deployment", () => {
    const of = (target: string): string =>
      hpa("web", CPU).replace("apiVersion: apps/v1, kind: Deployment", target);
    expect(
      deploymentsOf([
        { file: "a.yaml", text: of("apiVersion: argoproj.io/v1alpha1, kind: Rollout") },
      ]),
    ).toMatchObject([
      { namespace: "shop", name: "web", apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" },
    ]);
    const early = deploymentsOf([
      { file: "a.yaml", text: of("apiVersion: extensions/v1beta1, kind: Deployment") },
    ]);
    expect(early).toEqual([{ namespace: "shop", name: "web", targetCpuPercent: 60 }]);
  });

  it("may be of any kind that the cluster has, and of no other one of its groups", () => {
    const of = (kind: string): string =>
      hpa("web", CPU).replace("kind: Deployment", `kind: ${kind}`);
    for (const kind of ["StatefulSet", "ReplicaSet", "ReplicationController"])
      expect(deploymentsOf([{ file: "a.yaml", text: of(kind) }])).toMatchObject([
        { name: "web", kind },
      ]);
    expect(() => deploymentsOf([{ file: "a.yaml", text: of("Rollout") }])).toThrow(
      /^Cannot simulate the target of "a.yaml": its kind is Rollout, and the simulated cluster has Deployment, StatefulSet/,
    );
  });

  it("--metric divides its value at the first equals sign", () => {
    expect(divided("messages=a=b.csv")).toEqual(["messages", "a=b.csv"]);
    expect(divided("messages")).toEqual(["", ""]);
  });
});

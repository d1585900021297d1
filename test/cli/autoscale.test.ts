import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

describe("tidemark autoscale", () => {
  it("stores the HorizontalPodAutoscaler that kubectl autoscale would make", async () => {
    expect(
      await run(
        "autoscale",
        "deployment/cart",
        "-n",
        "lab",
        "--min",
        "2",
        "--max=10",
        "--cpu",
        "80%",
        "--cluster",
        "us-1",
      ),
    ).toEqual({
      code: 0,
      out: 'HorizontalPodAutoscaler "cart" in namespace "lab" of cluster "us-1" created\n',
      err: expect.stringMatching(
        /^note: whether Deployment "cart" is in cluster "us-1" is not known: .*\n$/,
      ),
    });
    expect(JSON.parse((await run("get", "lab/cart", "-o", "json")).out).spec).toMatchObject({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "cart" },
      minReplicas: 2,
      maxReplicas: 10,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
        },
      ],
    });
  });

  it.each([
    [["sts", "db"], "StatefulSet"],
    [["replicaset.apps/db"], "ReplicaSet"],
    [["rc/db"], "ReplicationController"],
  ])(
    "prints the manifest for %j and opens nothing with --dry-run -o yaml",
    async (workload, kind) => {
      const open = () => Promise.reject(new Error("nothing is opened"));
      const args = [
        "autoscale",
        ...workload,
        "--max",
        "5",
        "--cpu",
        "500",
        "--memory",
        "1Gi",
        "--name",
        "x",
        "--dry-run=client",
        "-o",
        "yaml",
      ];
      const { code, out, err } = await inside(args, { open });
      expect([code, err]).toEqual([0, ""]);
      expect(parse(out)).toMatchObject({
        metadata: { name: "x" },
        spec: { scaleTargetRef: { kind }, maxReplicas: 5 },
      });
      expect(
        parse(out).spec.metrics.map(
          ({ resource }: { resource: { target: { averageValue: string } } }) =>
            resource.target.averageValue,
        ),
      ).toEqual(["500m", "1Gi"]);
    },
  );

  it("changes nothing that exists, and refuses what no manifest may say", async () => {
    expect(
      (await run("autoscale", "deploy/cart", "-n", "lab", "--max", "5", "--cluster", "us-1")).err,
    ).toBe(
      'error: Cannot autoscale "cart": "cart" in namespace "lab" of cluster "us-1" exists already; change it with tidemark edit, or give another --name\n',
    );
    expect(
      (await run("autoscale", "deploy/new", "--min", "9", "--max", "5", "--cluster", "us-1")).err,
    ).toMatch(/spec\.maxReplicas/);
    expect((await run("autoscale", "cronjob/new", "--max", "5")).err).toBe(
      'error: Cannot autoscale "cronjob/new": give deployment/NAME, statefulset/NAME, replicaset/NAME or replicationcontroller/NAME\n',
    );
    expect((await run("autoscale", "deploy/new", "--max", "many")).err).toBe(
      'error: Cannot read --max "many": give a whole number\n',
    );
    expect(
      (await run("autoscale", "deploy/new", "--max", "5", "--cpu", "lots", "--cluster", "us-1"))
        .code,
    ).toBe(1);
  });
});

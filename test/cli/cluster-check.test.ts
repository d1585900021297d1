import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemOf } from "../../lib/answers/api/request-and-answer.ts";
import { printerOn, painter } from "../../lib/command/io.ts";
import { checksText, reported } from "../../lib/command/output/check-lines.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import { problemIn, problemError } from "../../lib/answers/remote/answer.ts";
import type { Printed } from "../../lib/stack/report/printed.ts";
import { type RunningCluster, runCluster, workload } from "../local/cluster/running-cluster.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
let cluster: RunningCluster;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);
beforeAll(async () => {
  folder = await shopFolder();
  cluster = await runCluster({ workloads: [workload()] });
});
afterAll(async () => {
  await cluster.remove();
  folder.remove();
});

describe("tidemark cluster add and check on a data folder", () => {
  it("look at the cluster from this machine, print a mark for each point, and store the connection", async () => {
    const { code, out, err } = await run(
      "cluster",
      "add",
      "sim",
      "--kubeconfig",
      cluster.kubeconfigPath,
    );
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^✓ {3}credentials +the kubeconfig was read$/m);
    expect(out).toMatch(/^✓ {3}user +"tidemark", in tidemark$/m);
    expect(out).toMatch(/^✓ {3}deployments\.apps +can be read and scaled$/m);
    expect(out).toMatch(/^✓ {3}metrics\.k8s\.io +v1beta1 answers$/m);
    expect(out).toMatch(/^- {3}scaledobjects\.keda\.sh +not installed, so none is looked for$/m);
    expect(out).toMatch(/\nCluster "sim" added\n$/);
    expect((await run("cluster", "describe", "sim", "-o", "json")).code).toBe(0);
  });

  it("let autoscale look for its workload first, and store nothing without it", async () => {
    const { name } = workload();
    const args = ["-n", "shop", "--max", "5", "--cluster", "sim", "--name", "looked-for"];
    expect(await run("autoscale", "deployment/nowhere", ...args)).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot autoscale "nowhere": Deployment "nowhere" is not in namespace "shop" of cluster "sim"; create it first, give another -n, or store the autoscaler before its workload: autoscale with --dry-run -o yaml | tidemark apply -f -\n',
    });
    expect((await run("get", "shop/looked-for")).code).toBe(1);
    expect(await run("autoscale", `deployment/${name}`, ...args, "--dry-run")).toMatchObject({
      code: 0,
      err: "",
    });
  });

  it("give the report as a document, with the rights on a custom resource where one is named", async () => {
    const { code, out } = await run(
      "cluster",
      "check",
      "sim",
      "-o",
      "json",
      "--kind",
      "argoproj.io/rollouts",
    );
    const report = JSON.parse(out);
    expect([code, report.name, report.usable]).toEqual([0, "sim", true]);
    expect(report.checks).toContainEqual({
      check: "rollouts.argoproj.io",
      result: "passed",
      message: "can be read and scaled",
    });
    expect((await run("cluster", "check", "sim", "-o", "yaml")).out).toMatch(
      /^name: sim\nkubeSystemUid: [\w-]{36}\nserverVersion: v1\.37\.1\+tidemark\.local\nusable: true\nchecks:\n/,
    );
  });

  it("show the version of the API server, as wide columns and in the sheet", async () => {
    expect((await run("cluster", "list", "-o", "wide")).out).toMatch(
      /KUBERNETES +READ\n(?:.*\n)*sim .* v1\.37\.1\+tidemark\.local +20/,
    );
    expect((await run("cluster", "describe", "sim")).out).toMatch(
      /^Kubernetes: +v1\.37\.1\+tidemark\.local, read at 20/m,
    );
  });

  it("find the custom kinds that the autoscalers of the cluster scale, without --kind", async () => {
    const manifest = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: fleet, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: fleet }
  maxReplicas: 3
`;
    const file = folder.write("fleet.yaml", manifest);
    expect((await run("apply", "-f", file, "--cluster", "sim")).code).toBe(0);
    const { code, out } = await run("cluster", "check", "sim");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^! {3}Rollout\.argoproj\.io +not served: the autoscalers that name it hold$/m,
    );
    expect((await run("delete", "hpa/fleet", "--cluster", "sim")).code).toBe(0);
    expect((await run("cluster", "check", "sim")).out).not.toContain("argoproj");
  });

  it("store nothing where no sync could work, say what to do, and end with 1; --force stores it all the same", async () => {
    const broken = readFileSync(cluster.kubeconfigPath, "utf8").replace(
      /(https:\/\/127\.0\.0\.1):\d+/,
      "$1:1",
    );
    const path = folder.write("broken.kubeconfig", broken);
    const { code, out, err } = await run("cluster", "add", "lost", "--kubeconfig", path);
    expect(out).toBe(
      [
        "✓   credentials   the kubeconfig was read",
        "✗   reachable     nothing listens at the server's address (ECONNREFUSED)",
        "                  to do: check the port and that the API server runs",
        "",
      ].join("\n"),
    );
    const why =
      "reachable: nothing listens at the server's address (ECONNREFUSED) (to do: check the port and that the API server runs)";
    expect([code, err]).toEqual([
      1,
      `error: Cannot add cluster "lost": ${why}; fix this, or store it anyway with force\n`,
    ]);
    expect((await run("cluster", "describe", "lost")).code).toBe(1);
    expect((await run("cluster", "add", "sim", "--replace", "--kubeconfig", path)).err).toContain(
      'Cannot replace cluster "sim": reachable:',
    );
    expect(await run("cluster", "add", "lost", "--kubeconfig", path, "--force")).toEqual({
      code: 0,
      out: 'Cluster "lost" added\n',
      err: "",
    });
    const checked = await run("cluster", "check", "lost");
    expect([checked.code, checked.err]).toEqual([
      1,
      'error: Cannot use cluster "lost": reachable failed, of 2 points\n',
    ]);
  });

  it("tell a taken name before they look, and look at nothing where a connection stays", async () => {
    expect((await run("cluster", "add", "sim", "--kubeconfig", cluster.kubeconfigPath)).out).toBe(
      "",
    );
    expect((await run("cluster", "add", "sim", "--replace", "--period", "30s")).out).toBe(
      'Cluster "sim" replaced\n',
    );
  });
});

describe("a refusal with a report", () => {
  it("comes over the API with its report, and is printed as on a data folder", async () => {
    const checks = [
      { check: "tls", result: "failed", message: "another CA", fix: "give the CA" },
    ] as const;
    const refused = new TidemarkError("service.unusable", "Cannot add it", {
      report: { name: "x", usable: false, checks },
    });
    const { status, type = "", text } = problemOf(refused, "request-1");
    const problem = problemIn({ status, type, text: String(text), errorType: "" });
    if (!problem) throw new Error("it is a problem");
    const paint = painter(false);
    let printed = "";
    const print = async (more: Printed): Promise<boolean> => {
      printed += more.written();
      return true;
    };
    const asked = reported(
      {
        ...printerOn({ stdout: new PassThrough(), stderr: new PassThrough(), colours: false }),
        paint,
        print,
      },
      () => Promise.reject(problemError(problem)),
    );
    await expect(asked).rejects.toMatchObject({
      code: "service.unusable",
      message: "Cannot add it",
    });
    expect([status, printed]).toEqual([409, checksText(checks, { paint }).written()]);
  });
});

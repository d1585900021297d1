import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Table from "cli-table3";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { connect } from "../../lib/stack/cluster/connect.ts";
import type { ObjectUpdate } from "../../lib/stack/cluster/cluster-client.ts";
import { podAutoscalerDefinition } from "../../lib/rules/manifest/crd/definition.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import { UPDATES_MAX, WRITE_BACK_MS_MAX } from "../../lib/stack/sync/objects/write-back-objects.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start.ts";
import { document } from "../manifest/native/contradictions.ts";

/**
 * What it takes to write back the status of 1,000 objects to a real API server: within the budget
 * of a sync, and all of them. `WRITE_BACK_OBJECTS=300` chooses another number.
 */
const OBJECTS = Number(process.env["WRITE_BACK_OBJECTS"] ?? 1_000);
const NAMESPACE = "default";
const PATH = `/apis/tidemark.dev/v1/namespaces/${NAMESPACE}/podautoscalers`;
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PARALLEL = 16;
const ROUNDS = 5;
const NO_BUDGET = { budgetMs: 600_000, callsMax: 100_000 };

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  if (binaries.kind === "missing") {
    process.stdout.write(`Not measured: ${binaries.message}\n`);
    process.exitCode = 1;
    return;
  }
  const plane = await startControlPlane(binaries.folder);
  try {
    await fill(plane);
    await measure(plane);
  } finally {
    await plane.close();
  }
};

const fill = async ({ call }: ControlPlane): Promise<void> => {
  await call("POST", DEFINITIONS, podAutoscalerDefinition());
  while ((await call("GET", PATH)).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, 100));
  await mapWithLimit([...Array(OBJECTS).keys()], PARALLEL, async (at) => {
    const { status, body } = await call("POST", PATH, {
      ...document(),
      metadata: { name: `web-${at}`, namespace: NAMESPACE },
    });
    if (status >= 300) throw new Error(`an object was refused: ${body}`);
  });
};

const measure = async (plane: ControlPlane): Promise<void> => {
  const path = join(plane.dir, "bench-kubeconfig");
  writeFileSync(path, kubeconfigText(plane, { token: plane.token }), { mode: 0o600 });
  const client = await connect(
    {
      name: clusterName("bench"),
      uid: "bench",
      kubeSystemUid: undefined,
      connection: { kind: "kubeconfig", path },
    },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
  const table = new Table({
    head: ["", "written", "left", "wall ms", "own CPU ms", "API server ms", "ms of it each"],
  });
  const writeBack = async (
    name: string,
    limits: typeof NO_BUDGET,
    round: number,
  ): Promise<void> => {
    const updates = await statuses(plane, round);
    const [server, own, startMs] = [
      plane.apiServer.cpuSeconds(),
      process.cpuUsage(),
      performance.now(),
    ];
    const told = await client.writeBack?.(updates, limits);
    const [wallMs, { user, system }] = [performance.now() - startMs, process.cpuUsage(own)];
    const serverMs = (plane.apiServer.cpuSeconds() - server) * 1_000;
    const { written = 0, left = 0 } = told ?? {};
    table.push([
      name,
      written,
      left,
      ...[wallMs, (user + system) / 1_000, serverMs].map(Math.round),
      (serverMs / Math.max(1, written)).toFixed(2),
    ]);
  };
  for (let round = 1; round <= ROUNDS; round++)
    await writeBack(
      `a sync, ${OBJECTS} moved`,
      { budgetMs: WRITE_BACK_MS_MAX, callsMax: UPDATES_MAX },
      round,
    );
  await writeBack("without a budget", NO_BUDGET, ROUNDS + 1);
  client.close();
  process.stdout.write(`${table.toString()}\n`);
};

const statuses = async (
  { call }: ControlPlane,
  round: number,
): Promise<readonly ObjectUpdate[]> => {
  const { items } = JSON.parse((await call("GET", PATH)).body) as {
    readonly items: readonly Listed[];
  };
  const [of] = SPEC_KINDS;
  if (!of) throw new TypeError("there is no kind");
  return items.map(({ metadata }) => {
    const about = { of, namespace: NAMESPACE, ...metadata };
    return {
      kind: "status",
      about,
      status: { currentReplicas: round, desiredReplicas: round, targets: `cpu: ${round}%/60%` },
    };
  });
};

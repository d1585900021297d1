import { readList } from "../../lib/stack/cluster/list.ts";
import { readPod, POD_LIST } from "../../lib/stack/cluster/read/pods.ts";
import { readWorkloadScale } from "../../lib/stack/cluster/scale.ts";
import { callBudget } from "../../lib/stack/cluster/transport/budget.ts";
import { clusterTransport } from "../../lib/stack/cluster/transport/same-cluster.ts";
import { WORKLOAD_LISTS } from "../../lib/stack/cluster/wire/objects.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { median } from "./hpa-controller.ts";

const ROUNDS = 9;
const DEPLOYMENTS = "deployments.apps";

const LISTS = [
  { path: "/api/v1/pods", resource: "pods", protobuf: POD_LIST, read: readPod },
  {
    path: "/apis/apps/v1/deployments",
    resource: DEPLOYMENTS,
    protobuf: WORKLOAD_LISTS[DEPLOYMENTS],
    read: readWorkloadScale,
  },
] as const;

/**
 * The LISTs of pods and of deployments with nothing around them, over protobuf and over JSON: wall,
 * own CPU, CPU of the API server, bytes.
 */
export const bareLists = async (plane: ControlPlane): Promise<string> => {
  const texts: string[] = [];
  for (const { protobuf, ...what } of LISTS) {
    texts.push(
      `${what.resource} ${await measured(plane, { ...what, ...(protobuf && { protobuf }) })}`,
    );
    texts.push(`${what.resource} as JSON ${await measured(plane, what)}`);
  }
  return texts.join("; ");
};

const measured = async (
  plane: ControlPlane,
  what: Parameters<typeof readList<object>>[1],
): Promise<string> => {
  const access = {
    server: new URL(plane.url),
    ca: plane.ca,
    rejectUnauthorized: true,
    ownAddresses: true,
    credentials: async () => ({ headers: { authorization: `Bearer ${plane.token}` } }),
    forget: () => undefined,
  };
  const transport = clusterTransport({
    cluster: "bench",
    kubeSystemUid: undefined,
    access,
    clock: Date.now,
    elapsed: () => performance.now(),
  });
  const [walls, owns]: [number[], number[]] = [[], []];
  let bytes = 0;
  const serverS = plane.apiServer.cpuSeconds();
  for (let round = 0; round < ROUNDS; round++) {
    const budget = callBudget({
      budgetMs: 60_000,
      maxCalls: 1_000,
      maxBytes: 1e9,
      elapsed: () => performance.now(),
    });
    const [cpu, startedMs] = [process.cpuUsage(), performance.now()];
    const listed = await readList(transport, what, budget);
    if (listed.kind === "failed") throw new Error(listed.failure.message);
    walls.push(performance.now() - startedMs);
    const { user, system } = process.cpuUsage(cpu);
    owns.push((user + system) / 1_000);
    ({ bytes } = budget.spent());
  }
  const serverMs = ((plane.apiServer.cpuSeconds() - serverS) * 1_000) / ROUNDS;
  transport.close();
  return `${median(walls).toFixed(0)} ms, own CPU ${median(owns).toFixed(0)}, API server ${serverMs.toFixed(0)}, ${(bytes / 1_024).toFixed(0)} KiB`;
};

import { existsSync, writeFileSync } from "node:fs";
import * as https from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { mapWithLimit } from "../../lib/stack/store/table/wait-for-all.ts";
import type { App } from "../control-plane/fill.ts";
import type { MetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { type Program, startProgram } from "../control-plane/processes.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { watchOthers } from "./busy.ts";

/**
 * What the HPA controller of kube-controller-manager takes for the same work on the same API
 * server.
 */
export interface HpaFigures {
  /** Median time between two looks at one HPA. */
  readonly roundS: number;
  /** Of one round. */
  readonly ownS: number;
  readonly serverS: number;
  /** From a load of three times as much to the new count of the median workload and of the last. */
  readonly medianS: number;
  readonly lastS: number;
  /** Share of the machine that other programs took. */
  readonly others: number;
}

export const HPA_FLAGS = {
  default: [],
  tuned: [
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    "--concurrent-horizontal-pod-autoscaler-syncs=50",
  ],
} as const;

const BINARY = "kube-controller-manager";
const FIRST_LOOKS_MIN_S = 240;
const REACTION_MIN_S = 400;
/** With its defaults the controller looks at 20 HPAs a second. A wait may take so many rounds. */
const LOOKS_A_SECOND = 20;
const WAIT_ROUNDS = 4;
const WATCH_LAG_MAX_S = 30;
/**
 * Rounds that are waited for after the first, until half of the HPAs were looked at twice: a busy
 * machine needs longer than the law says.
 */
const ROUNDS_MAX = 6;
const PERIOD_S = 15;

export const hpaControllerMissing = (binaries: string): boolean =>
  !existsSync(join(binaries, BINARY));

export interface Stage {
  readonly plane: ControlPlane;
  readonly adapter: MetricsAdapter;
  readonly apps: readonly App[];
  readonly binaries: string;
  readonly dir: string;
}

/** Makes one HPA for each workload, and takes them away again in the end. */
export const measureHpa = async (
  stage: Stage,
  flags: readonly string[],
  load: { readonly calm: number; readonly up: number },
): Promise<HpaFigures> => {
  stage.adapter.asked.clear();
  stage.adapter.cpuMilli = load.calm;
  const controller = startController(stage, flags);
  try {
    const looked = (): boolean => stage.adapter.asked.size >= stage.apps.length;
    await untilTrue(looked, Math.max(FIRST_LOOKS_MIN_S, longestS(stage)), "each HPA is looked at");
    const steady = await steadyRounds(stage, controller);
    return { ...steady, ...(await reaction(stage, load.up)) };
  } finally {
    await controller.stop();
  }
};

const longestS = ({ apps }: Stage): number => (apps.length / LOOKS_A_SECOND) * WAIT_ROUNDS;

export const makeHpas = (plane: ControlPlane, apps: readonly App[]): Promise<unknown> =>
  mapWithLimit(apps, 16, async ({ namespace, name }) => {
    const spec = {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
        },
      ],
    };
    const { status, body } = await plane.call(
      "POST",
      `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`,
      {
        metadata: { name },
        spec,
      },
    );
    if (status >= 300) throw new Error(`an HPA was answered ${status}: ${body}`);
  });

const startController = ({ plane, binaries, dir }: Stage, flags: readonly string[]): Program => {
  const kubeconfig = join(dir, "controller.kubeconfig");
  const cluster = {
    server: plane.url,
    "certificate-authority-data": Buffer.from(plane.ca).toString("base64"),
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster }],
    users: [{ name: "admin", user: { token: plane.token } }],
    contexts: [{ name: "here", context: { cluster: "here", user: "admin" } }],
    "current-context": "here",
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  const own = [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--controllers=horizontal-pod-autoscaler-controller",
  ];
  return startProgram(join(binaries, BINARY), [...own, ...flags], { dir, name: BINARY });
};

const steadyRounds = async ({ plane, adapter, apps }: Stage, controller: Program) => {
  const limitS = Math.max(PERIOD_S, apps.length / 20) * ROUNDS_MAX;
  const untilMs = performance.now() + limitS * 1_000;
  adapter.asked.clear();
  const [own, server, startedMs] = [
    controller.cpuSeconds(),
    plane.apiServer.cpuSeconds(),
    performance.now(),
  ];
  const others = watchOthers();
  const [etcd, bench] = [plane.etcd.cpuSeconds(), process.cpuUsage()];
  const gaps = () =>
    [...adapter.asked.values()].flatMap((times) =>
      times.slice(1).map((time, at) => (time - (times[at] ?? time)) / 1_000),
    );
  while (performance.now() < untilMs && gaps().length < apps.length / 2) await wait(1_000);
  const looks = [...adapter.asked.values()].reduce((sum, times) => sum + times.length, 0);
  if (gaps().length === 0)
    throw new Error(
      `no HPA was looked at twice in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`,
    );
  const rounds = looks / apps.length;
  const { user, system } = process.cpuUsage(bench);
  const measuredS =
    controller.cpuSeconds() -
    own +
    plane.apiServer.cpuSeconds() -
    server +
    plane.etcd.cpuSeconds() -
    etcd;
  return {
    others: others.share(measuredS * 1_000 + (user + system) / 1_000),
    roundS: median(gaps()),
    ownS: (controller.cpuSeconds() - own) / rounds,
    serverS: (plane.apiServer.cpuSeconds() - server) / rounds,
  };
};

const reaction = (stage: Stage, up: number): Promise<Reaction> =>
  reactionTo(stage, async (allScaled) => {
    stage.adapter.cpuMilli = up;
    await untilTrue(allScaled, Math.max(REACTION_MIN_S, longestS(stage)), "all are scaled");
  });

/** After how long the deployments were scaled: the median one and the last. */
export type Reaction = Pick<HpaFigures, "medianS" | "lastS">;

/** Watches the deployments while something scales all of them up. */
export const reactionTo = async (
  { plane, apps }: Stage,
  scale: (allScaled: () => boolean) => Promise<unknown>,
): Promise<Reaction> => {
  const changed = new Map<string, number>();
  const { ready, stop } = watchReplicas(plane, (key, replicas) => {
    if (replicas > 1 && !changed.has(key)) changed.set(key, performance.now());
  });
  await ready;
  const startedMs = performance.now();
  try {
    const allScaled = (): boolean => changed.size >= apps.length;
    await scale(allScaled);
    await untilTrue(allScaled, WATCH_LAG_MAX_S, "the watch tells of all");
  } finally {
    stop();
  }
  const seconds = [...changed.values()].map((atMs) => (atMs - startedMs) / 1_000);
  return { medianS: median(seconds), lastS: Math.max(...seconds) };
};

/** Calls back for each deployment that changes, as the API server tells it. */
const watchReplicas = (
  { url, ca, token }: ControlPlane,
  seen: (key: string, replicas: number) => void,
) => {
  const path = "/apis/apps/v1/deployments?watch=true";
  const request = https.get(new URL(path, url), {
    ca,
    headers: { authorization: `Bearer ${token}` },
    agent: false,
  });
  const ready = new Promise<void>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      resolve();
      const lines = createInterface({ input: response });
      // Where the watch breaks, the changes behind are missing, and the wait for them ends with an
      // error; at the end we break it ourselves.
      lines.on("error", () => undefined);
      lines.on("line", (line) => {
        const { object } = JSON.parse(line) as {
          object: { metadata: { namespace: string; name: string }; spec: { replicas: number } };
        };
        seen(`${object.metadata.namespace}/${object.metadata.name}`, object.spec.replicas);
      });
    });
  });
  return { ready, stop: () => void request.destroy() };
};

const untilTrue = async (isTrue: () => boolean, maxS: number, what: string): Promise<void> => {
  const untilMs = performance.now() + maxS * 1_000;
  while (!isTrue()) {
    if (performance.now() > untilMs) throw new Error(`it took longer than ${maxS} s until ${what}`);
    await wait(250);
  }
};

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

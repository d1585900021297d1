import { SCALE_OF_WEB } from "../alarm-stack.ts";
import type { Fleet } from "./fleet.ts";
import { REAL } from "./git.ts";
import type { RealCluster } from "./real-cluster.ts";

/** So many minutes have faults. */
export const FAULT_MINUTES = 60;

/** One fault of a cluster, which begins in the first minute of the faults. */
export interface Fault {
  readonly cluster: string;
  readonly what: string;
  /** What the message to people says of it: one of these; none is no message. */
  readonly says: readonly string[];
  /** Plays its part of a minute, before the syncs of this minute. */
  readonly minute: (at: number) => unknown;
  readonly end?: () => unknown;
}

/** One that is down without a break may be reported by its share of due syncs first. */
const AGAIN = ["again and again, so that too few of"];
const UNREAD = ["cannot be read for 5 minutes", ...AGAIN];
const UNMEASURED = ["nothing can be evaluated for 5 minutes", ...AGAIN];

type Real = Readonly<Record<keyof typeof REAL, RealCluster>>;

/** Faults of simulated clusters that come and go by the minute. */
const simulatedFaults = ({ simulated, unserved }: Fleet): readonly Fault[] => {
  const faultsOf = (name: string) => {
    const found = simulated.get(name);
    if (!found) throw new RangeError(`Cannot play "${name}": it is no simulated cluster`);
    return found.cluster.faults;
  };
  const heal = (name: string): void => faultsOf(name).clear();
  const down = (name: string): void =>
    void faultsOf(name).add({
      ...{ kind: "status", code: 500, reason: "InternalError" },
      ...{ message: "etcd is gone", path: "/" },
    });
  const withoutMetrics = (name: string): void =>
    void faultsOf(name).add({
      ...{ kind: "status", code: 503, reason: "ServiceUnavailable" },
      ...{ message: "no endpoints", path: "/apis/metrics.k8s.io" },
    });
  const withoutRight = (name: string): void =>
    void faultsOf(name).add({
      ...{ kind: "status", code: 403, reason: "Forbidden" },
      ...{ message: "no right", path: SCALE_OF_WEB, method: "PUT" },
    });
  type Kind = (name: string) => void;
  /** Which fault a minute has; undefined is none. */
  const fault = (
    cluster: string,
    what: string,
    says: readonly string[],
    kindIn: (at: number) => Kind | undefined,
  ): Fault => ({
    cluster,
    what,
    says,
    minute: (at) => {
      heal(cluster);
      kindIn(at)?.(cluster);
    },
    end: () => heal(cluster),
  });
  return [
    fault("c-09", "no API for 12 minutes", UNREAD, (at) => (at < 12 ? down : undefined)),
    fault("c-10", "no API in every second sync, for 30 minutes", AGAIN, (at) =>
      at < 30 && at % 2 === 0 ? down : undefined,
    ),
    fault("c-11", "metrics in every third sync only, for 30 minutes", AGAIN, (at) =>
      at < 30 && at % 3 !== 0 ? withoutMetrics : undefined,
    ),
    fault("c-12", "never works: four minutes no API, one no metrics, in turn", AGAIN, (at) =>
      at % 5 === 4 ? withoutMetrics : down,
    ),
    fault("c-01", "synced every 15 s: no metrics for 8 minutes", UNMEASURED, (at) =>
      at < 8 ? withoutMetrics : undefined,
    ),
    fault("c-02", "synced every 15 s: no API in every second minute", AGAIN, (at) =>
      at < 30 && at % 2 === 0 ? down : undefined,
    ),
    fault("c-33", "synced every 5 minutes: no API for 30 minutes", UNREAD, (at) =>
      at < 30 ? down : undefined,
    ),
    fault("c-34", "synced every 5 minutes: no API in every second sync", AGAIN, (at) =>
      Math.floor(at / 5) % 2 === 0 ? down : undefined,
    ),
    fault(
      "c-13",
      "the right to scale web is gone for 25 minutes",
      ["could not scale for 15 minutes"],
      (at) => (at < 25 ? withoutRight : undefined),
    ),
    fault("c-16", "no API for one sync of 20", [], (at) => (at % 20 === 0 ? down : undefined)),
    {
      cluster: "c-15",
      what: "its messages are lost for 8 minutes",
      says: ["not synced for three periods"],
      minute: (at) => (at < 8 ? unserved.add("c-15") : unserved.delete("c-15")),
      end: () => unserved.delete("c-15"),
    },
  ];
};

/** Of the real API servers, which are killed and started again. */
const realFaults = ({ byToken, byAccount }: Real): readonly Fault[] => {
  const killed = (
    { plane }: RealCluster,
    cluster: string,
    [what, says]: readonly [string, readonly string[]],
    isDown: (at: number) => boolean,
  ): Fault => {
    let restart: (() => Promise<void>) | undefined;
    const begin = async (): Promise<void> => {
      await restart?.();
      restart = undefined;
    };
    return {
      ...{ cluster, what, says },
      minute: async (at) => {
        if (!isDown(at)) await begin();
        else restart ??= await plane.interrupt();
      },
      end: begin,
    };
  };
  return [
    killed(
      byToken,
      REAL.byToken,
      ["a real API server is killed, for 12 minutes", UNREAD],
      (at) => at < 12,
    ),
    killed(
      byAccount,
      REAL.byAccount,
      ["a real API server is killed and started again every two minutes", AGAIN],
      (at) => at < 20 && at % 4 < 2,
    ),
  ];
};

/** `web` of c-14 wants four pods, and may have two. */
export const AT_MAX: Fault = {
  cluster: "c-14",
  what: "web wants more than its maximum",
  says: ["more than its maximum for 15 minutes"],
  minute: () => undefined,
};

export const faultsOf = (fleet: Fleet, real: Real): readonly Fault[] => [
  ...simulatedFaults(fleet),
  AT_MAX,
  ...realFaults(real),
];

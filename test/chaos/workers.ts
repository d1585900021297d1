import { type ChildProcess, fork } from "node:child_process";
import { type SyncMessage, DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";

/** Worker processes, what is under way in each, and what was done to them. */
export interface Workers {
  /**
   * Gives a message to some worker; it is delivered again when its sync fails or its process ends.
   */
  readonly deliver: (message: SyncMessage) => void;
  /** Kills or stops some worker for a while. */
  readonly disturb: () => void;
  /** Lets every stopped worker go on, and disturbs none any more. */
  readonly calm: () => void;
  readonly done: Map<string, number>;
  readonly failures: Map<string, number>;
  readonly close: () => void;
}

interface Worker {
  readonly child: ChildProcess;
  readonly busy: Map<number, SyncMessage>;
  stopped: boolean;
}

interface SyncEnd {
  readonly id: number;
  readonly how: string;
  readonly why?: string;
}

const KILL_SHARE = 0.4;
/** Some of these are longer than a life: the platform ends such a process. */
const STOP_MAX_MS = 36_000;
const AGAIN_MS = 1_000;

export const startWorkers = (count: number, env: NodeJS.ProcessEnv): Workers => {
  const done = new Map<string, number>();
  const failures = new Map<string, number>();
  const raise = (counts: Map<string, number>, what: string): void =>
    void counts.set(what, (counts.get(what) ?? 0) + 1);
  const workers: Worker[] = [];
  let ids = 0;
  let closed = false;
  const start = (): Worker => {
    const child = fork(new URL("./worker.ts", import.meta.url), {
      env,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const worker: Worker = { child, busy: new Map(), stopped: false };
    workers.push(worker);
    child.on("message", ({ id, how, why }: SyncEnd) => {
      const message = worker.busy.get(id);
      worker.busy.delete(id);
      raise(done, `syncs ${how}`);
      if (why !== undefined) raise(failures, why.replace(/\d+/g, "N"));
      if (how === "failed" && message) again(message);
    });
    child.on("exit", () => {
      workers.splice(workers.indexOf(worker), 1);
      if (closed) return;
      for (const message of worker.busy.values()) again(message);
      start();
    });
    return worker;
  };
  const some = (from: readonly Worker[]): Worker | undefined =>
    from[Math.floor(Math.random() * from.length)];
  const deliver = (message: SyncMessage): void => {
    const worker = some(workers.filter(({ stopped }) => !stopped));
    if (!worker || closed) return;
    const id = ++ids;
    worker.busy.set(id, message);
    // A worker that was just killed takes no message any more; its exit, which follows, delivers
    // what it was busy with again.
    worker.child.send({ id, message }, (error) => {
      if (error) raise(failures, `a message to a killed worker: ${error.message}`);
    });
    // As the platform ends what outlives its life, stopped or not.
    setTimeout(() => {
      if (!worker.busy.has(id) || worker.child.exitCode !== null) return;
      raise(done, "workers ended at the end of a life");
      worker.child.kill("SIGKILL");
    }, DEFAULT_TIMING.lifeMs).unref();
  };
  const again = (message: SyncMessage): void =>
    void setTimeout(() => deliver(message), AGAIN_MS).unref();
  for (let at = 0; at < count; at++) start();
  return {
    deliver,
    done,
    failures,
    disturb: () => {
      // Most often one that is at work.
      const worker =
        some(workers.filter(({ busy, stopped }) => !stopped && busy.size > 0)) ??
        some(workers.filter(({ stopped }) => !stopped));
      if (!worker) return;
      if (Math.random() < KILL_SHARE) {
        raise(done, "workers killed");
        worker.child.kill("SIGKILL");
        return;
      }
      raise(done, "workers stopped");
      worker.stopped = true;
      worker.child.kill("SIGSTOP");
      setTimeout(() => goOn(worker), Math.random() ** 2 * STOP_MAX_MS).unref();
    },
    calm: () => {
      for (const worker of workers) if (worker.stopped) goOn(worker);
    },
    close: () => {
      closed = true;
      for (const { child } of workers) child.kill("SIGKILL");
    },
  };
};

const goOn = (worker: Worker): void => {
  worker.stopped = false;
  worker.child.kill("SIGCONT");
};

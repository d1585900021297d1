import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Every question for an external metric, with its time. */
export const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    {
      level: "Metadata",
      verbs: ["get", "list"],
      resources: [{ group: "external.metrics.k8s.io" }],
    },
    { level: "None" },
  ],
});

/** Sees in the audit log when the HPA controller asks the metrics server of KEDA. */
export interface HpaSyncs {
  /**
   * Waits until the HPA of this namespace has asked after `fromMs`; false where it has not by
   * `untilMs`, as beside a workload at 0.
   */
  readonly after: (
    namespace: string,
    times: { readonly fromMs: number; readonly untilMs: number },
  ) => Promise<boolean>;
}

const LOOK_AGAIN_MS = 50;

export const hpaSyncs = (auditLog: string): HpaSyncs => {
  const askedMs = new Map<string, number>();
  let [read, rest] = [0, ""];
  const readOn = (): void => {
    if (!existsSync(auditLog)) return;
    const bytes = Buffer.alloc(statSync(auditLog).size - read);
    const file = openSync(auditLog, "r");
    read += readSync(file, bytes, 0, bytes.length, read);
    closeSync(file);
    const lines = (rest + bytes.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { objectRef, requestReceivedTimestamp } = JSON.parse(line) as Audited;
      if (objectRef?.namespace !== undefined)
        askedMs.set(objectRef.namespace, Date.parse(requestReceivedTimestamp));
    }
  };
  return {
    after: async (namespace, { fromMs, untilMs }) => {
      for (;;) {
        readOn();
        if ((askedMs.get(namespace) ?? 0) >= fromMs) return true;
        if (Date.now() >= untilMs) return false;
        await wait(LOOK_AGAIN_MS);
      }
    },
  };
};

interface Audited {
  readonly objectRef?: { readonly namespace?: string };
  readonly requestReceivedTimestamp: string;
}

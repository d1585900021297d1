import { readFileSync } from "node:fs";
import * as z from "zod";

/** Of every write of a scale, what was asked and what was answered; of nothing else anything. */
export const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    {
      level: "Request",
      verbs: ["update"],
      resources: [{ group: "apps", resources: ["deployments/scale"] }],
    },
    { level: "None" },
  ],
});

/** A PUT of `scale` as the API server saw it. */
export interface AuditedPut {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly status: number;
  /** When the request came, and when it was answered: it took effect in between. */
  readonly fromMs: number;
  readonly untilMs: number;
}

const line = z.object({
  stage: z.string(),
  objectRef: z.object({ namespace: z.string(), name: z.string() }),
  requestObject: z.object({ spec: z.object({ replicas: z.number().default(0) }) }).optional(),
  responseStatus: z.object({ code: z.number() }).optional(),
  requestReceivedTimestamp: z.string(),
  stageTimestamp: z.string(),
});

/** The PUTs of an audit log in the order in which they were answered. */
export const auditedPuts = (file: string): readonly AuditedPut[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => line.parse(JSON.parse(text)))
    .filter(({ stage }) => stage === "ResponseComplete")
    .map(
      ({ objectRef, requestObject, responseStatus, requestReceivedTimestamp, stageTimestamp }) => ({
        ...objectRef,
        replicas: requestObject?.spec.replicas ?? 0,
        status: responseStatus?.code ?? 0,
        fromMs: Date.parse(requestReceivedTimestamp),
        untilMs: Date.parse(stageTimestamp),
      }),
    )
    .sort((one, other) => one.untilMs - other.untilMs);

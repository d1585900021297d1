import { readFileSync } from "node:fs";
import * as z from "zod";

const rule = (verbs: readonly string[], group: string, resources: readonly string[]): object => ({
  level: "Metadata",
  verbs,
  resources: [{ group, resources }],
});

/**
 * Of every write of a count, every deletion of an HPA and every LIST of Deployments, who did it and
 * when.
 */
export const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    rule(["update", "patch"], "apps", ["deployments/scale", "deployments"]),
    rule(["delete"], "autoscaling", ["horizontalpodautoscalers"]),
    rule(["list"], "apps", ["deployments"]),
    { level: "None" },
  ],
});

/**
 * A request that the API server answered with 2xx: it took effect between `fromMs` and `untilMs`.
 */
export interface AuditedRequest {
  readonly what: "scale" | "delete" | "list";
  readonly by: string;
  /** Empty for a LIST. */
  readonly path: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

const Line = z.object({
  stage: z.string(),
  verb: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z.object({
    namespace: z.string().default(""),
    name: z.string().default(""),
    subresource: z.string().optional(),
  }),
  responseStatus: z.object({ code: z.number() }).optional(),
  requestReceivedTimestamp: z.string(),
  stageTimestamp: z.string(),
});

const WHAT: Readonly<Record<string, AuditedRequest["what"]>> = {
  update: "scale",
  patch: "scale",
  delete: "delete",
  list: "list",
};

/**
 * The requests of an audit log that succeeded, in the order in which they were answered. A last
 * line that is not whole yet is left out.
 */
export const auditedRequests = (file: string): readonly AuditedRequest[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((text) => Line.parse(JSON.parse(text)))
    .flatMap(
      ({
        stage,
        verb,
        user,
        objectRef,
        responseStatus,
        requestReceivedTimestamp,
        stageTimestamp,
      }): readonly AuditedRequest[] => {
        const what = WHAT[verb];
        const code = responseStatus?.code ?? 0;
        // A write of the object itself is the one of the workload controllers, which change no
        // count.
        if (
          !what ||
          stage !== "ResponseComplete" ||
          code >= 300 ||
          (what === "scale" && objectRef.subresource !== "scale")
        )
          return [];
        const { namespace, name } = objectRef;
        const times = {
          fromMs: Date.parse(requestReceivedTimestamp),
          untilMs: Date.parse(stageTimestamp),
        };
        return [
          { what, by: user.username, path: name === "" ? "" : `${namespace}/${name}`, ...times },
        ];
      },
    )
    .toSorted((one, other) => one.untilMs - other.untilMs);

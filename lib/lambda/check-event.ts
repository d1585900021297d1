import * as z from "zod";
import type { CheckedConnection, ConnectionReport } from "../stack/cluster/check/report.ts";
import type { FieldsOf } from "../answers/views/view-of.ts";
import { finding } from "../answers/views/doctor.ts";
import { clusterName } from "../rules/model/ids.ts";
import { SPEC_KIND_NAMES } from "../rules/model/spec.ts";
import { connectionFields } from "../stack/store/records/schemas.ts";

/**
 * The event with which `connect` has `sync` look at a cluster, and its answer. A check is true only
 * for the function that it runs in: its role is the user of the cluster, and its network leads
 * there.
 */
const { eks, secret } = connectionFields({ text: z.string(), caData: z.string() });
/** No kubeconfig: a function reads no file. */
export const checkedBy = z.discriminatedUnion("kind", [
  z.strictObject(secret),
  z.strictObject(eks),
]);
const event = z.strictObject({
  check: z.strictObject({
    name: z.string(),
    connection: checkedBy,
    namespaces: z.array(z.string()).exactOptional(),
    kinds: z.array(z.strictObject({ group: z.string(), plural: z.string() })).exactOptional(),
    targets: z.array(z.strictObject({ apiVersion: z.string(), kind: z.string() })).exactOptional(),
    workload: z
      .strictObject({
        apiVersion: z.string(),
        kind: z.string(),
        namespace: z.string(),
        name: z.string(),
      })
      .exactOptional(),
    scaled: z
      .strictObject({
        namespace: z.string(),
        target: z.strictObject({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
        minReplicas: z.number(),
        maxReplicas: z.number(),
        requestShares: z.array(
          z.strictObject({ resource: z.string(), container: z.string().exactOptional() }),
        ),
      })
      .exactOptional(),
    specsFromCluster: z.array(z.enum(SPEC_KIND_NAMES)).exactOptional(),
  }),
});

/** The cluster to look at. Throws for an event that is not well-formed. */
export const checkIn = (payload: unknown): CheckedConnection => {
  const { name, ...rest } = event.parse(payload).check;
  return { name: clusterName(name), ...rest };
};

export const checkEvent = (check: CheckedConnection): string => JSON.stringify({ check });

const report: z.ZodType<ConnectionReport> = z.object({
  name: z.string(),
  usable: z.boolean(),
  checks: z.array(
    z.object({
      check: z.string(),
      result: z.enum(["passed", "warning", "failed", "skipped"]),
      message: z.string(),
      fix: z.string().exactOptional(),
    }),
  ),
  kubeSystemUid: z.string().exactOptional(),
  serverVersion: z.string().exactOptional(),
  findings: z.array(finding).exactOptional(),
} satisfies FieldsOf<ConnectionReport>);

/** The report in an answer; undefined for any other answer. */
export const reportIn = (payload: unknown): ConnectionReport | undefined => {
  const parsed = report.safeParse(payload);
  return parsed.success ? parsed.data : undefined;
};

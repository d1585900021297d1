import * as z from "zod";
import { clusterName } from "../rules/model/ids.ts";
import type { CheckedSource } from "../stack/source-client/check-source.ts";
import { sourceSchema } from "../stack/store/records/metric-sources.ts";
import { checkedBy } from "./check-event.ts";

/**
 * The event with which `connect` has `sync` ask a metric source: the answer is true only for the
 * function that it runs in, with its role and its network. Its report is the one of a cluster.
 */
const text = z.string().exactOptional();
const event = z.strictObject({
  checkSource: z.strictObject({
    source: sourceSchema,
    cluster: z.strictObject({ name: z.string() }),
    reached: z
      .strictObject({ connection: checkedBy, kubeSystemUid: z.string().exactOptional() })
      .exactOptional(),
    question: z.strictObject({ query: text, path: text, pointer: text, queue: text }),
  }),
});

/** The source to ask. Throws for an event that is not well-formed. */
export const checkedSourceIn = (payload: unknown): CheckedSource => {
  const { cluster, ...rest } = event.parse(payload).checkSource;
  return { cluster: { name: clusterName(cluster.name) }, ...rest };
};

export const sourceEvent = (checkSource: CheckedSource): string => JSON.stringify({ checkSource });

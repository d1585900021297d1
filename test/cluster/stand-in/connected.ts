import type { Access } from "../../../lib/stack/cluster/access/access.ts";
import { type CallBudget, callBudget } from "../../../lib/stack/cluster/transport/budget.ts";
import { clusterTransport } from "../../../lib/stack/cluster/transport/same-cluster.ts";
import type { Transport } from "../../../lib/stack/cluster/transport/transport.ts";
import type { StandIn } from "./server.ts";

export const accessTo = (
  server: Pick<StandIn, "url" | "ca">,
  more: Partial<Access> = {},
): Access => ({
  server: new URL(server.url),
  ca: server.ca,
  rejectUnauthorized: true,
  ownAddresses: true,
  credentials: async () => ({ headers: { authorization: "Bearer open-sesame" } }),
  forget: () => undefined,
  ...more,
});

export const transportTo = (
  server: Pick<StandIn, "url" | "ca">,
  more: Partial<Access> & { readonly clock?: () => number } = {},
): Transport => {
  const { clock = Date.now, ...access } = more;
  return clusterTransport({
    cluster: "eu-1",
    kubeSystemUid: undefined,
    access: accessTo(server, access),
    clock,
    elapsed: () => performance.now(),
  });
};

export const budgetOf = (
  budgetMs = 5_000,
  limits: { readonly maxCalls?: number; readonly maxBytes?: number } = {},
): CallBudget =>
  callBudget({
    budgetMs,
    maxCalls: limits.maxCalls ?? 1_000,
    maxBytes: limits.maxBytes ?? 1e9,
    elapsed: () => performance.now(),
  });

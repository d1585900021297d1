import { clusterName } from "../../lib/rules/model/ids.ts";
import { held, recordOf } from "../service/world/shop.ts";
import { storeSync } from "../service/world/synced.ts";
import type { ServiceWorld } from "../service/world/context.ts";

export const COMPARED = { cluster: "eu-1", namespace: "shop", name: "late" } as const;
const PERIOD_MS = 15_000;

/** What Tidemark and the HPA of the workload want, one sync after the other. */
const WANTED: readonly (readonly [own: number, rival: number])[] = [
  ...Array.from({ length: 8 }, () => [4, 4] as const),
  ...Array.from({ length: 2 }, () => [6, 4] as const),
  ...Array.from({ length: 12 }, () => [6, 6] as const),
  ...Array.from({ length: 6 }, () => [4, 6] as const),
  ...Array.from({ length: 8 }, () => [4, 4] as const),
];

/**
 * Syncs from an instant on in which an HPA decides beside Tidemark, once each later and once each
 * earlier. Returns the instant of the last one.
 */
export const storeCompared = async ({ context }: ServiceWorld, fromMs: number): Promise<number> => {
  const record = await recordOf(context, COMPARED.name);
  const web = held(await recordOf(context, "web"));
  for (const [at, [own, rival]] of WANTED.entries()) {
    const because = { reason: "WithinTolerance", message: `the metrics ask for ${own}` };
    const evaluation = {
      ...{ ...web.evaluation, from: rival, because },
      withoutHold: { to: own, because },
      rivals: [
        {
          ...{ kind: "HorizontalPodAutoscaler", name: COMPARED.name, uid: "uid-hpa" },
          ...{ desiredReplicas: rival },
          because: { reason: "ValidMetricFound", message: "the HPA found a valid metric" },
        },
      ],
    };
    const outcomes = [web, { ...web, record, evaluation }];
    await storeSync(context, clusterName(COMPARED.cluster), fromMs + at * PERIOD_MS, outcomes);
  }
  return fromMs + (WANTED.length - 1) * PERIOD_MS;
};

import type { Service } from "../../lib/answers/service/service.ts";
import { DAY_MS, dayText } from "../../lib/rules/model/time-text.ts";

const MANIFEST = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: office, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: office }
  minReplicas: 2
  maxReplicas: 40
  metrics: [{ resource: { name: cpu }, target: 60 }]
  schedule:
    - { name: office, timeZone: America/New_York, days: [Mon-Fri], from: "08:00", to: "18:00", minReplicas: 10, rampMinutes: { in: 60, out: 60 }, exceptFrom: us }
    - { name: weekend, timeZone: Europe/Berlin, days: [Fri], from: "20:00", to: "07:00", toDay: Mon, maxReplicas: 15 }
`;

/** The tests begin on a Sunday. */
const DAYS_TO_WEDNESDAY = 3;

/**
 * An autoscaler with a schedule in two zones, one of which changes its clock within two weeks, a
 * calendar that leaves one window out, and an override that is ahead.
 */
export const applyScheduled = async (
  service: Service,
  cluster: string,
  nowMs: number,
): Promise<void> => {
  await service.putCalendar({
    name: "us",
    dates: [dayText(Math.floor(nowMs / DAY_MS) + DAYS_TO_WEDNESDAY)],
  });
  await service.apply([{ file: "office.yaml", text: MANIFEST }], {
    cluster,
    dryRun: false,
  });
  await service.setOverride({
    ...{ cluster, namespace: "shop", name: "office", min: 20, max: 30, reason: "TV spot" },
    fromMs: nowMs + 5 * DAY_MS,
    untilMs: nowMs + 6 * DAY_MS,
  });
};

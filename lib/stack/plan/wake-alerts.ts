import * as z from "zod";
import { WAKE_LIMITS } from "../../rules/model/wake.ts";

/** What an alert or an event asks to sync. The names are as they were sent, and are checked later. */
export interface WantedWake {
  readonly cluster: string;
  readonly namespace?: string;
  readonly names?: readonly string[];
  readonly reason: string;
}

const LABEL_CHARACTERS_MAX = 63;
export const alertLabel = z
  .string()
  .max(LABEL_CHARACTERS_MAX, `must have at most ${LABEL_CHARACTERS_MAX} characters`)
  .regex(/^[!-~]+$/, "must be printable ASCII without blanks, and not empty");

/**
 * An alert of Alertmanager or of Grafana. Both send more fields and labels, which vary with their
 * versions: they are passed over.
 */
const alert = z.looseObject({
  status: z.string(),
  labels: z.looseObject({
    alertname: z.string().optional(),
    cluster: alertLabel,
    namespace: alertLabel.optional(),
    autoscaler: alertLabel.optional(),
  }),
});

/** The field of both payloads that names what is woken. */
export const alerts = z
  .array(alert)
  .max(WAKE_LIMITS.alerts, `must have at most ${WAKE_LIMITS.alerts} items; group fewer`);

/** The body that Alertmanager and Grafana post to a webhook. */
export const alertPayload = z.looseObject({ alerts });

const FIRING = "firing";

/**
 * The wakes of the firing alerts, one for each place. One that is resolved wakes nothing: less load
 * can wait for the planned sync.
 */
export const wakesOfAlerts = (sent: z.infer<typeof alerts>): readonly WantedWake[] => {
  const firing = sent.filter(({ status }) => status === FIRING);
  const places = Map.groupBy(firing, ({ labels: { cluster, namespace = "" } }) =>
    JSON.stringify([cluster, namespace]),
  );
  return [...places.values()].flatMap((of) => wakeOfPlace(of) ?? []);
};

const wakeOfPlace = (of: z.infer<typeof alerts>): WantedWake | undefined => {
  const [first] = of;
  if (!first) return undefined;
  const { cluster, namespace, alertname = "without a name" } = first.labels;
  const names = [...new Set(of.flatMap(({ labels }) => labels.autoscaler ?? []))];
  const namesAll = of.every(({ labels }) => labels.autoscaler !== undefined);
  return {
    cluster,
    ...(namespace !== undefined && { namespace }),
    ...(namesAll && names.length <= WAKE_LIMITS.names && { names }),
    reason: `alert ${alertname}`,
  };
};

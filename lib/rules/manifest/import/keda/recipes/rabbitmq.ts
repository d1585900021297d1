import type { Json } from "../../../../model/json.ts";
import { changed, lost, textOf } from "../../schedules/timed.ts";
import { label, type Recipe, selector } from "./recipe.ts";

const isTrue = (value: unknown): boolean => String(value).toLowerCase() === "true";

/** The virtual host that the trigger names, by itself or in its URL; "/" where the URL has none. */
const vhostOf = (metadata: Json): string | undefined => {
  const named = textOf(metadata["vhostName"]);
  const host = textOf(metadata["host"]);
  if (named !== undefined || host === undefined || !URL.canParse(host)) return named;
  const path = new URL(host).pathname.slice(1);
  return path === "" ? "/" : decodeURIComponent(path);
};

/** The scheme of the host decides where no protocol is written. */
const protocolOf = (metadata: Json): string | undefined => {
  const written = textOf(metadata["protocol"]) ?? "auto";
  const host = textOf(metadata["host"]) ?? "";
  return written === "auto" ? /^(amqp|http)s?:/.exec(host)?.[1] : written;
};

/** The reader of AMQP counts what waits; the management API counts what is not acknowledged, too. */
const countsWaiting = (metadata: Json): boolean =>
  isTrue(metadata["excludeUnacknowledged"]) || protocolOf(metadata) === "amqp";

/** Messages of queues, by the plugin rabbitmq_prometheus with one series for each queue. */
export const RABBITMQ: Recipe = {
  exporter: "rabbitmq_prometheus (/metrics/per-object)",
  target: { fields: ["value", "queueLength"], otherwise: "20" },
  activation: "activationValue",
  needed: ["queueName"],
  read: [
    "queueName",
    "mode",
    "protocol",
    "vhostName",
    "excludeUnacknowledged",
    "useRegex",
    "operation",
  ],
  query: (metadata) => {
    const queue = textOf(metadata["queueName"]) ?? "";
    const vhost = vhostOf(metadata);
    const regex = isTrue(metadata["useRegex"]);
    const messages = selector(
      countsWaiting(metadata) ? "rabbitmq_queue_messages_ready" : "rabbitmq_queue_messages",
      [
        regex ? `queue=~${JSON.stringify(`.*(?:${queue}).*`)}` : label("queue", queue),
        vhost === undefined ? undefined : label("vhost", vhost),
      ],
    );
    const operation = textOf(metadata["operation"]) ?? "sum";
    return `${["max", "avg"].includes(operation) ? operation : "sum"}(${messages})`;
  },
  ofExporter: [
    "host",
    "username",
    "password",
    "authMode",
    "authModes",
    "apiKey",
    "method",
    "keyParamName",
    "unsafeSsl",
    "tls",
    "timeout",
    "pageSize",
    "workloadIdentityResource",
  ],
  refused: {},
  details: (metadata, of) => [
    ...(textOf(metadata["queueLength"]) !== undefined &&
    ["mode", "value"].some((field) => textOf(metadata[field]) !== undefined)
      ? [lost(`${of}: queueLength`, "KEDA refuses it beside mode and value: remove it")]
      : []),
    ...(["QueueLength", undefined].includes(textOf(metadata["mode"]))
      ? []
      : [
          lost(
            `${of}: mode`,
            `only QueueLength is carried over, and it is "${String(metadata["mode"])}"; write the rate of the series by hand`,
          ),
        ]),
    ...(protocolOf(metadata) === undefined && !isTrue(metadata["excludeUnacknowledged"])
      ? [
          changed(
            `${of}: protocol`,
            "the trigger does not show whether KEDA asks by AMQP, which leaves out messages that are not acknowledged yet; they are counted here: write rabbitmq_queue_messages_ready if they shall not be",
          ),
        ]
      : []),
    ...(vhostOf(metadata) === undefined
      ? [
          changed(
            `${of}: vhostName`,
            "the trigger names no virtual host that can be read, so that queues of this name in all of them are added up",
          ),
        ]
      : []),
  ],
};

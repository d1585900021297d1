import { exchange } from "../stack/cluster/transport/exchange.ts";
import type { CloudEvent } from "../answers/cloud-events/kinds.ts";
import type { EventLimits, EventAnswer, OutgoingEvent } from "../answers/cloud-events/in-order.ts";
import { foreignText } from "../rules/model/foreign-text.ts";
import { asList, asObject, asText, jsonIn } from "../rules/model/json.ts";
import { type Signer, signed } from "./signed-request.ts";

/** The right that this call needs. A test compares the roles of the stack with it. */
const PUT_RIGHT = "events:PutEvents";

const PUT = { timeoutMs: 3_000, maxBytes: 64 * 1024 };

/** EventLimits of PutEvents: 10 entries, and 256 KB of all of them. */
export const PUT_LIMITS: EventLimits = { events: 10, bytes: 256 * 1024 };

/** What rules match as `source`. AWS keeps names that begin with `aws.` for itself. */
const BUS_SOURCE = "tidemark";

/** AWS counts the time of an entry as so much, whatever its text. */
const TIME_BYTES = 14;

/** An event as the bus takes it. */
export interface BusEvent extends OutgoingEvent {
  readonly entry: {
    readonly Source: string;
    readonly DetailType: string;
    readonly Detail: string;
    readonly Time: number;
  };
}

/**
 * The entry of an event: `detail` is the event in the JSON of CloudEvents, so that a rule matches
 * on `detail.cluster` and a target gets the event whole.
 */
export const busEventOf = (event: CloudEvent): BusEvent => {
  const whole = busEvent(event);
  return whole.bytes <= PUT_LIMITS.bytes ? whole : busEvent(shortened(event));
};

const busEvent = (event: CloudEvent): BusEvent => {
  const entry = {
    Source: BUS_SOURCE,
    DetailType: event.type,
    Detail: JSON.stringify(event),
    Time: Date.parse(event.time) / 1_000,
  };
  const texts = [entry.Source, entry.DetailType, entry.Detail];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), TIME_BYTES);
  return { subject: event.subject, bytes, entry };
};

/** A scale whose metrics and steps are larger than an entry may be is sent without them. */
const shortened = (event: CloudEvent): CloudEvent =>
  event.kind === "scale" ? { ...event, data: { ...event.data, metrics: [], steps: [] } } : event;

/** Errors of an entry, or of a request, after which the same may be accepted. */
const LATER =
  /^(?:InternalFailure|InternalException|InternalError|ThrottlingException|ServiceUnavailable|LimitExceededException|RequestExpired|ExpiredToken\w*|AccessDenied\w*|NotAuthorized\w*|ResourceNotFound\w*|UnrecognizedClient\w*)$/;

/**
 * Puts events on a bus, one answer for each. A bus that cannot be reached, or that may not be
 * written, is asked again: its owner can repair it, and an event that was set aside would be lost
 * to its rules.
 */
export const putsEvents =
  (
    signer: Signer,
    bus: string,
  ): ((events: readonly BusEvent[]) => Promise<readonly EventAnswer[]>) =>
  async (events) => {
    const request = {
      service: "events",
      path: "/",
      contentType: "application/x-amz-json-1.1",
      target: "AWSEvents.PutEvents",
      body: JSON.stringify({
        Entries: events.map(({ entry }) => ({ ...entry, EventBusName: bus })),
      }),
    } as const;
    const answer = await exchange({ ...(await signed(signer, request)), ...PUT });
    const all = (why: string): readonly EventAnswer[] => events.map(() => ({ kind: "later", why }));
    if (answer.kind === "broken") return all(foreignText(answer.error.message));
    const text = answer.bytes.toString("utf8");
    if (answer.status !== 200)
      return all(
        `EventBridge answered ${answer.status}: ${foreignText(text)} (${PUT_RIGHT} on ${bus} is needed)`,
      );
    const entries = asList(asObject(jsonIn(text))["Entries"]);
    if (entries.length !== events.length) return all("EventBridge did not answer for each event");
    return entries.map((entry) => sentOf(asObject(entry)));
  };

const sentOf = (entry: Readonly<Record<string, unknown>>): EventAnswer => {
  if (asText(entry["EventId"]) !== "") return { kind: "accepted" };
  const code = asText(entry["ErrorCode"]);
  const why = foreignText(`${code}: ${asText(entry["ErrorMessage"])}`);
  return { kind: code === "" || LATER.test(code) ? "later" : "never", why };
};

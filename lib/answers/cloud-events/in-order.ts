/** An event on its way, with what a request counts of it. */
export interface OutgoingEvent {
  /** Events of one subject are sent in their order. */
  readonly subject: string;
  readonly bytes: number;
}

/** What became of one event of a request. */
export type EventAnswer =
  | { readonly kind: "accepted" }
  /** It may be accepted when it is sent again. */
  | { readonly kind: "later"; readonly why: string }
  /** It never will be. */
  | { readonly kind: "never"; readonly why: string };

export interface EventLimits {
  readonly events: number;
  readonly bytes: number;
}

export interface EventDelivery<Event extends OutgoingEvent> {
  readonly limits: EventLimits;
  /** One answer for each event, in their order. */
  readonly send: (events: readonly Event[]) => Promise<readonly EventAnswer[]>;
  /** Keeps what is never accepted. */
  readonly setAside: (event: Event, why: string) => Promise<void>;
  /** Rounds without any progress, before the rest is left. */
  readonly attempts: number;
  readonly wait: (attempt: number) => Promise<void>;
}

/**
 * The next request: the first event of each subject, as many as fit. A request can be accepted in
 * part, so two events of one subject are never in one: the second could be accepted before the
 * first.
 */
export const nextRequest = <Event extends OutgoingEvent>(
  waiting: readonly Event[],
  limits: EventLimits,
): readonly Event[] => {
  const subjects = new Set<string>();
  const chosen: Event[] = [];
  let bytes = 0;
  for (const event of waiting) {
    if (chosen.length === limits.events) break;
    if (subjects.has(event.subject)) continue;
    // An event that does not fit keeps its turn, and with it the later events of its subject.
    subjects.add(event.subject);
    if (chosen.length > 0 && bytes + event.bytes > limits.bytes) continue;
    chosen.push(event);
    bytes += event.bytes;
  }
  return chosen;
};

/**
 * Sends events, each at least once, events of one subject in their order. Returns the events that
 * were not accepted, in the order in which they came, and why.
 */
export const sendInOrder = async <Event extends OutgoingEvent>(
  events: readonly Event[],
  { limits, send, setAside, attempts, wait }: EventDelivery<Event>,
): Promise<{ readonly left: readonly Event[]; readonly why?: string }> => {
  let left = events;
  for (let attempt = 0; left.length > 0; ) {
    const request = nextRequest(left, limits);
    const { done, why } = await settled(request, await send(request), setAside);
    left = left.filter((event) => !done.has(event));
    attempt = done.size > 0 ? 0 : attempt + 1;
    if (attempt === attempts) return { left, why };
    if (why !== "") await wait(Math.max(1, attempt));
  }
  return { left };
};

/** The events of a request that need not be sent again, and why the first of the others must be. */
const settled = async <Event extends OutgoingEvent>(
  request: readonly Event[],
  answers: readonly EventAnswer[],
  setAside: EventDelivery<Event>["setAside"],
): Promise<{ readonly done: ReadonlySet<Event>; readonly why: string }> => {
  const done = new Set<Event>();
  let why = "";
  for (const [at, event] of request.entries()) {
    const answer = answers[at] ?? { kind: "later", why: "the answer does not name it" };
    if (answer.kind === "never") await setAside(event, answer.why);
    if (answer.kind === "later") why ||= answer.why;
    else done.add(event);
  }
  return { done, why };
};

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { cloudEvent, type CloudEvent } from "../../lib/answers/cloud-events/kinds.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";

interface Entry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
  readonly Time: number;
}

/** What the bus answers for an entry: it takes it, or an error code. */
export type Refuse = (event: CloudEvent, entry: Entry) => string | undefined;

export interface EventBus {
  readonly url: string;
  /** What it has taken, in order. */
  readonly taken: CloudEvent[];
  readonly entries: Entry[];
  readonly requests: number;
  /** The rule of the next requests. A status refuses a request whole. */
  refuse: Refuse;
  status: number;
  readonly close: () => Promise<void>;
}

/**
 * A stand-in of PutEvents over HTTP, with the limits of its documentation: 10 entries, 256 KB, a
 * detail that is a JSON object; each entry is taken or refused by itself.
 */
export const startEventBus = async (): Promise<EventBus> => {
  let requests = 0;
  const bus = { taken: [] as CloudEvent[], entries: [] as Entry[], status: 200 };
  const answerOf = (body: string): object => {
    const { Entries } = JSON.parse(body) as { readonly Entries: readonly Entry[] };
    const bytes = Entries.reduce(
      (sum, { Source, DetailType, Detail }) =>
        sum +
        14 +
        Buffer.byteLength(Source) +
        Buffer.byteLength(DetailType) +
        Buffer.byteLength(Detail),
      0,
    );
    if (Entries.length === 0 || Entries.length > 10 || bytes > 256 * 1024)
      throw new RangeError(`${Entries.length} entries of ${bytes} bytes`);
    const answers = Entries.map((entry) => {
      const event = cloudEvent.parse(JSON.parse(entry.Detail)) as CloudEvent;
      const code = running.refuse(event, entry);
      if (code !== undefined) return { ErrorCode: code, ErrorMessage: "planted" };
      bus.taken.push(event);
      bus.entries.push(entry);
      return { EventId: `bus-${bus.taken.length}` };
    });
    return {
      FailedEntryCount: answers.filter((one) => "ErrorCode" in one).length,
      Entries: answers,
    };
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests++;
      if (request.headers["x-amz-target"] !== "AWSEvents.PutEvents")
        return response.writeHead(400).end('{"__type":"UnknownOperationException"}');
      if (running.status !== 200)
        return response.writeHead(running.status).end('{"__type":"planted"}');
      try {
        return response.writeHead(200).end(JSON.stringify(answerOf(body)));
      } catch (error) {
        return response.writeHead(400).end(JSON.stringify({ __type: String(error) }));
      }
    });
  });
  const url = await listenOnLoopback(server);
  const running: EventBus = Object.assign(bus, {
    url,
    refuse: (): undefined => undefined,
    get requests() {
      return requests;
    },
    close: () => closeServer(server),
  });
  Object.defineProperty(running, "requests", { get: () => requests });
  return running;
};

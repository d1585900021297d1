import { EventEmitter } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";

/** What a request listener answered. */
export interface ListenerAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const METHOD = "POST";

/**
 * Sends one request to a request listener of the embedded engine in this process, without a socket: no connection, no parsing of HTTP. Request and response have only the members that the
 * listener uses. Throws what the listener throws before it answers.
 */
export const callListener = (listener: RequestListener, headers: OutgoingHttpHeaders, body: Uint8Array): Promise<ListenerAnswer> =>
  new Promise((resolve) => {
    const request = Object.assign(new EventEmitter(), { method: METHOD, url: "/", headers });
    const answered: Record<string, string> = {};
    const response = {
      statusCode: 200,
      setHeader: (name: string, value: unknown) => {
        answered[name.toLowerCase()] = String(value);
      },
      end: (text = "") => resolve({ status: response.statusCode, headers: answered, body: Buffer.from(text) }),
    };
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    request.emit("data", Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    request.emit("end");
  });

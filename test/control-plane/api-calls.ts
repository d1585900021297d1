import * as https from "node:https";
import { text } from "node:stream/consumers";

export interface Called {
  readonly status: number;
  readonly body: string;
}

export interface ApiCalls {
  /** One request with a JSON body; whatever the server says is the answer. */
  readonly call: (
    method: string,
    path: string,
    body?: object,
    type?: string,
    accept?: string,
  ) => Promise<Called>;
  readonly close: () => void;
}

const SOCKETS_MAX = 64;

export const apiCalls = ({
  url,
  ca,
  token,
}: {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}): ApiCalls => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: SOCKETS_MAX, ca });
  return {
    call: (method, path, body, type = "application/json", accept = "application/json") =>
      new Promise((resolve, reject) => {
        const sent = body === undefined ? undefined : JSON.stringify(body);
        const headers = {
          authorization: `Bearer ${token}`,
          accept,
          ...(sent !== undefined && {
            "content-type": type,
            "content-length": Buffer.byteLength(sent),
          }),
        };
        const request = https.request(
          new URL(path, url),
          { agent, method, headers },
          (response) => {
            text(response).then(
              (answer) => resolve({ status: response.statusCode ?? 0, body: answer }),
              reject,
            );
          },
        );
        request.on("error", reject);
        request.end(sent);
      }),
    close: () => agent.destroy(),
  };
};

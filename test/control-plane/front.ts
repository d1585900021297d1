import type { IncomingMessage, ServerResponse } from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";

/** An answer in the API server's place. */
export interface Instead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

/**
 * Stands in front of an API server and passes everything on, but for what the real one cannot be
 * made to do surely.
 */
export interface Front {
  readonly url: string;
  readonly ca: string;
  /** Called before each request is passed on; what it gives is the answer. */
  intercept: (request: IncomingMessage) => Promise<Instead | undefined>;
  /** Status codes so far, those of the API server among them. */
  readonly answered: number[];
  readonly close: () => Promise<void>;
}

export const startFront = async (
  { url, ca }: { readonly url: string; readonly ca: string },
  dir: string,
): Promise<Front> => {
  const { certificatePem, keyPem, caPem } = await serverCredentials(dir, Date.now());
  const agent = new https.Agent({ keepAlive: true, ca });
  const front: Pick<Front, "intercept" | "answered"> = {
    intercept: async () => undefined,
    answered: [],
  };
  const server = https.createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    front.intercept(request).then(
      (instead) => {
        if (instead) answer(response, instead);
        else pass({ request, response, agent, url, answered: front.answered });
      },
      () => response.destroy(),
    );
  });
  const answer = (response: ServerResponse, { status, headers = {}, body }: Instead): void => {
    front.answered.push(status);
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(front, {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: caPem,
    close: () =>
      new Promise<void>((resolve) => {
        agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};

interface Passing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly agent: https.Agent;
  readonly url: string;
  readonly answered: number[];
}

const pass = ({ request, response, agent, url, answered }: Passing): void => {
  const { method, headers } = request;
  const onward = https.request(
    new URL(request.url ?? "", url),
    { method, headers, agent },
    (answer) => {
      answered.push(answer.statusCode ?? 0);
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.destroy());
  request.pipe(onward);
};

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface AwsCall {
  /** Method and path: "GET /clusters/prod". */
  readonly request: string;
  readonly target: string;
  readonly authorization: string;
  readonly body: string;
}

export interface AwsEndpoint {
  readonly url: string;
  readonly calls: AwsCall[];
  answer: (call: AwsCall) => {
    readonly status: number;
    readonly type: string;
    readonly body: string;
  };
  readonly close: () => Promise<void>;
}

/**
 * An HTTP endpoint on loopback for the real AWS SDK clients; they are sent to it by
 * AWS_ENDPOINT_URL_….
 */
export const awsEndpoint = async (): Promise<AwsEndpoint> => {
  const calls: AwsCall[] = [];
  const endpoint: Pick<AwsEndpoint, "answer"> = {
    answer: () => ({ status: 500, type: "text/plain", body: "no answer set" }),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const call: AwsCall = {
        request: `${request.method} ${request.url}`,
        target: String(request.headers["x-amz-target"] ?? ""),
        authorization: request.headers.authorization ?? "",
        body: Buffer.concat(chunks).toString("utf8"),
      };
      calls.push(call);
      const { status, type, body } = endpoint.answer(call);
      response.writeHead(status, { "content-type": type }).end(body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return Object.assign(endpoint, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  });
};

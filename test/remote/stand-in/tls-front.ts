import { type AddressInfo, connect } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Authority } from "../../cluster/stand-in/certificates.ts";

/**
 * The end of TLS in front of a server of loopback, as AWS has it in front of a function URL: the
 * server behind it sees the bytes that the client encrypted.
 */
export interface TlsFront {
  /** An address that the certificate names. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * The certificate is for the host of the options, by default for `localhost`, where the front
 * listens.
 */
export const startTlsFront = async (
  url: string,
  { issue }: Authority,
  options: Parameters<Authority["issue"]>[1] = {},
): Promise<TlsFront> => {
  const { hostname, port } = new URL(url);
  const open = new Set<TLSSocket>();
  const server = createServer(await issue("tls-front", options), (outer) => {
    open.add(outer);
    const inner = connect(Number(port), hostname);
    outer.pipe(inner).pipe(outer);
    // Where one side breaks, the other one does.
    outer.on("error", () => inner.destroy()).on("close", () => open.delete(outer));
    inner.on("error", () => outer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
};

import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerCredentials, serverCredentials } from "../../lib/embedded/host/certificates.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();

const folders: string[] = [];
const folder = async (): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), "tidemark-credentials-"));
  folders.push(made);
  return made;
};

let dataDir = "";
let credentials: ServerCredentials;
beforeAll(async () => {
  dataDir = await folder();
  credentials = await serverCredentials(dataDir, NOW_MS);
});
afterAll(() => Promise.all(folders.map((made) => rm(made, { recursive: true }))));

describe("serverCredentials()", () => {
  it("makes a CA and a server certificate for loopback, signed by it", () => {
    const ca = new X509Certificate(credentials.caPem);
    const server = new X509Certificate(credentials.certificatePem);
    expect(ca.ca).toBe(true);
    expect(server.ca).toBe(false);
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(server.verify(ca.publicKey)).toBe(true);
    expect(server.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(server.checkHost("localhost")).toBe("localhost");
    expect(server.checkHost("example.org")).toBeUndefined();
    expect(Date.parse(server.validFrom)).toBeLessThan(NOW_MS);
    expect(Date.parse(server.validTo) - Date.parse(server.validFrom)).toBeLessThan(398 * DAY_MS);
  });

  it("gives the same again, from a file that only its owner reads", async () => {
    expect(await serverCredentials(dataDir, NOW_MS + 300 * DAY_MS)).toEqual(credentials);
    expect((await stat(join(dataDir, "cluster-credentials.json"))).mode & 0o777).toBe(0o600);
  });

  it("makes others for every folder", async () => {
    const other = await serverCredentials(await folder(), NOW_MS);
    expect(other.token).not.toBe(credentials.token);
    expect(other.keyPem).not.toBe(credentials.keyPem);
    expect(credentials.token.length).toBeGreaterThanOrEqual(43);
  });

  it("is trusted with its own CA alone", async () => {
    const server = createServer({
      cert: credentials.certificatePem,
      key: credentials.keyPem,
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new TypeError("No port");
    const handshake = async (ca: string, host: string) => {
      const socket = connect({ host, port: address.port, ca });
      try {
        await once(socket, "secureConnect");
        return socket.authorized;
      } finally {
        socket.destroy();
      }
    };
    const other = await serverCredentials(await folder(), NOW_MS);
    try {
      expect(await handshake(credentials.caPem, "127.0.0.1")).toBe(true);
      await expect(handshake(other.caPem, "127.0.0.1")).rejects.toMatchObject({
        code: expect.stringMatching(/CERT|SIGNATURE|ISSUER/),
      });
    } finally {
      server.close();
      await once(server, "close");
    }
  });
});

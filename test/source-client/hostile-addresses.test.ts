import dns, { type LookupAddress } from "node:dns";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttp, type Server } from "node:http";
import { createServer, type Server as SecureServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { sourceClient, type SourceClient } from "../../lib/stack/source-client/source-client.ts";
import { authority } from "../cluster/stand-in/certificates.ts";
import {
  ask,
  keyOf,
  oneSeries,
  type PrometheusServer,
  prometheusServer,
  sourceRecord,
} from "./scene.ts";
import { runs } from "../runs.ts";

const LEFT = { cluster: "eu-1", leftMs: () => 3_000 };
let version = 0;
/** A new version each time: a source that failed often is asked less. */
const one = async (client: SourceClient, more: Partial<MetricSourceRecord>) => {
  version += 1;
  const answer = (await client.ask(sourceRecord({ ...more, version }), [ask("up")], LEFT)).get(
    keyOf("up"),
  );
  return answer?.kind === "failed" ? answer.failure.message : `it was ${answer?.kind}`;
};

/** Names resolve to these addresses, one list after the other; the last one stays. */
const resolveTo = (...lists: readonly (readonly string[])[]): readonly string[] => {
  const asked: string[] = [];
  const lookup = (
    name: string,
    _options: object,
    callback: (error: null, found: readonly LookupAddress[]) => void,
  ): void => {
    const addresses = lists[Math.min(asked.length, lists.length - 1)] ?? [];
    asked.push(name);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  vi.spyOn(dns, "lookup").mockImplementation(lookup as typeof dns.lookup);
  syncBuiltinESMExports();
  return asked;
};

describe("a name that a foreign server resolves", () => {
  let server: PrometheusServer;
  let client: SourceClient;
  beforeEach(async () => {
    server = await prometheusServer();
    client = sourceClient({ clock: Date.now, ownAddresses: false });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    client.close();
    await server.close();
  });

  const own =
    /its name resolves to an address of this machine, of its network link or of a metadata service/;

  it.each([
    ["this machine", ["127.0.0.1"]],
    ["the metadata service", ["169.254.169.254"]],
    ["the metadata service inside IPv6", ["::ffff:169.254.169.254"]],
    ["a good address, and this machine", ["192.0.2.1", "127.0.0.1"]],
    ["this machine, and a good address", ["::1", "192.0.2.1"]],
  ])("to %s is refused, also where it is private", async (_to, addresses) => {
    const asked = resolveTo(addresses);
    const { port } = new URL(server.url);
    expect(await one(client, { url: `http://metrics.example.com:${port}`, private: true })).toMatch(
      own,
    );
    expect(await one(client, { url: `https://metrics.example.com:${port}` })).toMatch(own);
    expect(asked).toEqual(["metrics.example.com", "metrics.example.com"]);
    expect(server.seen).toEqual([]);
  });

  it("to a private network is refused where the source does not say private", async () => {
    for (const address of ["10.0.0.5", "192.168.1.1", "fd12::1", "64:ff9b::a00:5"]) {
      resolveTo([address]);
      expect(await one(client, { url: "https://metrics.example.com:1" })).toContain(
        "in a private network, and the source does not say private",
      );
    }
  });

  it("to another address at the next time is refused then: the address that was checked is the one that is connected to", async () => {
    const asked = resolveTo(["192.0.2.1"], ["127.0.0.1"]);
    const { port } = new URL(server.url);
    const url = `http://rebound.example.com:${port}`;
    // The first address is of a network for documentation, where nothing answers.
    expect(await one(client, { url, private: true })).not.toMatch(/this machine|answered/);
    expect(await one(client, { url, private: true })).toMatch(own);
    expect(asked).toHaveLength(2);
    expect(server.seen).toEqual([]);
  });
});

/** The spellings of an IPv4 address that a URL may have. */
const SPELLINGS: readonly ((octets: readonly [number, number, number, number]) => string)[] = [
  (octets) => octets.join("."),
  (octets) => `${octets.join(".")}.`,
  (octets) => octets.map((octet) => `0x${octet.toString(16)}`).join("."),
  (octets) => octets.map((octet) => `0${octet.toString(8)}`).join("."),
  ([a, b, c, d]) => String(((a << 24) | (b << 16) | (c << 8) | d) >>> 0),
  ([a, b, c, d]) => `0x${(((a << 24) | (b << 16) | (c << 8) | d) >>> 0).toString(16)}`,
  ([a, b, c, d]) => `${a}.${(b << 16) | (c << 8) | d}`,
  ([a, b, c, d]) => `${a}.${b}.0x${((c << 8) | d).toString(16)}`,
  (octets) => `[::ffff:${octets.join(".")}]`,
  (octets) => `[64:ff9b::${octets.join(".")}]`,
  ([a, b, c, d]) =>
    `[0:0:0:0:0:FFFF:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}]`,
  ([a, b, c, d]) => `[2002:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}::1]`,
  (octets) =>
    [...octets.join(".")]
      .map((character) =>
        character === "." ? "。" : String.fromCodePoint(0xff10 + Number(character)),
      )
      .join(""),
  (octets) => octets.join(".").replaceAll("1", "%31"),
];

const octet = fc.nat({ max: 255 });
const ownOctets = fc.oneof(
  fc.tuple(fc.constant(127), octet, octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.constant(0), octet, octet, octet),
  fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
  fc.constant([100, 100, 100, 200] as const),
  fc.constant([168, 63, 129, 16] as const),
);

describe("an address of this machine, of its link, of a metadata service, or of many hosts", () => {
  it("is never asked, whatever its spelling", async () => {
    const client = sourceClient({ clock: Date.now, ownAddresses: false });
    const property = fc.asyncProperty(
      ownOctets,
      fc.constantFrom(...SPELLINGS),
      fc.boolean(),
      async (octets, spelling, plain) => {
        const url = `${plain ? "http" : "https"}://${spelling(octets)}:9/`;
        expect(await one(client, { url, private: true })).toMatch(
          /its address is one of this machine|is no URL/,
        );
      },
    );
    await fc.assert(property, runs(200));
    client.close();
  });
});

describe("the certificate of a source", () => {
  const closing: (() => Promise<unknown> | undefined)[] = [];
  let client: SourceClient;
  beforeEach(() => {
    client = sourceClient({ clock: Date.now, ownAddresses: true });
  });
  afterEach(async () => {
    client.close();
    vi.unstubAllEnvs();
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const listening = async (server: Server | SecureServer, host = "127.0.0.1"): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    closing.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  };

  const DAY_MS = 86_400_000;
  /**
   * A server with a certificate for 127.0.0.1 and localhost, by an authority of its own, which was
   * issued at this time.
   */
  const secure = async (issuedMs = Date.now(), host?: string) => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-certificate-"));
    closing.push(async () => rmSync(folder, { recursive: true, force: true }));
    const { caPem, certificatePem, keyPem } = await serverCredentials(folder, issuedMs);
    const seen: (string | undefined)[] = [];
    const port = await listening(
      createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
        seen.push(request.headers.authorization);
        oneSeries("1")("", response);
      }),
      host,
    );
    return { caPem, port, seen };
  };

  /** Secrets Manager with the one secret of the source, in the form of its API. */
  const secrets = async (secret: object): Promise<void> => {
    const server = createHttp((request, response) => {
      void text(request).then(() => {
        const body = { Name: "tidemark-test/source.main", SecretString: JSON.stringify(secret) };
        response
          .writeHead(200, { "content-type": "application/x-amz-json-1.1" })
          .end(JSON.stringify(body));
      });
    });
    vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", `http://127.0.0.1:${await listening(server)}`);
    vi.stubEnv("AWS_REGION", "eu-central-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
  };
  const AUTH = { kind: "bearer", secretId: "tidemark-test/source.main" } as const;
  const asked = async (url: string, ca?: string, of = url): Promise<string> => {
    await secrets({
      url: of,
      token: "t0ken-of-the-source",
      ...(ca !== undefined && { caData: Buffer.from(ca).toString("base64") }),
    });
    const message = await one(client, { url, auth: AUTH });
    expect(message).not.toContain("t0ken");
    return message;
  };
  const WRONG = /its certificate is not signed by a known authority, or not made for its address/;

  it("by an authority of its own is taken where the secret of the source has the authority", async () => {
    const { port, caPem, seen } = await secure();
    expect(await asked(`https://127.0.0.1:${port}`, caPem)).toBe("it was answered");
    expect(seen).toEqual(["Bearer t0ken-of-the-source"]);
  });

  it("by an authority of its own is taken where the source itself has the authority, without any secret", async () => {
    const { port, caPem, seen } = await secure();
    const other = await secure(Date.now());
    const url = `https://127.0.0.1:${port}`;
    const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
    expect(await one(client, { url, caData: base64(caPem) })).toBe("it was answered");
    expect(await one(client, { url, caData: base64(other.caPem) })).toMatch(WRONG);
    expect(await one(client, { url })).toMatch(WRONG);
    expect(seen).toEqual([undefined]);
  });

  it("is refused by another authority, without an authority, for another name, and after its end; and no credential is sent", async () => {
    const [good, old, elsewhere] = [
      await secure(),
      await secure(Date.now() - 500 * DAY_MS),
      await secure(Date.now(), "127.0.0.2"),
    ];
    expect(await asked(`https://127.0.0.1:${good.port}`, old.caPem)).toMatch(WRONG);
    expect(await asked(`https://127.0.0.1:${good.port}`)).toMatch(WRONG);
    expect(await asked(`https://127.0.0.2:${elsewhere.port}`, elsewhere.caPem)).toMatch(WRONG);
    expect(await asked(`https://127.0.0.1:${old.port}`, old.caPem)).toMatch(WRONG);
    expect([good.seen, old.seen, elsewhere.seen]).toEqual([[], [], []]);
  });

  it("is answered with our own, where the source asks for one; the key of another certificate is refused and not shown", async () => {
    const [ca, seen] = [await authority(), [] as boolean[]];
    const server = createServer(
      { ...(await ca.issue("127.0.0.1")), ca: ca.ca, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        seen.push((request.socket as TLSSocket).authorized);
        oneSeries("1")("", response);
      },
    );
    const url = `https://127.0.0.1:${await listening(server)}`;
    const [own, other] = [await ca.issue("tidemark"), await ca.issue("other")];
    const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
    const answered = async (
      cert: string,
      key: string,
      kind: "mtls" | "bearer" = "mtls",
    ): Promise<string> => {
      const held =
        kind === "mtls"
          ? { clientCertData: base64(cert), clientKeyData: base64(key) }
          : { token: "t0ken" };
      await secrets({ url, caData: base64(ca.ca), ...held });
      const fresh = sourceClient({ clock: Date.now, ownAddresses: true });
      closing.push(async () => fresh.close());
      return one(fresh, { url, auth: { ...AUTH, kind } });
    };
    expect(await answered(own.cert, own.key)).toBe("it was answered");
    expect(await answered(own.cert, other.key)).toContain(
      "its clientKeyData cannot be read, or is not the key of its clientCertData",
    );
    expect(await answered("no certificate", own.key)).toContain(
      "its clientCertData is no certificate in PEM",
    );
    expect(await answered(own.cert, own.key, "bearer")).toMatch(/^(?!it was answered)/);
    expect(seen).toEqual([true]);
  });

  it("is not looked at where the secret is for another address: the credential stays here", async () => {
    const { port, caPem, seen } = await secure();
    expect(await asked(`https://127.0.0.1:${port}`, caPem, "https://mimir.example.com")).toContain(
      "its url is not the address of the source",
    );
    expect(seen).toEqual([]);
  });

  it("is missing of a server that speaks no TLS, or something else", async () => {
    const plain = await listening(createHttp((_request, response) => void response.end("hello")));
    expect(await asked(`https://127.0.0.1:${plain}`)).toMatch(/the source cannot be asked: /);
  });
});

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serverUrl, isOwnAddress } from "../../lib/stack/cluster/reachable.ts";
import { budgetOf, transportTo } from "./stand-in/connected.ts";
import { type StandIn, standIn } from "./stand-in/server.ts";

const refuse = (why: string): Error => new Error(why);
const url = (text: string): URL => serverUrl(text, { refuse, ownAddresses: false });

describe("serverUrl()", () => {
  it.each([
    ["loopback", "https://127.0.0.1"],
    ["loopback further on", "https://127.8.9.1:6443"],
    ["metadata", "https://169.254.169.254"],
    ["metadata, decimal", "https://2852039166"],
    ["metadata, hexadecimal", "https://0xa9fea9fe"],
    ["metadata, hexadecimal parts", "https://0xa9.0xfe.0xa9.0xfe"],
    ["metadata, octal", "https://0251.0376.0251.0376"],
    ["metadata, two parts", "https://169.16689662"],
    ["metadata, with a dot behind", "https://169.254.169.254."],
    ["metadata, in full-width digits", "https://１６９.254.169.254"],
    ["loopback, short", "https://127.1"],
    ["this host", "https://0"],
    ["credentials of containers", "https://169.254.170.2"],
    ["credentials of pods", "https://169.254.170.23"],
    ["metadata over IPv6", "https://[fd00:ec2::254]"],
    ["credentials of pods over IPv6", "https://[fd00:0ec2:0:0::23]"],
    ["loopback over IPv6", "https://[::1]"],
    ["link-local over IPv6", "https://[fe80::1]"],
    ["IPv4 mapped into IPv6", "https://[::ffff:169.254.169.254]"],
    ["IPv4 mapped, as groups", "https://[::ffff:a9fe:a9fe]"],
    ["IPv4 compatible", "https://[::169.254.169.254]"],
    ["IPv4 translated", "https://[::ffff:0:a9fe:a9fe]"],
    ["NAT64", "https://[64:ff9b::a9fe:a9fe]"],
    ["NAT64 of a site", "https://[64:ff9b:1::7f00:1]"],
    ["6to4", "https://[2002:a9fe:a9fe::1]"],
    ["Teredo", "https://[2001:0:a9fe:a9fe::1]"],
    ["ISATAP", "https://[2a00::5efe:a9fe:a9fe]"],
    ["multicast", "https://224.0.0.1"],
    ["broadcast", "https://255.255.255.255"],
    ["metadata of another cloud", "https://100.100.100.200"],
    ["localhost", "https://localhost"],
    ["localhost with a dot behind", "https://LOCALHOST."],
    ["a name below localhost", "https://api.localhost:6443"],
  ])("refuses %s: %s", (_name, text) => {
    expect(() => url(text)).toThrow(
      "is an address of this machine, of its network link or of a metadata service",
    );
  });

  it.each([
    ["http://10.0.0.1", "must begin with https://"],
    ["http://127.0.0.1", "must begin with https://"],
    ["file:///etc/passwd", "must begin with https://"],
    ["data:text/plain,x", "must begin with https://"],
    ["ftp://10.0.0.1", "must begin with https://"],
    ["https://user@10.0.0.1", "must have no user, no query and no fragment"],
    ["https://10.0.0.1/?a", "must have no user, no query and no fragment"],
    ["https://10.0.0.1/#a", "must have no user, no query and no fragment"],
    ["https://", "is not a URL"],
    ["10.0.0.1", "is not a URL"],
  ])("refuses %s", (text, words) => {
    expect(() => url(text)).toThrow(words);
  });

  it.each([
    "https://10.0.0.1",
    "https://172.16.3.4:6443",
    "https://192.168.1.1",
    "https://100.64.0.1",
    "https://[fd12:3456::1]",
    "https://[64:ff9b::a00:1]",
    "https://api.example.com/k8s/clusters/c-1",
  ])("accepts %s: private endpoints of clusters are legitimate", (text) => {
    expect(url(text).href).toContain("https://");
  });
});

describe("isOwnAddress()", () => {
  it("is always true of an own IPv4 address that is carried inside IPv6", () => {
    const own = fc.constantFrom(
      "127.0.0.1",
      "169.254.169.254",
      "169.254.170.2",
      "0.0.0.0",
      "127.255.255.254",
    );
    const inside = fc.constantFrom("::ffff:", "::ffff:0:", "::", "64:ff9b::", "64:ff9b:1::");
    fc.assert(
      fc.property(own, inside, (address, prefix) => isOwnAddress(prefix + address) === true),
    );
  });

  it("is never true of a public or private IPv4 address that is carried inside IPv6", () => {
    const part = fc.integer({ min: 0, max: 255 });
    const foreign = fc
      .tuple(fc.constantFrom(8, 10, 52, 172, 192), part, part, part)
      .map((parts) => parts.join("."))
      .filter((text) => text !== "192.0.0.192");
    const inside = fc.constantFrom("::ffff:", "64:ff9b::", "");
    fc.assert(
      fc.property(foreign, inside, (address, prefix) => isOwnAddress(prefix + address) === false),
    );
  });
});

describe("a connection", () => {
  let server: StandIn;
  beforeEach(async () => {
    server = await standIn();
  });
  afterEach(() => server.close());

  it("is never made to a name that leads to this machine, whatever the name said when the cluster was added", async () => {
    const named = { url: server.url.replace("127.0.0.1", "localhost"), ca: server.ca };
    const refused = await transportTo(named, { ownAddresses: false }).get(
      { path: "/version", resource: "version" },
      budgetOf(),
    );
    expect(refused).toMatchObject({
      kind: "failed",
      failure: {
        code: 0,
        reason: "AddressRefused",
        message: expect.stringContaining("resolves to"),
      },
    });
    expect(server.connections()).toBe(0);
    expect(
      await transportTo(named, { ownAddresses: true }).get(
        { path: "/version", resource: "version" },
        budgetOf(),
      ),
    ).toMatchObject({
      kind: "read",
    });
  });
});

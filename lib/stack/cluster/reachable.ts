import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { TidemarkError } from "../../rules/model/errors.ts";

export interface ServerUrlOptions {
  /**
   * Makes the error of a refusal. Its message does not quote the address, which may come from a
   * secret.
   */
  readonly refuse: (why: string) => Error;
  /** True where the server may be this machine, also without TLS: only in the embedded run. */
  readonly ownAddresses: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The address of the API server as a checked URL. http: is refused, because it would send the token
 * in the clear.
 */
export const serverUrl = (text: string, { refuse, ownAddresses }: ServerUrlOptions): URL => {
  if (!URL.canParse(text)) throw refuse("is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw refuse("must have no user, no query and no fragment");
  if (
    url.protocol !== "https:" &&
    !(url.protocol === "http:" && ownAddresses && LOOPBACK.test(url.hostname))
  ) {
    throw refuse("must begin with https://: anything else would send the token in the clear");
  }
  if (!ownAddresses && isOwnHost(url.hostname))
    throw refuse("is an address of this machine, of its network link or of a metadata service");
  return url;
};

/**
 * Addresses of the own machine and its network link: loopback, "this host", multicast, and
 * link-local, where clouds serve credentials. Editors choose the address of a recommender and, by a
 * secret, of a cluster, so that functions must never call these addresses. Private networks are
 * allowed, because clusters have private endpoints.
 */
const OWN = new BlockList();
OWN.addSubnet("0.0.0.0", 8, "ipv4");
OWN.addSubnet("127.0.0.0", 8, "ipv4");
// Metadata (169.254.169.254), container credentials (169.254.170.2 and .23), time and name service
// of AWS.
OWN.addSubnet("169.254.0.0", 16, "ipv4");
// Metadata of other clouds outside the link-local network: Alibaba, Oracle, Azure's wire server.
OWN.addAddress("100.100.100.200", "ipv4");
OWN.addAddress("192.0.0.192", "ipv4");
OWN.addAddress("168.63.129.16", "ipv4");
OWN.addSubnet("224.0.0.0", 3, "ipv4");
OWN.addAddress("::", "ipv6");
OWN.addAddress("::1", "ipv6");
OWN.addSubnet("fe80::", 10, "ipv6");
OWN.addSubnet("fec0::", 10, "ipv6");
OWN.addSubnet("ff00::", 8, "ipv6");
// Metadata (::254), credentials of pods (::23), time and name service of AWS.
OWN.addSubnet("fd00:ec2::", 32, "ipv6");

/**
 * Networks that are not of the internet: networks of organisations, of carriers (100.64/10), and
 * addresses that are reserved for tests and protocols.
 */
const PRIVATE = new BlockList();
PRIVATE.addSubnet("10.0.0.0", 8, "ipv4");
PRIVATE.addSubnet("100.64.0.0", 10, "ipv4");
PRIVATE.addSubnet("172.16.0.0", 12, "ipv4");
PRIVATE.addSubnet("192.0.0.0", 24, "ipv4");
PRIVATE.addSubnet("192.168.0.0", 16, "ipv4");
PRIVATE.addSubnet("198.18.0.0", 15, "ipv4");
PRIVATE.addSubnet("fc00::", 7, "ipv6");

const isIn = (list: BlockList, address: string): boolean => {
  if (isIP(address) !== 6) return list.check(address, "ipv4");
  return (
    list.check(address, "ipv6") || embedded(address).some((inner) => list.check(inner, "ipv4"))
  );
};

/**
 * True for an address of the own machine, of its link or of a metadata service. IPv4 inside IPv6
 * counts as IPv4.
 */
export const isOwnAddress = (address: string): boolean => isIn(OWN, address);

/** True for an address of a private network. IPv4 inside IPv6 counts as IPv4. */
export const isPrivateAddress = (address: string): boolean => isIn(PRIVATE, address);

/**
 * The forms of an IPv4 address inside IPv6: how the groups of such an address begin, and which
 * groups hold the inner address.
 */
const CARRIERS: readonly {
  readonly begins: RegExp;
  readonly inner: (groups: readonly number[]) => readonly string[];
}[] = [
  // ::a.b.c.d (compatible), ::ffff:a.b.c.d (mapped), ::ffff:0:a.b.c.d (translated).
  { begins: /^0:0:0:0:(0:0|0:ffff|ffff:0):/, inner: (groups) => [dotted(groups, 6)] },
  // 64:ff9b::/96 and 64:ff9b:1::/48 (NAT64).
  { begins: /^64:ff9b:/, inner: (groups) => [dotted(groups, 6)] },
  // 2002::/16 (6to4).
  { begins: /^2002:/, inner: (groups) => [dotted(groups, 1)] },
  // 2001::/32 (Teredo): the server, and the client with every bit inverted.
  {
    begins: /^2001:0:/,
    inner: (groups) => [
      dotted(groups, 2),
      dotted(
        groups.map((group) => group ^ 0xffff),
        6,
      ),
    ],
  },
  // …:5efe:a.b.c.d (ISATAP).
  { begins: /^([0-9a-f]+:){4}(0|200):5efe:/, inner: (groups) => [dotted(groups, 6)] },
];

/** The IPv4 addresses inside an IPv6 address. */
const embedded = (address: string): readonly string[] => {
  const groups = groupsOf(address);
  const text = groups.map((group) => group.toString(16)).join(":");
  return CARRIERS.flatMap(({ begins, inner }) => (begins.test(text) ? inner(groups) : []));
};

/** The two groups from `at` on as IPv4. */
const dotted = (groups: readonly number[], at: number): string =>
  groups
    .slice(at, at + 2)
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");

/**
 * The eight groups of an IPv6 address. The URL parser first writes every notation in the same form.
 */
const groupsOf = (address: string): readonly number[] => {
  const text = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [
    ...left,
    ...Array.from({ length: 8 - left.length - right.length }, () => "0"),
    ...right,
  ].map((group) => Number.parseInt(group, 16));
};

const LOCALHOST = /(^|\.)localhost\.?$/i;

/**
 * True for the host of a URL that is this machine: `localhost`, or such an address in any notation,
 * because the URL parser normalizes decimal, hex, octal and short forms.
 */
export const isOwnHost = (hostname: string): boolean => {
  const host = bareHost(hostname);
  return LOCALHOST.test(host) || (isIP(host) !== 0 && isOwnAddress(host));
};

/** Host of a URL without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

/** True for the host of a URL that is an address of a private network, in any notation. */
export const isPrivateHost = (hostname: string): boolean => {
  const host = bareHost(hostname);
  return isIP(host) !== 0 && isPrivateAddress(host);
};

/**
 * The code of the error for a name that resolves to this machine. A name that does not resolve has
 * another code.
 */
export const OWN_ADDRESS = "cluster.own-address";
const ownAddress = (address: string): Error =>
  new TidemarkError(
    OWN_ADDRESS,
    `the server's name resolves to ${address}, an address of this machine, of its network link or of a metadata service`,
    {
      address,
    },
  );

/**
 * The code of the error for a name that resolves to a private network, where none is allowed. The
 * error does not name the address.
 */
export const PRIVATE_ADDRESS = "cluster.private-address";
const privateAddress = (): Error =>
  new TidemarkError(
    PRIVATE_ADDRESS,
    "the server's name resolves to an address of a private network",
    {},
  );

/**
 * A resolver that resolves a name and refuses addresses for which there is an error. The socket
 * connects to the addresses that were checked here, so that a name cannot resolve to another
 * address for the connection.
 */
const lookupBut =
  (refused: (address: string) => Error | undefined): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const fault =
        error ??
        addresses?.map(({ address }) => refused(address)).find((found) => found !== undefined);
      if (fault) {
        callback(fault, [], 0);
        return;
      }
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? "", first?.family ?? 0);
    });
  };

const refusedOwn = (address: string): Error | undefined =>
  isOwnAddress(address) ? ownAddress(address) : undefined;

/** Refuses addresses of this machine. */
export const foreignLookup: LookupFunction = lookupBut(refusedOwn);

/** Refuses addresses of this machine and of private networks. */
export const publicLookup: LookupFunction = lookupBut(
  (address) => refusedOwn(address) ?? (isPrivateAddress(address) ? privateAddress() : undefined),
);

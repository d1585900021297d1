import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { TidemarkError } from "../model/errors.ts";

/**
 * Addresses that belong to the machine that asks and not to a service: loopback, "this host", multicast, and link-local, where clouds keep credentials. Editors choose the address
 * of a recommender and, by a secret, of a cluster, so functions never ask one there. Private networks are not among them: private endpoints of clusters are.
 */
const OWN = new BlockList();
OWN.addSubnet("0.0.0.0", 8, "ipv4");
OWN.addSubnet("127.0.0.0", 8, "ipv4");
// Metadata (169.254.169.254), container credentials (169.254.170.2 and .23), time and name service of AWS.
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

/** True for an address of the machine itself, of its link or of a metadata service; IPv4 inside IPv6 counts as IPv4. */
export const isOwnAddress = (address: string): boolean => {
  if (isIP(address) !== 6) return OWN.check(address, "ipv4");
  return OWN.check(address, "ipv6") || embedded(address).some((inner) => OWN.check(inner, "ipv4"));
};

/** The ways in which networks and kernels carry an IPv4 address inside IPv6: how the groups of such an address begin, and where the inner one stands. */
const CARRIERS: readonly { readonly begins: RegExp; readonly inner: (groups: readonly number[]) => readonly string[] }[] = [
  // ::a.b.c.d (compatible), ::ffff:a.b.c.d (mapped), ::ffff:0:a.b.c.d (translated).
  { begins: /^0:0:0:0:(0:0|0:ffff|ffff:0):/, inner: (groups) => [dotted(groups, 6)] },
  // 64:ff9b::/96 and 64:ff9b:1::/48 (NAT64).
  { begins: /^64:ff9b:/, inner: (groups) => [dotted(groups, 6)] },
  // 2002::/16 (6to4).
  { begins: /^2002:/, inner: (groups) => [dotted(groups, 1)] },
  // 2001::/32 (Teredo): the server, and the client with every bit turned.
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

/** IPv4 addresses that an IPv6 address stands for. */
const embedded = (address: string): readonly string[] => {
  const groups = groupsOf(address);
  const text = groups.map((group) => group.toString(16)).join(":");
  return CARRIERS.flatMap(({ begins, inner }) => (begins.test(text) ? inner(groups) : []));
};

/** The two groups from `at` on, as IPv4. */
const dotted = (groups: readonly number[], at: number): string =>
  groups
    .slice(at, at + 2)
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");

/** The eight groups of an IPv6 address; the URL parser writes every notation in the same way first. */
const groupsOf = (address: string): readonly number[] => {
  const text = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right].map((group) => Number.parseInt(group, 16));
};

const LOCALHOST = /(^|\.)localhost\.?$/i;

/** True for the host of a URL that names this machine: `localhost`, or an address in any notation, since the URL parser has written decimal, hex, octal and short forms anew. */
export const isOwnHost = (hostname: string): boolean => {
  const host = bareHost(hostname);
  return LOCALHOST.test(host) || (isIP(host) !== 0 && isOwnAddress(host));
};

/** Host of a URL without the brackets of an IPv6 address. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, "");

/** The error of a name that leads to this machine; its code tells it from a name that does not resolve. */
export const OWN_ADDRESS = "cluster.own-address";
const ownAddress = (address: string): Error =>
  new TidemarkError(OWN_ADDRESS, `the server's name leads to ${address}, an address of this machine, of its network link or of a metadata service`, {
    address,
  });

/**
 * A resolver that refuses such addresses after it has resolved the name. The socket connects to the very addresses that were checked here, so that a name which resolves to
 * another address the second time gains nothing.
 */
export const foreignLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    const own = addresses?.find(({ address }) => isOwnAddress(address));
    if (error || own) {
      callback(error ?? ownAddress(own?.address ?? ""), [], 0);
      return;
    }
    const [first] = addresses;
    if (options.all) callback(null, addresses);
    else callback(null, first?.address ?? "", first?.family ?? 0);
  });
};

import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Addresses that belong to the machine that asks, not to a service: loopback, "this host", and link-local, where clouds keep credentials. Whoever may apply a manifest
 * chooses the address of a recommender, so functions never ask one there.
 */
const OWN = new BlockList();
OWN.addSubnet("127.0.0.0", 8, "ipv4");
OWN.addSubnet("0.0.0.0", 8, "ipv4");
OWN.addSubnet("169.254.0.0", 16, "ipv4");
OWN.addAddress("::", "ipv6");
OWN.addAddress("::1", "ipv6");
OWN.addSubnet("fe80::", 10, "ipv6");
OWN.addAddress("fd00:ec2::254", "ipv6");

/** True for an address of the machine itself or of its link; IPv4 inside IPv6 counts as IPv4. */
export const isOwnAddress = (address: string): boolean => OWN.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

export const ownAddress = (host: string, address: string): Error =>
  new Error(host === address ? `${address} is an address of this machine` : `${host} is ${address}, an address of this machine`);

/** A resolver that refuses such addresses after it has resolved the name, so that no name leads there. */
export const foreignLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    const own = addresses?.find(({ address }) => isOwnAddress(address));
    if (error || own) {
      callback(error ?? ownAddress(host, own?.address ?? ""), [], 0);
      return;
    }
    const [first] = addresses;
    if (options.all) callback(null, addresses);
    else callback(null, first?.address ?? "", first?.family ?? 0);
  });
};

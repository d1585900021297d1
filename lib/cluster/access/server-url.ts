import { isOwnHost } from "../reachable.ts";

export interface ServerUrlOptions {
  /** Makes the error of a refusal; its words do not hold the address, which may come from a secret. */
  readonly refuse: (why: string) => Error;
  /** May it be this machine? Only in the embedded run; then also without TLS. */
  readonly ownAddresses: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The API server's address, as a URL with a host that may be asked. http: is refused because a token would travel in the clear. */
export const serverUrl = (text: string, { refuse, ownAddresses }: ServerUrlOptions): URL => {
  if (!URL.canParse(text)) throw refuse("is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") throw refuse("must have no user, no query and no fragment");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && ownAddresses && LOOPBACK.test(url.hostname))) {
    throw refuse("must begin with https://: anything else would send the token in the clear");
  }
  if (!ownAddresses && isOwnHost(url.hostname)) throw refuse("is an address of this machine, of its network link or of a metadata service");
  return url;
};

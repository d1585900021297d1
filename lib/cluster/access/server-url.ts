import { isOwnHost } from "../reachable.ts";

export interface ServerUrlOptions {
  /** Makes the error of a refusal. Its message does not quote the address, which may come from a secret. */
  readonly refuse: (why: string) => Error;
  /** True where the server may be this machine, also without TLS: only in the embedded run. */
  readonly ownAddresses: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The address of the API server as a checked URL. http: is refused, because it would send the token in the clear. */
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

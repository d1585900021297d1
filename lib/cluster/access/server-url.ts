import { TidemarkError } from "../../model/errors.ts";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The API server's address. Anything but https is a TidemarkError `cluster.access.server`: a token would travel in the clear; loopback may be allowed. */
export const serverUrl = (text: string, options: { readonly cluster: string; readonly allowLoopbackHttp: boolean }): URL => {
  const refuse = (why: string): TidemarkError =>
    new TidemarkError("cluster.access.server", `Cannot connect cluster "${options.cluster}" at "${text}": ${why}`, { server: text });
  if (!URL.canParse(text)) throw refuse("not a URL");
  const url = new URL(text);
  if (url.protocol === "https:") return url;
  if (url.protocol !== "http:") throw refuse("the address must begin with https://");
  if (!LOOPBACK.test(url.hostname)) throw refuse("http:// would send the token in the clear, https:// is needed");
  if (!options.allowLoopbackHttp) throw refuse("http:// is not allowed here, https:// is needed");
  return url;
};

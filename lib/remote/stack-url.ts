import { TidemarkError } from "../model/errors.ts";

/** The URL of a deployed stack. */
export interface StackUrl {
  /** Without a slash at the end. */
  readonly origin: string;
  readonly host: string;
  readonly region: string;
  /** The option or variable that the URL comes from. */
  readonly from: string;
}

/** The host of a function URL contains its region. */
const FUNCTION_URL = /^[a-z0-9]+\.lambda-url\.([a-z0-9-]+)\.on\.aws$/;
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
/** Region in signatures for servers on this machine. */
const LOOPBACK_REGION = "local";

/** Reads the URL of a stack. Only a function URL is accepted, because a signed request would let another host act as the caller. Throws `cli.usage`. */
export const stackUrl = (text: string, from: string): StackUrl => {
  const stack = stackUrlIn(text, from);
  if (stack) return stack;
  throw new TidemarkError(
    "cli.usage",
    `Cannot use ${from} "${text}": wanted the function URL of a stack, such as "https://abc123.lambda-url.eu-central-1.on.aws"${from === "--stack" ? ", or its name" : ""}`,
    undefined,
  );
};

/** Parses a function URL; undefined for any other text. */
export const stackUrlIn = (text: string, from: string): StackUrl | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const region = url && regionOf(url);
  if (!url || region === undefined || url.username !== "" || url.pathname !== "/" || url.search !== "" || url.hash !== "") return undefined;
  return { origin: url.origin, host: url.host, region, from };
};

const regionOf = ({ protocol, hostname, port }: URL): string | undefined => {
  if (LOOPBACK.has(hostname)) return LOOPBACK_REGION;
  return protocol === "https:" && port === "" ? FUNCTION_URL.exec(hostname)?.[1] : undefined;
};

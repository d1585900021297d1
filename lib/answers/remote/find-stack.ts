import type { CloudFormationClient, Stack } from "@aws-sdk/client-cloudformation";
import { boundedRequests } from "../../stack/aws/bounded-requests.ts";
import { type FunctionPlace, functionPlace } from "../api/signed-call.ts";
import { invokeOrigin } from "./invoke-function.ts";
import { functionUrlRegion } from "../../rules/model/aws-partitions.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import { present } from "../../rules/model/json.ts";

/** A deployed stack by the name that CloudFormation has for it. */
export interface NamedStack {
  readonly name: string;
  /** Absent: what the AWS settings of this machine say. */
  readonly region?: string;
  readonly profile?: string;
  /** Absent: as the stack was deployed. */
  readonly via?: Via;
  /** How long the one answer may take; absent: ten seconds, three times. */
  readonly withinMs?: number;
}

/** How the command calls a stack: by its function URLs, or by lambda:Invoke. */
export type Via = "url" | "invoke";

/**
 * Where requests to a stack go. Each policy for people allows the URL of `view`, so queries go
 * there.
 */
export interface StackUrls {
  readonly view: StackUrl;
  readonly api: StackUrl;
}

/** The names that osls gives to the outputs of the function URLs. */
export const URL_OUTPUTS = { view: "ViewLambdaFunctionUrl", api: "ApiLambdaFunctionUrl" } as const;
/** The outputs of a stack whose functions are invoked (infra/outputs.yml). */
export const ARN_OUTPUTS = { view: "ViewFunctionArn", api: "ApiFunctionArn" } as const;

const TIMEOUT_MS = 10_000;

/** What CloudFormation says of a stack. */
export interface StackFacts {
  readonly region: string;
  /** A state of CloudFormation, such as UPDATE_COMPLETE. */
  readonly state: string;
  readonly stateReason?: string;
  readonly changedAt?: Date;
  /** By the names of the template. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * Reads a stack with one call of CloudFormation. Throws `remote.stack.region`,
 * `remote.stack.unknown`, `remote.stack.forbidden`, `remote.stack.unclear` and
 * `remote.credentials`. The SDK is loaded here, because most commands need no CloudFormation.
 */
export const readStack = async (stack: NamedStack): Promise<StackFacts> => {
  const { CloudFormationClient, DescribeStacksCommand } = await import(
    "@aws-sdk/client-cloudformation"
  );
  const { name, region: namedRegion, profile, withinMs } = stack;
  const limitMs = withinMs ?? TIMEOUT_MS;
  const client = new CloudFormationClient({
    ...present({ region: namedRegion, profile }),
    maxAttempts: withinMs === undefined ? 3 : 1,
    requestHandler: boundedRequests({ connectMs: limitMs, wholeMs: limitMs }),
  });
  try {
    const region = await regionOf(client, stack);
    await credentialsOf(client, stack);
    const { Stacks: [description = {} as Partial<Stack>] = [] } = await client
      .send(new DescribeStacksCommand({ StackName: name }))
      .catch((cause: unknown) => {
        throw refusal(stack, region, cause);
      });
    return factsOf(region, description);
  } finally {
    client.destroy();
  }
};

const factsOf = (
  region: string,
  {
    StackStatus,
    StackStatusReason,
    LastUpdatedTime,
    CreationTime,
    Parameters = [],
    Outputs = [],
  }: Partial<Stack>,
): StackFacts => {
  const changedAt = LastUpdatedTime ?? CreationTime;
  return {
    region,
    state: StackStatus ?? "",
    ...present({ stateReason: StackStatusReason, changedAt }),
    parameters: Object.fromEntries(
      Parameters.map(({ ParameterKey = "", ParameterValue = "" }) => [
        ParameterKey,
        ParameterValue,
      ]),
    ),
    outputs: Object.fromEntries(
      Outputs.map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]),
    ),
  };
};

/**
 * Reads the URLs of a stack from its outputs. Throws the errors of `readStack`, and
 * `remote.stack.outputs`.
 */
export const findStack = async (stack: NamedStack): Promise<StackUrls> => {
  const facts = await readStack(stack);
  const { name, via } = stack;
  const has: Via = ARN_OUTPUTS.view in facts.outputs ? "invoke" : "url";
  if (via !== undefined && via !== has)
    throw failed(
      "outputs",
      stack,
      `it is called by ${has === "url" ? "its URLs" : "lambda:Invoke"}; leave --via out, or deploy it with calledBy: ${via}`,
    );
  return has === "invoke" ? functionsOf(name, facts) : urlsOf(name, facts);
};

const functionsOf = (name: string, { region, outputs }: StackFacts): StackUrls => {
  const invoked = (key: string): StackUrl => {
    const text = outputs[key] ?? "";
    const place = functionPlace(text);
    if (place?.region === region) return invokedFunction(place, "--stack");
    throw failed(
      "outputs",
      { name },
      `its output "${key}" is "${foreignText(text)}", which is no function of region "${region}"; deploy it again`,
    );
  };
  return { view: invoked(ARN_OUTPUTS.view), api: invoked(ARN_OUTPUTS.api) };
};

/** Requests to Lambda that invoke a function. */
export const invokedFunction = (place: FunctionPlace, from: string): StackUrl => {
  const { origin, host } = invokeOrigin(place);
  return { origin, host, region: place.region, from, invokes: place };
};

const failed = (
  code: string,
  { name }: NamedStack,
  words: string,
  cause?: unknown,
): TidemarkError =>
  new TidemarkError(
    `remote.stack.${code}`,
    `Cannot find the URL of stack "${name}": ${words}`,
    { name },
    cause === undefined ? {} : { cause },
  );

const regionOf = async ({ config }: CloudFormationClient, stack: NamedStack): Promise<string> => {
  try {
    return await config.region();
  } catch (cause) {
    throw failed(
      "region",
      stack,
      "no AWS region is set; give --region, or set AWS_REGION or the region of the profile",
      cause,
    );
  }
};

/**
 * Asked for first, because the SDK's error for missing credentials does not differ by its name from
 * others.
 */
const credentialsOf = async (
  { config }: CloudFormationClient,
  stack: NamedStack,
): Promise<void> => {
  try {
    await config.credentials();
  } catch (cause) {
    const words = `no AWS credentials were found; give --profile, set AWS_PROFILE or sign in (${wordsOf(cause)})`;
    throw new TidemarkError(
      "remote.credentials",
      `Cannot find the URL of stack "${stack.name}": ${words}`,
      {},
      { cause },
    );
  }
};

const wordsOf = (cause: unknown): string =>
  foreignText(cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");

const EXPIRED = new Set(["ExpiredToken", "ExpiredTokenException", "RequestExpired"]);
const UNKNOWN_KEYS = new Set([
  "InvalidClientTokenId",
  "UnrecognizedClientException",
  "SignatureDoesNotMatch",
  "InvalidSignatureException",
]);
const FORBIDDEN = new Set(["AccessDenied", "AccessDeniedException"]);

const refusal = (stack: NamedStack, region: string, cause: unknown): TidemarkError => {
  const code = cause instanceof Error ? cause.name : "";
  const words = wordsOf(cause);
  if (code === "ValidationError" && /does not exist/.test(words)) {
    const absent = `there is no such stack in region "${region}" of this account; check --stack, --stage, --region and --profile`;
    return failed("unknown", stack, absent, cause);
  }
  if (FORBIDDEN.has(code)) {
    return failed(
      "forbidden",
      stack,
      `AWS refuses cloudformation:DescribeStacks (${words}); get that right, or give its URL with --stack`,
      cause,
    );
  }
  if (EXPIRED.has(code))
    return failed("forbidden", stack, "the AWS credentials have expired; sign in again", cause);
  if (UNKNOWN_KEYS.has(code)) {
    return failed(
      "forbidden",
      stack,
      `AWS does not accept these credentials (${words}); check the profile and sign in again`,
      cause,
    );
  }
  return failed(
    "unclear",
    stack,
    `CloudFormation in region "${region}" gave no clear answer (${words}); check --region and the network`,
    cause,
  );
};

const urlsOf = (name: string, { region, state: isNow, outputs }: StackFacts): StackUrls => {
  const url = (key: string): StackUrl => {
    const text = outputs[key];
    if (text === undefined) {
      const state = isNow === "" ? "" : ` (its state is ${isNow})`;
      throw failed(
        "outputs",
        { name },
        `it has no output "${key}"${state}; it is no stack of Tidemark, or its deployment did not end: deploy it again, or give its URL with --stack`,
      );
    }
    const stack = stackUrlIn(text, "--stack");
    // A signed request to another host would let that host act as the caller.
    if (stack) return stack;
    throw failed(
      "outputs",
      { name },
      `its output "${key}" is "${foreignText(text)}", which is no function URL; check that it is the stack of Tidemark in region "${region}"`,
    );
  };
  return { view: url(URL_OUTPUTS.view), api: url(URL_OUTPUTS.api) };
};

/** Where requests to a deployed stack are sent: its URL, or Lambda where its function is invoked. */
export interface StackUrl {
  /** Without a slash at the end. */
  readonly origin: string;
  readonly host: string;
  readonly region: string;
  /** The option or variable that the URL comes from. */
  readonly from: string;
  /** The function that Lambda invokes; absent behind a URL of its own. */
  readonly invokes?: FunctionPlace;
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
/** Region in signatures for servers on this machine. */
const LOOPBACK_REGION = "local";

/**
 * Reads the URL of a stack. Only a function URL is accepted, because a signed request would let
 * another host act as the caller. Throws `cli.usage`.
 */
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
  const region = url && regionOfHost(url);
  if (
    !url ||
    region === undefined ||
    url.username !== "" ||
    url.pathname !== "/" ||
    url.search !== "" ||
    url.hash !== ""
  )
    return undefined;
  return { origin: url.origin, host: url.host, region, from };
};

const regionOfHost = ({ protocol, hostname, port }: URL): string | undefined => {
  if (LOOPBACK.has(hostname)) return LOOPBACK_REGION;
  return protocol === "https:" && port === "" ? functionUrlRegion(hostname) : undefined;
};

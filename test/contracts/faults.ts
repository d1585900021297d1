import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** What becomes of one call to the tables. */
export type TableFault = "lost request" | "lost answer" | "throttled" | "server error";

export type TableClient = Pick<DynamoDBClient, "send">;

const ERRORS: Readonly<
  Record<TableFault, { readonly name: string; readonly httpStatusCode: number }>
> = {
  "lost request": { name: "TimeoutError", httpStatusCode: 0 },
  "lost answer": { name: "TimeoutError", httpStatusCode: 0 },
  throttled: { name: "ProvisionedThroughputExceededException", httpStatusCode: 400 },
  "server error": { name: "InternalServerError", httpStatusCode: 500 },
};

const errorOf = (fault: TableFault): Error => {
  const { name, httpStatusCode } = ERRORS[fault];
  return Object.assign(new Error(`planted: ${fault}`), { name, $metadata: { httpStatusCode } });
};

/** A client with something around each of its calls, by the name of the command and its input. */
export const around = (
  client: TableClient,
  call: (command: string, send: () => Promise<unknown>, input: unknown) => Promise<unknown>,
): TableClient => {
  const send = client.send.bind(client) as (command: {
    readonly input: unknown;
  }) => Promise<unknown>;
  const sendAround = (command: { readonly input: unknown }) =>
    call(command.constructor.name, () => send(command), command.input);
  return { send: sendAround as DynamoDBClient["send"] };
};

/** True for the write that deletes a record: the put of its tombstone. */
export const isDeletion = (input: unknown): boolean =>
  JSON.stringify(input).includes('"deletedMs":');

/**
 * Makes calls of a client fail: `next` is asked before each. A lost answer is lost after the call
 * took effect.
 */
export const withFaults = (
  client: TableClient,
  next: (command: string) => TableFault | undefined,
): TableClient =>
  around(client, async (command, send) => {
    const fault = next(command);
    if (fault === undefined) return send();
    if (fault === "lost answer") await send();
    throw errorOf(fault);
  });

export interface Planted {
  readonly command: string;
  readonly fault: TableFault;
}

/** Faults for the given commands, once each and in order; everything else goes through. */
export const once = (
  ...planted: readonly Planted[]
): ((command: string) => TableFault | undefined) => {
  const left = [...planted];
  return (command) => (left[0]?.command === command ? left.shift()?.fault : undefined);
};

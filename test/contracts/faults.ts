import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** What becomes of one call to the tables. */
export type TableFault = "lost request" | "lost answer" | "throttled" | "server error";

const ERRORS: Readonly<Record<TableFault, { readonly name: string; readonly httpStatusCode: number }>> = {
  "lost request": { name: "TimeoutError", httpStatusCode: 0 },
  "lost answer": { name: "TimeoutError", httpStatusCode: 0 },
  throttled: { name: "ProvisionedThroughputExceededException", httpStatusCode: 400 },
  "server error": { name: "InternalServerError", httpStatusCode: 500 },
};

const errorOf = (fault: TableFault): Error => {
  const { name, httpStatusCode } = ERRORS[fault];
  return Object.assign(new Error(`planted: ${fault}`), { name, $metadata: { httpStatusCode } });
};

/** Makes calls of a client fail: `next` is asked before each, by the name of its command. A lost answer is lost after the call took effect. */
export const withFaults = (client: DynamoDBClient, next: (command: string) => TableFault | undefined): DynamoDBClient => {
  client.middlewareStack.add(
    (send, context) => async (args) => {
      const fault = next(context.commandName ?? "");
      if (fault === undefined) return send(args);
      if (fault === "lost answer") await send(args);
      throw errorOf(fault);
    },
    { step: "initialize" },
  );
  return client;
};

export interface Planted {
  readonly command: string;
  readonly fault: TableFault;
}

/** Faults for the given commands, once each and in order; everything else goes through. */
export const once = (
  ...planted: readonly { readonly command: string; readonly fault: TableFault }[]
): ((command: string) => TableFault | undefined) => {
  const left = [...planted];
  return (command) => (left[0]?.command === command ? left.shift()?.fault : undefined);
};

import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { NodeHttpHandler } from "@smithy/node-http-handler";
import { withoutLogger } from "../../../lib/stack/aws/bounded-requests.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../../lib/embedded/host/loopback.ts";

type Handle = NodeHttpHandler["handle"];
type Options = Parameters<Handle>[1] & { readonly via?: Pick<NodeHttpHandler, "handle"> };

/**
 * No signature: the engine checks none, and what is computed for it costs more than everything
 * else.
 */
const unsigned = { sign: async <Request>(request: Request): Promise<Request> => request };

/**
 * The client of the SDK for all processes of a thread, because making one reads the machine's
 * configuration. Each request goes through the handler of its own process, which `send` gives.
 */
const client = withoutLogger(
  new DynamoDBClient({
    endpoint: "http://tables.simulated",
    region: LOOPBACK_REGION,
    credentials: LOOPBACK_CREDENTIALS,
    signer: unsigned,
    maxAttempts: 1,
    requestHandler: {
      handle: (request: Parameters<Handle>[0], options: Options = {}) => {
        if (!options.via) throw new TypeError("a request of no process");
        return options.via.handle(request, options);
      },
      destroy: () => {},
      updateHttpClientConfig: () => {},
      httpHandlerConfigs: () => ({}),
    },
  }),
);

/** A client whose requests go through a handler. */
export const clientVia = (via: Pick<NodeHttpHandler, "handle">): Pick<DynamoDBClient, "send"> => {
  const send = (command: GetItemCommand): Promise<object> =>
    client.send(command, { via } as Options);
  return { send: send as DynamoDBClient["send"] };
};

let warm: Promise<void> | undefined;

/**
 * The first request reads the machine's configuration. Virtual time cannot wait for that, so it is
 * made before a seed begins.
 */
export const warmClient = (): Promise<void> => {
  const refuse = async (): Promise<never> => {
    throw new Error("configured");
  };
  warm ??= clientVia({ handle: refuse })
    .send(new GetItemCommand({ TableName: "state", Key: { pk: { S: "" } } }))
    .then(
      () => undefined,
      () => undefined,
    );
  return warm;
};

/** Of a client of the AWS SDK, as far as it matters here. */
interface Client {
  readonly middlewareStack: { readonly remove: (name: string) => boolean };
}

/**
 * Takes the SDK's logger out of a client. Without a logger it writes nothing, and yet walks through every input and output by its schema: some percent of a call that lists many items.
 */
export const withoutLogger = <Kind extends Client>(client: Kind): Kind => {
  client.middlewareStack.remove("loggerMiddleware");
  return client;
};

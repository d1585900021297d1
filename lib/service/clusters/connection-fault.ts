import { serverUrl } from "../../cluster/access/server-url.ts";
import { eksFault } from "../../model/eks.ts";
import type { Connection } from "../../model/records.ts";
import { isSecretOf, secretWords } from "../../model/secret-name.ts";

/** The fault of a connection that can be found before it is stored; undefined when there is none. The sync checks the same when it connects. */
export const connectionFault = (cluster: string, connection: Connection): string | undefined => {
  switch (connection.kind) {
    case "secret":
      return isSecretOf(connection.secretId, cluster) ? undefined : secretWords(cluster);
    case "eks":
      return eksFault(connection) ?? endpointFault(connection.endpoint);
    case "kubeconfig":
      return undefined;
  }
};

const endpointFault = (endpoint: string | undefined): string | undefined => {
  if (endpoint === undefined) return undefined;
  try {
    serverUrl(endpoint, { ownAddresses: false, refuse: (why) => new EndpointFault(`its endpoint ${why}`) });
    return undefined;
  } catch (error) {
    if (error instanceof EndpointFault) return error.message;
    throw error;
  }
};

class EndpointFault extends Error {}

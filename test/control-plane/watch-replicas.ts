import * as https from "node:https";
import { createInterface } from "node:readline";

interface Changed {
  readonly object: { readonly metadata: { readonly namespace: string; readonly name: string }; readonly spec?: { readonly replicas?: number } };
}

/** Calls back for each deployment below a path as the API server tells of it, from its present state on. */
export const watchReplicas = (
  { url, ca, token }: { readonly url: string; readonly ca: string; readonly token: string },
  path: string,
  seen: (name: string, replicas: number) => void,
): { readonly ready: Promise<void>; readonly stop: () => void } => {
  const request = https.get(new URL(`${path}?watch=true`, url), { ca, headers: { authorization: `Bearer ${token}` }, agent: false });
  const ready = new Promise<void>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      resolve();
      const lines = createInterface({ input: response });
      // The end of the watch is ours.
      lines.on("error", () => undefined);
      lines.on("line", (line) => {
        const { object }: Changed = JSON.parse(line);
        if (object.spec?.replicas !== undefined) seen(object.metadata.name, object.spec.replicas);
      });
    });
  });
  return { ready, stop: () => void request.destroy() };
};

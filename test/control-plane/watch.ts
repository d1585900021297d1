import { once } from "node:events";
import * as https from "node:https";
import { createInterface } from "node:readline";

interface Server {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

export interface WatchedObject {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly replicas?: number };
}

export interface Watch {
  /** The API server answers. Rejects where it refuses the watch or is away. */
  readonly ready: Promise<void>;
  /** By `stop`, or because the API server ended the watch. */
  readonly ended: Promise<unknown>;
  readonly stop: () => void;
}

/**
 * Calls back for each object of a list as the API server reports its changes, from the present
 * state on.
 */
export const watchObjects = (
  { url, ca, token }: Server,
  path: string,
  seen: (type: string, object: WatchedObject) => void,
): Watch => {
  const place = new URL(path, url);
  place.searchParams.set("watch", "true");
  const request = https.get(place, {
    ca,
    headers: { authorization: `Bearer ${token}` },
    agent: false,
  });
  const ended = once(request, "close").catch(() => undefined);
  const ready = new Promise<void>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      if (response.statusCode !== 200) {
        request.destroy(
          new Error(`Cannot watch ${path}: the API server answered ${response.statusCode}`),
        );
        return;
      }
      resolve();
      const lines = createInterface({ input: response });
      // The end of the watch is ours.
      lines.on("error", () => undefined);
      lines.on("line", (line) => {
        const { type, object }: { readonly type: string; readonly object: WatchedObject } =
          JSON.parse(line);
        // What ends a watch from outside has no object.
        if (type !== "ERROR") seen(type, object);
      });
    });
  });
  return { ready, ended, stop: () => void request.destroy() };
};

/** Calls back for each deployment below a path with its count. */
export const watchReplicas = (
  server: Server,
  path: string,
  seen: (name: string, replicas: number) => void,
): Watch =>
  watchObjects(server, path, (_type, { metadata, spec }) => {
    if (spec?.replicas !== undefined) seen(metadata.name, spec.replicas);
  });

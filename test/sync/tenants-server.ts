import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { OutgoingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { kubernetes } from "../cluster/stand-in/kubernetes.ts";
import type { StandIn } from "../cluster/stand-in/server.ts";
import { ATTACKS, type Attack, fillOthers, type Manifest, othersOf } from "./tenants-attacks.ts";

/**
 * A cluster in a process of its own, so that what it costs to answer is not taken for what it costs
 * to ask.
 */
export interface TenantsServer {
  readonly url: string;
  readonly ca: string;
  readonly tenant: readonly Manifest[];
  readonly close: () => void;
}

/**
 * Makes each page of a LIST once, until a write: a real API server has its objects as bytes, and
 * packs them faster than this one.
 */
const keepPages = (server: StandIn): void => {
  const inner = server.answer;
  const kept = new Map<string, { readonly headers: OutgoingHttpHeaders; readonly body: Buffer }>();
  server.answer = (seen, response, socket) => {
    if (seen.method !== "GET") kept.clear();
    const { searchParams, pathname } = seen.url;
    if (seen.method !== "GET" || !searchParams.has("limit")) return inner(seen, response, socket);
    const key = [
      pathname,
      ...["limit", "continue", "fieldSelector"].map((name) => searchParams.get(name)),
      seen.headers.accept,
    ].join(" ");
    const known = kept.get(key);
    if (known) return void response.writeHead(200, known.headers).end(known.body);
    let headers: OutgoingHttpHeaders = {};
    const writeHead = response.writeHead.bind(response);
    const end = response.end.bind(response);
    Object.assign(response, {
      writeHead: (code: number, sent: OutgoingHttpHeaders) => {
        headers = sent;
        return writeHead(code, sent);
      },
      end: (body: string | Buffer) => {
        kept.set(key, { headers, body: Buffer.from(body as string) });
        return end(body);
      },
    });
    return inner(seen, response, socket);
  };
};

/** Starts the cluster of this many others, beside an attack or alone. It ends with its parent. */
export const tenantsServer = async (others: number, attack?: Attack): Promise<TenantsServer> => {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [
    String(others),
    attack?.name ?? "",
  ]);
  const [made] = (await once(child, "message")) as [Omit<TenantsServer, "close">];
  return { ...made, close: () => void child.disconnect() };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await kubernetes();
  fillOthers(server, othersOf(Number(process.argv[2])));
  const tenant = ATTACKS.find(({ name }) => name === process.argv[3])?.make(server) ?? [];
  keepPages(server);
  process.once("disconnect", () => process.exit(0));
  process.send?.({ url: server.url, ca: server.ca, tenant });
}

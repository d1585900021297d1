import { decode } from "../cluster/api-path.ts";
import type { ApiRequest } from "../cluster/request-parts.ts";
import { methodNotAllowed, notFound } from "../cluster/status.ts";
import { instantQuery, type Scraped } from "./instant-query.ts";
import { recordedQueue } from "./recorded-queue.ts";

/** The whole answer of a service of the cluster, which its API server passes on as it is. */
export class ServiceReply {
  readonly code: number;
  readonly body: unknown;

  constructor(code: number, body: unknown) {
    this.code = code;
    this.body = body;
  }
}

const PROXY = /^\/api\/v1\/namespaces\/([^/]+)\/services\/([^/]+)\/proxy(\/.*)?$/;
const QUEUE = /^\/queues\/([\w.-]+)$/;
const NO_PAGE = new ServiceReply(404, "404 page not found\n");

type Service = (path: string, query: URLSearchParams, scraped: Scraped) => ServiceReply;

const prometheus: Service = (path, query, scraped) => {
  if (path !== "/api/v1/query") return NO_PAGE;
  const { code, body } = instantQuery(query.get("query") ?? "", scraped);
  return new ServiceReply(code, body);
};

const jobs: Service = (path, _query, { workloads, nowMs }) => {
  const queue = recordedQueue(workloads, QUEUE.exec(path)?.[1] ?? "", nowMs);
  return queue === undefined ? NO_PAGE : new ServiceReply(200, queue);
};

/** The services of a simulated cluster, as its API server names them. */
const SERVICES: Readonly<Record<string, Service>> = {
  "monitoring/http:prometheus:9090": prometheus,
  "monitoring/http:jobs:8080": jobs,
};

/** Answers a GET that is passed on to a service of the cluster; undefined for every other path. */
export const serviceAnswer = ({ method, path, query }: ApiRequest, scraped: Scraped): ServiceReply | undefined => {
  const [whole, namespace = "", name = "", rest = "/"] = PROXY.exec(path) ?? [];
  if (whole === undefined) return undefined;
  if (method !== "GET") throw methodNotAllowed();
  const named = decode(name);
  const service = Object.entries(SERVICES).find(([place]) => place === `${decode(namespace)}/${named}`)?.[1];
  if (service === undefined) throw notFound({ group: "", resource: "services" }, named.split(":")[1] ?? named);
  return service(rest, query, scraped);
};

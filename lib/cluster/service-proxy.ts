import { proxyName } from "../model/metric-source.ts";
import { segment } from "./paths.ts";
import type { ServiceAnswer, ServiceRequest } from "./port.ts";
import type { ApiSession } from "./scale.ts";

/**
 * Sends one GET to a service of the cluster through its API server: with the connection and the credentials that the cluster has, without an ingress. The API server sends the request to a pod
 * of the service and removes our credentials from it. The right is `get` of `services/proxy` for this one service (`tidemark cluster rbac --source`).
 */
export const getFromService = (
  { transport }: ApiSession,
  { service, path, parameters, headers }: ServiceRequest,
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<ServiceAnswer> =>
  transport.getOnce(
    {
      path: `/api/v1/namespaces/${segment(service.namespace)}/services/${segment(proxyName(service))}/proxy${service.path}${path}`,
      resource: "services/proxy",
      query: parameters,
      maxBytes: limits.maxBytes,
      ...(headers && { headers }),
    },
    limits.timeoutMs,
  );

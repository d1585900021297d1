import type { WorkloadModel } from "./definition.ts";

/** The share of the demand that each ready pod gets: an equal one, up to its limit. */
export interface Load {
  /** Units that each ready pod is asked for. */
  readonly perPod: number;
  /** CPU that each ready pod uses. */
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  readonly served: number;
  readonly unserved: number;
}

export const spread = (model: WorkloadModel, demand: number, ready: number): Load => {
  const perPod = ready > 0 ? demand / ready : 0;
  const served = Math.min(demand, ready * capacityPerPod(model));
  return {
    perPod,
    cpuMillicores: Math.min(model.limits.cpuMillicores, model.idle.cpuMillicores + perPod * model.cpuMillicoresPerUnit),
    memoryBytes: Math.min(model.limits.memoryBytes, model.idle.memoryBytes + perPod * model.memoryBytesPerUnit),
    served,
    unserved: demand - served,
  };
};

/** Units that one pod can serve before its CPU limit throttles it. */
export const capacityPerPod = ({ limits, idle, cpuMillicoresPerUnit }: WorkloadModel): number =>
  (limits.cpuMillicores - idle.cpuMillicores) / cpuMillicoresPerUnit;

/** CPU of the ready pods in percent of their request; absent without ready pods or without a request. */
export const cpuPercent = ({ requests }: WorkloadModel, load: Load, ready: number): number | undefined =>
  ready > 0 && requests.cpuMillicores > 0 ? (100 * load.cpuMillicores) / requests.cpuMillicores : undefined;

/** True while the demand exceeds the target, or while there is demand and no ready pod. Undefined without a target. */
export const isAboveTarget = (model: WorkloadModel, demand: number, load: Load, ready: number): boolean => {
  if (model.targetCpuPercent === undefined) return false;
  const percent = cpuPercent(model, load, ready);
  return percent === undefined ? demand > 0 : percent > model.targetCpuPercent;
};

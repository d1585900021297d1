import { isObject } from "../model/is-object.ts";
import type { AutoscalerView } from "../service/views/autoscaler-view.ts";
import { kubernetesObject } from "./output/kubernetes-object.ts";
import { usage } from "./usage-error.ts";

/** Steps of the path of a field in the document that `get -o json` prints. */
export type SortField = readonly string[];

const PATH = /^\{?\.?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\}?$/;
const EXAMPLE = "write for example .status.currentReplicas";

/** Reads ".status.currentReplicas", also in braces and without the first point, as kubectl does. Throws a usage error. */
export const readSortField = (text: string): SortField => {
  const path = PATH.exec(text)?.[1];
  if (path === undefined) throw usage(`Cannot read --sort-by "${text}": it is no path of a field; ${EXAMPLE}`);
  return path.split(".");
};

/** The autoscalers in order of a field, those without it last; equal ones stay in their order. Throws a usage error when no autoscaler has it. */
export const sortedBy = (views: readonly AutoscalerView[], field: SortField): readonly AutoscalerView[] => {
  const keyed = views.map((view) => ({ view, value: valueAt(kubernetesObject(view), field) }));
  if (views.length > 0 && keyed.every(({ value }) => value === undefined))
    throw usage(`Cannot sort by "${field.join(".")}": no autoscaler of the list has that field; ${EXAMPLE}`);
  return keyed.sort((left, right) => compare(left.value, right.value)).map(({ view }) => view);
};

type Value = string | number | undefined;

const valueAt = (document: unknown, path: SortField): Value => {
  const value = path.reduce<unknown>((parent, step) => (isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined), document);
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" || typeof value === "number" ? value : undefined;
};

const compare = (left: Value, right: Value): number => {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left) < String(right) ? -1 : 1;
};

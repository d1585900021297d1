import { invalid, type Problem, required } from "../../fields/problem.ts";
import { pathSegmentFaults } from "../kubernetes-names.ts";
import type { Reference } from "./v2-shape.ts";

/** Kind and name of an object; each is a segment of a path. */
export const referenceProblems = (reference: Reference | undefined, path: string): Problem[] => [
  ...segmentProblems(reference?.kind, `${path}.kind`, "", "write its kind, such as Deployment"),
  ...segmentProblems(reference?.name, `${path}.name`, "", "write its name"),
];

export const segmentProblems = (value: string | undefined, path: string, whenEmpty: string, fix: string): Problem[] =>
  value === undefined || value === ""
    ? [required(path, whenEmpty, fix)]
    : pathSegmentFaults(value).map((fault) => invalid(path, fault, "write the name in the cluster, without / and %"));

export const unreadableVersion = (path: string, apiVersion: string): Problem =>
  invalid(path, `unexpected GroupVersion string: ${apiVersion}`, "write group/version, such as apps/v1");

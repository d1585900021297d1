import { pathSegmentFaults } from "../kubernetes-names.ts";
import { invalid, type Problem } from "../problem.ts";

/** Names become parts of a path. An absent one is reported with the bounds. */
export const segmentProblems = (name: string | undefined, path: string): readonly Problem[] =>
  pathSegmentFaults(name ?? "").map((fault) => invalid(path, fault, "write the name in the cluster, without / and %"));

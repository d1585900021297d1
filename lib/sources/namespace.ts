import { group } from "../fields/field-types.ts";
import { IDENTIFIER_FIELDS, type IdentifierRead, identifierOf } from "./metric-identifier.ts";
import { OBJECT, type ObjectQuery, type ObjectSpec } from "./object.ts";
import type { MetricSource } from "./source.ts";

const { rules: _ofTheObject, ...ofObject } = OBJECT;

/** A custom metric of the namespace of the autoscaler: that of an object, whose name the question fills in. */
export const NAMESPACE: MetricSource<IdentifierRead, ObjectSpec, ObjectQuery, readonly [bigint]> = {
  ...ofObject,
  namedBy: ["metric"],
  field: group("A custom metric of the namespace itself.", IDENTIFIER_FIELDS),
  specOf: (read) => ({ type: "Object", describedObject: { apiVersion: "v1", kind: "Namespace", name: "" }, metric: identifierOf(read) }),
};

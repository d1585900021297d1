import type { AutoscalerVersion, EditCondition } from "../service/service.ts";
import { IF_MATCH_HEADER } from "./paths.ts";
import { invalid } from "./read-input.ts";
import type { ApiRequest } from "./request-and-answer.ts";

const FIELD = "If-Match";

/** A list of entity tags (RFC 9110, sections 5.6.1 and 8.8.3). An item may be empty, but not all of them. */
const TAG = String.raw`(?:W/)?"[!#-~\x80-\xff]*"`;
const LIST = new RegExp(String.raw`^[ \t,]*${TAG}[ \t]*(?:,[ \t]*(?:${TAG}[ \t]*)?)*$`);
const EACH_TAG = /(W\/)?"([^"]*)"/g;
/** What `entityTag` writes. A leading zero makes another tag. */
const VERSION = /^(.+)\.([1-9]\d{0,14})$/;

/** The condition in the header If-Match; undefined without one. Throws `api.invalid` for a malformed header. */
export const conditionIn = ({ headers }: ApiRequest): EditCondition | undefined => {
  const text = headers[IF_MATCH_HEADER]?.trim();
  if (text === undefined) return undefined;
  if (text === "*") return "exists";
  if (LIST.test(text)) return [...text.matchAll(EACH_TAG)].flatMap(([, weak, tag = ""]) => (weak === undefined ? versionIn(tag) : []));
  throw invalid([{ field: FIELD, message: 'must be *, or the ETag of an answer in its quotes, such as "UID.4"' }]);
};

/** A tag in another form is well-formed, and belongs to no autoscaler. Weak tags match nothing either, because If-Match compares strongly (section 13.1.1). */
const versionIn = (tag: string): readonly AutoscalerVersion[] => {
  const [, uid, generation] = VERSION.exec(tag) ?? [];
  return uid === undefined || generation === undefined ? [] : [{ uid, generation: Number(generation) }];
};

/** Refuses a condition at a route that takes none. An edit whose condition is ignored could overwrite what its caller has not seen. */
export const mustBeUnconditional = ({ headers }: ApiRequest): void => {
  if (headers[IF_MATCH_HEADER] === undefined) return;
  throw invalid([{ field: FIELD, message: "is not taken by this route, only by edits of one autoscaler; remove it" }]);
};

import type { FieldDescription } from "../../fields/field-types.ts";
import type { Problem } from "../../fields/problem.ts";
import { apiProblems, membersProblems, rulesProblems } from "./api-problems.ts";
import { MARKS, MARKS_IN_ORDER, SELECTOR_OF_MARKS, TARGET_OR_MARKS } from "./level-fields.ts";
import { MEMBER_DEMANDS, MEMBERS, METRIC_FIELD, NO_OTHERS_OF_UNKNOWN, SOURCES, type SourceMember } from "./metric-fields.ts";
import { isMarked, type Metric } from "./v2-shape.ts";

type Block = NonNullable<Metric[SourceMember]>;

const FIELDS_OF = Object.fromEntries(Object.values(SOURCES).map(({ member, about }) => [member, about.fields ?? {}])) as Readonly<
  Record<SourceMember, Readonly<Record<string, FieldDescription>>>
>;
const { fields: { type: TYPE } = {} } = METRIC_FIELD;

/** Problems of a metric in the order of the API: the type, the first member, the others, then what the API does not have. */
export const metricProblems = (metric: Metric, path: string): readonly Problem[] => {
  const marked = isMarked(metric);
  const [first] = MEMBERS.filter((member) => metric[member] !== undefined);
  return [
    ...(TYPE ? apiProblems(TYPE, metric.type, `${path}.type`) : []),
    ...(first ? membersProblems(FIELDS_OF[first], withoutMarks(metric[first] ?? {}, marked), `${path}.${first}`) : []),
    ...rulesProblems([MEMBER_DEMANDS.get(metric.type ?? "") ?? NO_OTHERS_OF_UNKNOWN], metric, path),
    ...(marked
      ? MEMBERS.flatMap((member) => markProblems(metric[member], `${path}.${member}`))
      : rulesProblems([SELECTOR_OF_MARKS], metric.resource, `${path}.resource`)),
  ];
};

/** A block with marks needs no target, and a target beside them is not checked. */
const withoutMarks = (block: Block, marked: boolean): Block => ({
  ...block,
  highWatermark: undefined,
  lowWatermark: undefined,
  target: marked ? undefined : (block.target ?? {}),
});

const markProblems = (block: Block | undefined, path: string): readonly Problem[] => [
  ...rulesProblems([TARGET_OR_MARKS], block, path),
  ...membersProblems(MARKS, block, path),
  ...rulesProblems(MARKS_IN_ORDER, block, path),
];

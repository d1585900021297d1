import type { FieldDescription } from "../../fields/field-types.ts";
import {
  all,
  any,
  atMostOne,
  type RuleCondition,
  is,
  not,
  type Rule,
  isSet,
  some,
  unset,
} from "../../fields/rule.ts";
import { groupOf } from "../../model/spec-common.ts";
import { labelFaults, resourceFaults } from "../../model/kubernetes-names.ts";
import {
  CONTAINER_RESOURCE_PATTERN,
  choice,
  GROUP_VERSION,
  LABEL,
  object,
  REQUIRED,
  SELECTOR,
  saying,
  text,
} from "../native/field-descriptions.ts";
import {
  LEVEL_MARKS,
  MARKS_IN_ORDER,
  SELECTOR_OF_MARKS,
  TARGET_OR_MARKS,
  TARGETS,
} from "./level-fields.ts";

/**
 * What a metric of an HPA means, its bounds and rules as they are printed, and what the API says
 * where one is broken (hpa.md 1.3). validate-spec.ts has the order of the API.
 */

const SEGMENT = { ...REQUIRED, segment: true } as const;

/** Kind and name of an object; each is a segment of a path. */
export const REFERENCE = {
  kind: text("Its kind.", {
    ...SEGMENT,
    api: { required: ["", "write its kind, such as Deployment"] },
  }),
  name: text("Its name.", { ...SEGMENT, api: { required: ["", "write its name"] } }),
};

export const API_VERSION = text("Its API version.", {
  pattern: GROUP_VERSION,
  faults: (version) =>
    groupOf(version) === undefined ? [`unexpected GroupVersion string: ${version}`] : [],
  faultsFix: "write group/version, such as apps/v1",
});

const METRIC = object(
  "The metric.",
  {
    name: text("Its name, as the metrics API knows it.", {
      ...SEGMENT,
      api: {
        required: ["must specify a metric name", "write the name of the metric in the metrics API"],
      },
    }),
    selector: SELECTOR,
  },
  [],
  REQUIRED,
);
const RESOURCE = "cpu, memory, or another resource that pods request.";
const RESOURCE_FIX =
  "write cpu, memory or ephemeral-storage, or the full name of an extended resource, such as example.com/gpu";
const LEVELS = [TARGET_OR_MARKS, ...MARKS_IN_ORDER];

/** The members of a metric, by the type that each belongs to. */
export const METRIC_MEMBERS = {
  Resource: {
    member: "resource",
    about: object(
      "Use of a resource by the pods.",
      {
        name: text(RESOURCE, {
          ...REQUIRED,
          api: { required: ["must specify a resource name", "write name: cpu or name: memory"] },
        }),
        metricSelector: {
          ...SELECTOR,
          meaning: "With marks: labels of the measured pods, instead of the target's own pods.",
        },
        target: TARGETS.use,
        ...LEVEL_MARKS,
      },
      [...LEVELS, SELECTOR_OF_MARKS],
    ),
  },
  ContainerResource: {
    member: "containerResource",
    about: object(
      "Use of a resource by one container of each pod.",
      {
        name: text(RESOURCE, {
          ...REQUIRED,
          pattern: CONTAINER_RESOURCE_PATTERN,
          faults: resourceFaults,
          faultsFix: RESOURCE_FIX,
          api: { required: ["must specify a resource name", RESOURCE_FIX] },
        }),
        container: text("Name of the container.", {
          ...REQUIRED,
          pattern: LABEL,
          faults: labelFaults,
          faultsFix: "write the name of a container of the pods",
          api: {
            required: ["must specify a container", "write the name of the measured container"],
          },
        }),
        target: TARGETS.use,
        ...LEVEL_MARKS,
      },
      LEVELS,
    ),
  },
  Pods: {
    member: "pods",
    about: object(
      "A custom metric of each pod.",
      { metric: METRIC, target: TARGETS.pods, ...LEVEL_MARKS },
      LEVELS,
    ),
  },
  Object: {
    member: "object",
    about: object(
      "A custom metric of one object.",
      {
        describedObject: object(
          "The object.",
          { ...REFERENCE, apiVersion: API_VERSION },
          [],
          REQUIRED,
        ),
        metric: METRIC,
        target: TARGETS.object,
        ...LEVEL_MARKS,
      },
      LEVELS,
    ),
  },
  External: {
    member: "external",
    about: object(
      "A metric of something outside the cluster.",
      { metric: METRIC, target: TARGETS.external, ...LEVEL_MARKS },
      LEVELS,
    ),
  },
} as const;

/** The members in the order of the API, which checks only the first one that is set. */
export const MEMBERS = ["object", "external", "pods", "resource", "containerResource"] as const;
export type SourceMember = (typeof MEMBERS)[number];

/** A count of 0 times any value stays 0. */
export const noMarks = (metrics: string): RuleCondition =>
  not(
    some(
      metrics,
      any(
        ...MEMBERS.flatMap((member) => [
          isSet(`${member}.highWatermark`),
          isSet(`${member}.lowWatermark`),
        ]),
      ),
    ),
  );

/**
 * Where a metric has more than one member. A single wrong one is not reported: its type, or the
 * missing one, is.
 */
const noOthers = (when: RuleCondition, others: readonly SourceMember[]): Rule => ({
  when: all(when, not(atMostOne(...MEMBERS))),
  needs: unset(...others),
  detail: "must populate the given metric source only",
  fix: "remove it, or make it a metric of its own",
});

/** Requires exactly the member that the type names. */
const memberDemand = ([type, { member }]: readonly [
  string,
  { readonly member: SourceMember },
]): Rule => {
  const ofType = is("type", type);
  const others = MEMBERS.filter((other) => other !== member);
  return {
    ...saying(
      `with type: ${type}, write ${member} and no other source`,
      all(isSet(member), unset(...others)),
      ofType,
    ),
    parts: [
      {
        when: ofType,
        needs: isSet(member),
        detail: "must populate information for the given metric source",
        fix: `write the member "${member}", or another type`,
      },
      noOthers(ofType, others),
    ],
  };
};

export const MEMBER_DEMANDS: ReadonlyMap<string, Rule> = new Map(
  Object.entries(METRIC_MEMBERS).map((source) => [source[0], memberDemand(source)]),
);

/** Of a metric whose type is unknown, which is reported too. */
export const NO_OTHERS_OF_UNKNOWN = noOthers(
  not(is("type", ...Object.keys(METRIC_MEMBERS))),
  MEMBERS,
);

export const METRIC_FIELD: FieldDescription = object(
  "One metric: its type, and the member of that name.",
  {
    type: choice("Where the metric comes from.", Object.keys(METRIC_MEMBERS), {
      ...REQUIRED,
      api: {
        required: [
          "must specify a metric source type",
          "write type: Resource, or another of the five",
        ],
      },
    }),
    ...Object.fromEntries(
      Object.values(METRIC_MEMBERS).map(({ member, about }) => [member, about]),
    ),
  },
  [...MEMBER_DEMANDS.values()],
);

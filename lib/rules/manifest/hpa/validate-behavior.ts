import {
  choice,
  integer,
  listOf,
  object,
  quantity,
  REQUIRED,
} from "../native/field-descriptions.ts";

/** Bounds of hpa.md 1.1, also for a draft `constraints` block. */
export const MAX_STABILIZATION_SECONDS = 3_600;
export const MAX_PERIOD_SECONDS = 1_800;

const RULES = object("How fast in this direction.", {
  stabilizationWindowSeconds: integer("For how long recommendations hold the count.", {
    least: 0,
    most: MAX_STABILIZATION_SECONDS,
    api: {
      least: [
        "must be greater than or equal to zero",
        `write 0 to ${MAX_STABILIZATION_SECONDS} seconds`,
      ],
    },
  }),
  selectPolicy: choice("Which policy counts.", ["Max", "Min", "Disabled"]),
  policies: listOf(
    "Changes allowed per period.",
    object("One policy.", {
      type: choice("The unit of value.", ["Pods", "Percent"], REQUIRED),
      value: integer("How much.", {
        ...REQUIRED,
        least: 1,
        api: {
          least: [
            "must be greater than zero",
            "write 1 or more; selectPolicy: Disabled forbids the direction",
          ],
        },
      }),
      periodSeconds: integer("In how long.", {
        ...REQUIRED,
        least: 1,
        most: MAX_PERIOD_SECONDS,
        api: { least: ["must be greater than zero", `write 1 to ${MAX_PERIOD_SECONDS} seconds`] },
      }),
    }),
    {
      leastItems: 1,
      api: {
        least: [
          "must specify at least one Policy",
          "add a policy, or leave policies out for the defaults; selectPolicy: Disabled forbids the direction",
        ],
      },
    },
  ),
  tolerance: quantity("The band around the target in which the count stays.", {
    least: 0,
    api: {
      least: [
        "must be greater than or equal to 0",
        "write a fraction such as 0.05, or leave it out",
      ],
    },
  }),
});

/**
 * One place for what the field means, for its bounds as they are printed, and for what the API says
 * of a wrong value.
 */
export const BEHAVIOR_FIELD = object("As in autoscaling/v2.", { scaleUp: RULES, scaleDown: RULES });

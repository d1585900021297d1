import type { DoctorRule } from "../patient.ts";

export const HELD: DoctorRule = {
  name: "held",
  severity: "advice",
  finds:
    "a pause, a freeze, another controller or an override holds a count that the rules would change",
  examine: ({ evaluation }) => {
    const { withoutHold, because, from } = evaluation ?? {};
    if (withoutHold?.to === undefined || !because) return [];
    return [
      {
        evidence: `it holds at ${from} and would scale to ${withoutHold.to}: ${because.message}`,
        cost: `the count is ${Math.abs(withoutHold.to - (from ?? 0))} away from what the load asks for`,
        change: {
          field: `the hold ${because.reason}`,
          advice: `\`tidemark explain-reason ${because.reason}\` says what ends it`,
        },
      },
    ];
  },
};

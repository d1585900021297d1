import { outlookOf } from "../../lib/rules/policy/bounds/outlook.ts";
import { NOON } from "../noon.ts";
import { native } from "../policy/native/world.ts";
import { entry } from "../policy/bounds/schedules.ts";
import { countsText, loadAt, type Look, OWN_LOAD, type ReportGroup, synced } from "./report.ts";

const at = (atSeconds: number, load = 290): Look => loadAt(atSeconds, load);
const HOUR = 3_600;
const DAY = 24 * HOUR;

const scheduled = (schedule: readonly object[], more: object = {}) =>
  native({ maxReplicas: 100, metrics: [OWN_LOAD], schedule, ...more });

/** Faults about schedules. Noon is a Sunday, in UTC. */
export const OF_SCHEDULES: readonly ReportGroup[] = [
  {
    reports: ["kedacore/keda#4677"],
    fault:
      "a start from Monday to Friday and an end every day: pods run from Friday to Sunday evening",
    verdict: "better",
    does: "An entry has days with a beginning and an end.",
    play: () => {
      const spec = scheduled([
        {
          name: "office",
          timeZone: "Etc/UTC",
          days: ["Mon", "Tue", "Wed", "Thu", "Fri"],
          from: "06:30",
          to: "22:10",
          minReplicas: 5,
        },
      ]);
      // Sunday noon, Monday at 07:00, Friday at 23:00, Saturday noon.
      const looks = [at(0, 10), at(19 * HOUR, 10), at(5 * DAY + 11 * HOUR, 10), at(6 * DAY, 10)];
      return { expected: "1 → 1 → 5 → 1 → 1", got: countsText(1, synced(spec, 1, looks)) };
    },
  },
  {
    reports: ["kedacore/keda#932"],
    fault: "an unknown time zone fails only at run time",
    verdict: "better",
    does: "`apply` refuses it and says what to write.",
    play: () => {
      const schedule = [
        { name: "office", timeZone: "Europe/Belin", from: "08:00", to: "17:00", minReplicas: 5 },
      ];
      let got = "accepted";
      try {
        scheduled(schedule);
      } catch (error) {
        got = /write Europe\/\w+/.exec(String(error))?.[0] ?? String(error);
      }
      return { expected: "write Europe/Berlin", got };
    },
  },
  {
    reports: [
      "kedacore/keda#7900",
      "kedacore/keda#5263",
      "gocrane/crane#836",
      "zalando-incubator/kube-metrics-adapter#765",
      "zalando-incubator/kube-metrics-adapter#782",
    ],
    fault: "a schedule misses its count by up to a tenth, because it is a metric with a tolerance",
    verdict: "better",
    does: "A floor is a bound, and is met exactly.",
    play: () => {
      const spec = scheduled([
        { name: "noon", timeZone: "Etc/UTC", from: "12:01", to: "13:00", minReplicas: 31 },
      ]);
      return { expected: "29 → 29 → 31", got: countsText(29, synced(spec, 29, [at(0), at(60)])) };
    },
  },
  {
    reports: ["kedacore/keda#6844", "kedacore/keda#5688"],
    fault: "pods stay for minutes after the end of a window",
    verdict: "better",
    does: "Stabilization does not record what a floor forced, so the count falls with the end.",
    play: () => {
      const schedule = [
        { name: "noon", timeZone: "Etc/UTC", from: "12:00", to: "12:10", minReplicas: 10 },
      ];
      const spec = scheduled(schedule, { scaleDown: { stabilizationWindowSeconds: 300 } });
      const looks = [at(0, 20), at(300, 20), at(599, 20), at(600, 20)];
      return {
        expected: "10 → 10 → 10 → 10 → 2",
        got: countsText(10, synced(spec, 10, looks)),
      };
    },
  },
  {
    reports: [
      "hjacobs/kube-downscaler#28",
      "hjacobs/kube-downscaler#74",
      "hjacobs/kube-downscaler#44",
      "hjacobs/kube-downscaler#56",
      "AliyunContainerService/kubernetes-cronhpa-controller#104",
    ],
    fault: "overlapping windows, equal times, a forgotten count, and a time zone by default",
    verdict: "better",
    does: "Of entries at one time the highest floor counts, nothing is remembered, and the time zone must be written.",
    play: () => {
      const office = { timeZone: "Etc/UTC", from: "12:00", to: "14:00" };
      const spec = scheduled([
        { ...office, name: "low", minReplicas: 4 },
        { ...office, name: "high", from: "13:00", minReplicas: 7 },
      ]);
      const looks = [at(0, 10), at(HOUR, 10), at(2 * HOUR, 10)];
      return { expected: "2 → 4 → 7 → 1", got: countsText(2, synced(spec, 2, looks)) };
    },
  },
  {
    reports: ["hiddeco/cronjobber#18", "zalando-incubator/kubernetes-on-aws#1951"],
    fault: "a schedule at the hour that a change of the clock leaves out",
    verdict: "better",
    does: "`apply` says on which day a window has no time or another length.",
    play: () => {
      const night = entry({ name: "night", from: "02:10", to: "02:50", minReplicas: 5 });
      const bounds = { minReplicas: 2, maxReplicas: 20, schedule: [night] };
      const { warnings } = outlookOf(bounds, [], NOON);
      return {
        expected: "2026-03-29",
        got:
          /\d{4}-\d\d-\d\d/.exec(warnings.map(({ message }) => message).join(" "))?.[0] ?? "none",
      };
    },
  },
];

import { rfc3339 } from "../../answers/service/times.ts";
import { besideFirst } from "../../replay/comparison.ts";
import { type Figures, figuresOf, type TimeSpan } from "../../replay/figures.ts";
import type { Minutes } from "../../replay/minutes.ts";
import type { ReplayJob } from "../../replay/replay.ts";
import { worstHour } from "../../replay/tune/guards.ts";
import {
  frontOf,
  keepsPromise,
  namedPoints,
  POINT_NAMES,
  POINT_WORDS,
  type PointName,
  type TunedPoint,
} from "../../replay/tune/points.ts";
import type { SettingRange, Settings } from "../../replay/tune/settings.ts";
import type { Json } from "../../rules/model/json.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import {
  type FiguresReport,
  figuresReport,
  type PolicyReport,
  policyReport,
  type ReplayReport,
} from "../replay/report.ts";
import type { ReplayThreads } from "../replay/replay-threads.ts";
import { percentText } from "../replay/sheet.ts";
import { type SearchFound, jobWithin } from "./search.ts";
import type { TuneSubject } from "./subject.ts";
import { tunedDocument } from "./tuned-manifest.ts";

/** What a search of the numbers of a policy answers. Nothing of it is applied. */
export interface TuneReport {
  readonly of: string;
  readonly seed: number;
  readonly target: string;
  readonly tunedOn: { readonly since: string; readonly until: string };
  readonly reportedOn: { readonly since: string; readonly until: string };
  readonly assumptions: readonly string[];
  readonly guards: readonly string[];
  /** On the days that were tuned on. */
  readonly now: FiguresReport;
  readonly front: readonly FrontReport[];
  /** The policy of now, and the named points, on the days that were not tuned on. */
  readonly points: readonly PointReport[];
}

export interface FrontReport {
  readonly names: readonly PointName[];
  readonly settings: Settings;
  readonly figures: FiguresReport;
}

export interface PointReport {
  readonly name: "current" | PointName;
  readonly words: string;
  /** Absent where the policy of now is the best of its kind already. */
  readonly policy?: PolicyReport;
  /** False where the name does not hold on the days that were not tuned on, with what differs. */
  readonly holds: boolean;
  readonly differs?: string;
  readonly manifest: Json;
}

interface Reporting {
  readonly seed: number;
  readonly price: number | undefined;
}

/** ReplayThreads the named points over the whole time, and reports them on the days not tuned on. */
export const tuneReport = async (
  subject: TuneSubject,
  found: SearchFound,
  threads: ReplayThreads,
  { seed, price }: Reporting,
): Promise<TuneReport> => {
  const { tuned, reported, document, now } = subject;
  const nowTuned = figuresOf(found.now, tuned);
  const named = namedPoints(found.points, nowTuned);
  const present = POINT_NAMES.flatMap((name) => {
    const point = named[name];
    const manifest = point && tunedDocument(document, found.ranges, point.settings);
    return point && manifest ? [{ name, point, manifest }] : [];
  });
  const whole = { fromMs: tuned.fromMs, untilMs: reported.untilMs };
  const jobs = [now, ...present.map(({ name, manifest }) => subject.jobWith(name, manifest))].map(
    (job) => jobWithin(job, whole),
  );
  const replayed = await Promise.all(jobs.map(async (job) => withRaised(subject, threads, job)));
  const [first, ...others] = replayed;
  if (!first) throw new RangeError("The policy of now has a job");
  const results = besideFirst([first.minutes, ...others.map(({ minutes }) => minutes)], reported);
  const policies = results.map((result, at): PolicyReport => {
    const name = present[at - 1]?.name ?? "current";
    const raised = (replayed[at]?.raised ?? []).map(({ factor, minutes }) => ({
      factor,
      ...figuresReport(figuresOf(minutes, reported), price),
    }));
    const kind = at === 0 ? subject.kind : "PodAutoscaler";
    const own = policyReport({ name, kind }, result, price);
    return { ...own, ...(raised.length > 0 && { raised }) };
  });
  return {
    ...{ of: subject.of, seed, target: subject.target },
    tunedOn: spanOf(tuned),
    reportedOn: spanOf(reported),
    assumptions: subject.assumptions,
    guards: guardWords(subject, found),
    now: figuresReport(nowTuned, price),
    front: frontReport(found.points, named, price),
    points: [
      ...nowReport(policies[0], document),
      ...POINT_NAMES.map((name): PointReport => {
        const at = present.findIndex((one) => one.name === name);
        const policy = policies[at + 1];
        const words = POINT_WORDS[name];
        if (at < 0 || !policy) return { name, words, holds: true, manifest: document };
        const beside = { now: first.minutes, tuned: replayed[at + 1]?.minutes ?? first.minutes };
        const differs = differenceOf(name, beside, reported);
        const manifest = present[at]?.manifest ?? document;
        return {
          ...{ name, words, policy, manifest, holds: differs === undefined },
          ...(differs !== undefined && { differs }),
        };
      }),
    ],
  };
};

const nowReport = (policy: PolicyReport | undefined, manifest: Json): readonly PointReport[] =>
  policy ? [{ name: "current", words: "as it is", policy, holds: true, manifest }] : [];

const spanOf = ({ fromMs, untilMs }: TimeSpan) => ({
  since: rfc3339(fromMs),
  until: rfc3339(untilMs),
});

interface Raised {
  readonly minutes: Minutes;
  readonly raised: readonly { readonly factor: number; readonly minutes: Minutes }[];
}

const withRaised = async (
  { raisedJobs }: TuneSubject,
  threads: ReplayThreads,
  job: ReplayJob,
): Promise<Raised> => ({
  minutes: await threads.replay(job),
  raised: await Promise.all(
    raisedJobs(job).map(async ([factor, more]) => ({
      factor,
      minutes: await threads.replay(more),
    })),
  ),
});

/** The worst hour counts as worse from so many missing pods on. */
const MISSING_PODS = 0.05;

/** In words what of a name does not hold on the days that were not tuned on. */
const differenceOf = (
  name: PointName,
  { now, tuned }: { readonly now: Minutes; readonly tuned: Minutes },
  reported: TimeSpan,
): string | undefined => {
  if (name === "knee") return undefined;
  const [one, base] = [figuresOf(tuned, reported), figuresOf(now, reported)];
  const hour = worseHour(worstHour(tuned, reported), worstHour(now, reported));
  const parts = keepsPromise(name, one, base) ? hour : [...worseWords(one, base), ...hour];
  return parts.length === 0 ? undefined : parts.join(", ");
};

const worseHour = (worst: number, now: number): readonly string[] =>
  worst > now + MISSING_PODS
    ? [`${worst.toFixed(1)} pods missing in the worst hour, against ${now.toFixed(1)}`]
    : [];

const worseWords = (one: Figures, base: Figures): readonly string[] => {
  const [hours, above, unserved, scales] = [
    one.replicaHours / base.replicaHours - 1,
    one.aboveTarget - base.aboveTarget,
    (one.unserved ?? 0) - (base.unserved ?? 0),
    one.scales - base.scales,
  ];
  const shares = (of: "aboveTarget" | "unserved"): string =>
    `${percentText(one[of])}, against ${percentText(base[of])}`;
  return [
    ...(hours > 0 ? [`${percentText(hours)} dearer`] : []),
    ...(above > 0 ? [`time above the target ${shares("aboveTarget")}`] : []),
    ...(unserved > 0 ? [`load not served ${shares("unserved")}`] : []),
    ...(scales > 0 ? [`${one.scales} scales, against ${base.scales}`] : []),
  ];
};

const guardWords = (
  { cutOff, spec }: TuneSubject,
  { guards, ranges, kept }: SearchFound,
): readonly string[] => [
  guards.leastMin === spec.minReplicas
    ? `minReplicas is ${spec.minReplicas} at least: ${spec.minReplicas === 1 ? "there is no lower one" : "with fewer the worst hour is served worse than now"}`
    : `minReplicas is ${guards.leastMin} at least, and ${spec.minReplicas} now: with ${guards.leastMin} the worst hour is served as well as now`,
  guards.isCutOff
    ? `No target rises: demand was cut off in ${percentText(cutOff)} of the time, and how much was asked for then is not known`
    : "Demand was not seen to be cut off, so that targets may rise",
  ...(kept.has("maxReplicas") ? [] : [maximumWords(ranges.maxReplicas, guards.largestCount)]),
];

const maximumWords = ({ now, most }: SettingRange, largestCount: number): string =>
  most === now
    ? `maxReplicas stays at ${now}: the count was ${largestCount} at most`
    : `maxReplicas may rise up to ${most}, because the count was at ${now}; --keep max leaves it there`;

const frontReport = (
  points: readonly TunedPoint[],
  named: ReturnType<typeof namedPoints>,
  price: number | undefined,
): readonly FrontReport[] => {
  const front = frontOf(points);
  const besides = POINT_NAMES.flatMap((name) => {
    const point = named[name];
    return point && !front.includes(point) ? [point] : [];
  });
  return [...front, ...new Set(besides)].map((point) => ({
    names: POINT_NAMES.filter((name) => named[name] === point),
    settings: point.settings,
    figures: figuresReport(point.figures, price),
  }));
};

/** The points as a replay reports policies, so that both have one table. */
export const asReplayReport = (
  { of, reportedOn, target, points }: TuneReport,
  periodMs: number,
): ReplayReport => ({
  ...{ of, target, ...reportedOn },
  ...{ warmUpSeconds: 0, podStartSeconds: 0, syncPeriodSeconds: periodMs / SECOND_MS },
  assumptions: [],
  policies: points.flatMap(({ policy }) => policy ?? []),
});

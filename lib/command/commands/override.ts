import { present } from "../../rules/model/json.ts";
import { instantText, withLocalTimes } from "../../stack/report/instant-text.ts";
import { lines, text, type Word } from "../../stack/report/printed.ts";
import type { NewOverride, OverrideQuery } from "../../answers/service/requests.ts";
import type {
  BoundsView,
  OverrideEdited,
  OverrideMeeting,
  OverrideSetView,
  OverrideView,
} from "../../answers/views/holds.ts";
import {
  type Choice,
  type ChoiceOptions,
  choiceOfEdit,
  chosenForEdit,
} from "../select/chosen-autoscalers.ts";
import type { Printer, Session, Paint } from "../io.ts";
import { forEachResource, nothingListed } from "../select/listed-autoscalers.ts";
import { untilText } from "../../stack/report/duration-text.ts";
import { Table } from "../output/text-table.ts";
import { boundByText, endText, placeText, setText } from "../../answers/words/bounds-words.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import type { ScopeOptions } from "../options/scope-options.ts";
import { queryFor } from "../select/selected-names.ts";
import { futureMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";

export interface SetOptions extends ChoiceOptions {
  readonly fleet?: true;
  readonly min?: string;
  readonly max?: string;
  readonly pin?: string;
  readonly minFactor?: string;
  readonly hold?: true;
  readonly until?: string;
  readonly from?: string;
  readonly reason: string;
  readonly force?: true;
  readonly dryRun?: boolean;
  readonly output: "text" | DocumentFormat;
}

export interface ListOptionsOfOverrides extends ScopeOptions {
  readonly all?: true;
  readonly expired?: true;
  readonly output: "table" | DocumentFormat;
}

/** Where overrides are set: a place without names, or each autoscaler that is chosen. */
type Places =
  | { readonly kind: "place"; readonly place: OverrideQuery & { readonly fleet?: true } }
  | { readonly kind: "choice"; readonly choice: Choice };

/** Reads what the override is for, before anything is opened. */
export const placesOf = (names: readonly string[], options: SetOptions): Places => {
  const { fleet, cluster, namespace, selector } = options;
  if (names.length > 0 || selector !== undefined) {
    if (fleet) throw usage("Cannot use --fleet with names or --selector: give one of them");
    return { kind: "choice", choice: choiceOfEdit("override set", names, options) };
  }
  refuseUnclear(options);
  return { kind: "place", place: present({ fleet, cluster, namespace }) };
};

/**
 * A place without names must be one place, which was named: an override of more than was meant
 * holds or scales too much.
 */
const refuseUnclear = ({
  fleet,
  cluster,
  namespace,
  clusters,
  allNamespaces,
}: SetOptions): void => {
  if (clusters !== undefined)
    throw usage(
      `Cannot use --clusters "${clusters}" without names or --selector: set an override for one cluster with --cluster`,
    );
  if (allNamespaces)
    throw usage(
      "Cannot use --all-namespaces without --selector: name a cluster with --cluster, or use --fleet",
    );
  if (fleet && (cluster ?? namespace) !== undefined)
    throw usage("Cannot use --fleet with --cluster or --namespace: give one of them");
  if (!fleet && cluster === undefined && namespace === undefined)
    throw usage(
      "Cannot set an override: say what it is for, with a name, --namespace, --cluster or --fleet",
    );
};

/** Reads what is set. The service checks the rest. */
export const setOf = ({ min, max, pin, minFactor, hold }: SetOptions): OverrideSetView => {
  if (pin !== undefined && (min ?? max ?? minFactor) !== undefined)
    throw usage("Cannot use --pin with --min, --max or --min-factor: it sets both bounds");
  const numbers = {
    min: numberOf("--min", min ?? pin),
    max: numberOf("--max", max ?? pin),
    minFactor: numberOf("--min-factor", minFactor),
  };
  const set = present({ hold, ...numbers });
  if (Object.keys(set).length === 0)
    throw usage("Cannot set an override: give --min, --max, --pin, --min-factor or --hold");
  return set;
};

const numberOf = (option: string, words: string | undefined): number | undefined => {
  if (words === undefined) return undefined;
  const value = Number(words);
  if (words.trim() !== "" && Number.isFinite(value)) return value;
  throw usage(`Cannot use ${option} "${words}": give a number`);
};

interface Setting {
  readonly places: Places;
  readonly wanted: OverrideSetView;
  readonly options: SetOptions;
}

export const set = async (
  session: Session,
  printer: Printer,
  { places, wanted, options }: Setting,
): Promise<void> => {
  const { service, nowMs } = session;
  const { from, until, reason, force, dryRun } = options;
  const fromMs = from === undefined ? undefined : futureMs("--from", from, nowMs, printer.note);
  const untilMs = until === undefined ? undefined : futureMs("--until", until, nowMs, printer.note);
  const override: Omit<NewOverride, keyof OverrideQuery | "fleet"> = {
    ...wanted,
    reason,
    ...present({ fromMs, untilMs, force, dryRun: dryRun || undefined }),
  };
  if (places.kind === "place")
    return printSet(
      await service.setOverride({ ...override, ...places.place }),
      printer,
      options,
      session.nowMs,
    );
  const chosen = await chosenForEdit(service, places.choice);
  if (chosen.length === 0) printer.report(nothingListed(options));
  await forEachResource(chosen, async ({ version: _version, ...resource }) =>
    printSet(
      await service.setOverride({ ...override, ...(await queryFor(service, resource)) }),
      printer,
      options,
      session.nowMs,
    ),
  );
};

const printSet = async (
  edited: OverrideEdited,
  printer: Printer,
  { dryRun, output }: SetOptions,
  nowMs: number,
): Promise<void> => {
  if (output !== "text") {
    await printer.print(documentText(edited, output));
    return;
  }
  const { override, warnings, meets, more } = withLocalTimes(edited);
  for (const warning of warnings) printer.report(text`warning: ${warning}`);
  await printer.print(
    text`Override ${dryRun ? "(dry run)" : override.id} of ${placeText(override)}: ${setText(override)} ${timesText(override, nowMs)}\n`,
  );
  if (!dryRun) return;
  if (meets.length > 0)
    await printer.print(
      lines(
        new Table(["CLUSTER", "NAMESPACE", "NAME", "MIN", "MAX", "WHAT"]).lines(
          meets.map(meetingRow),
        ),
      ),
    );
  if (more)
    printer.note(
      text`more autoscalers are met than the ${String(meets.length)} that were looked at`,
    );
};

const meetingRow = ({
  cluster,
  namespace,
  name,
  before,
  after,
}: OverrideMeeting): readonly Word[] => [
  cluster,
  namespace,
  name,
  movedText(before.min.replicas, after.min.replicas),
  movedText(before.max.replicas, after.max.replicas),
  whatText(before, after),
];

const movedText = (before: number, after: number): string =>
  before === after ? String(after) : `${before} -> ${after}`;

const whatText = (before: BoundsView, after: BoundsView): string =>
  [
    ...(after.holds?.length ? ["held"] : []),
    ...(after.unknownCalendar ? [`held: no calendar "${after.unknownCalendar.name}"`] : []),
    ...(["min", "max"] as const).flatMap((field) => {
      const { replicas, by } = after[field];
      const isPlain =
        by.kind === "manifest" || (by.kind === "override" && before[field].replicas !== replicas);
      return isPlain ? [] : [`${field} ${boundByText(by)}`];
    }),
  ].join(", ") || "-";

const timesText = ({ state, from, until }: OverrideView, nowMs: number): string => {
  return `${state === "ahead" ? `from ${from} ` : ""}${endText(until, nowMs)}`;
};

const HEADERS = ["ID", "PLACE", "SETS", "STATE", "FROM", "UNTIL", "BY", "REASON"] as const;

export const list = async (
  { service, nowMs }: Session,
  printer: Printer,
  query: OverrideQuery,
  { all, expired, output }: ListOptionsOfOverrides,
): Promise<void> => {
  const found = await Array.fromAsync(
    service.overrides({ ...query, ...(!all && !expired && { expired: "no" }) }),
  );
  const shown = found.filter(({ state }) =>
    expired ? state === "expired" : all || state !== "expired",
  );
  if (output !== "table") {
    await printer.print(documentText({ items: shown }, output));
    return;
  }
  if (shown.length === 0) await printer.print(text`No overrides\n`);
  else
    await printer.print(
      lines(
        new Table(HEADERS).lines(
          withLocalTimes(shown).map((view) => rowOf(view, nowMs, printer.paint)),
        ),
      ),
    );
};

const STATE_STYLES = { active: "warn", ahead: "quiet", expired: "quiet" } as const;

const rowOf = (view: OverrideView, nowMs: number, paint: Paint): readonly Word[] => {
  const { id, state, force, from, until, by, reason } = view;
  const end =
    until === undefined
      ? "never"
      : `${until}${state === "expired" ? "" : ` (${untilText(Date.parse(until), nowMs)})`}`;
  return [
    id,
    placeText(view),
    `${setText(view)}${force ? ", forced" : ""}`,
    paint(STATE_STYLES[state], state),
    from,
    end,
    by,
    reason,
  ];
};

export const extend = async (
  { service, nowMs }: Session,
  printer: Printer,
  id: string,
  { until, cluster }: ScopeOptions & { readonly until: string },
): Promise<void> => {
  const untilMs = futureMs("--until", until, nowMs, printer.note);
  const { changed, override } = await service.extendOverride({
    id,
    untilMs,
    ...(cluster !== undefined && { cluster }),
  });
  await printer.print(
    text`Override ${id} of ${placeText(override)} ${changed ? "ends" : "ended already"} at ${instantText(untilMs)}\n`,
  );
};

export const clear = async (
  { service }: Session,
  printer: Printer,
  ids: readonly string[],
  { cluster }: ScopeOptions,
): Promise<void> =>
  forEachResource(ids, async (id) => {
    const { changed, override } = await service.clearOverride({
      id,
      ...(cluster !== undefined && { cluster }),
    });
    const words = changed
      ? "cleared"
      : `had expired at ${withLocalTimes(override.until)}; nothing was changed`;
    await printer.print(text`Override ${id} of ${placeText(override)} ${words}\n`);
  });

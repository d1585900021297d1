import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { text } from "../../stack/report/printed.ts";
import type { FleetMoved, FleetView } from "../../answers/views/cluster.ts";
import type { Printer, Session } from "../io.ts";
import { frozenText } from "../output/describe-sheet.ts";
import { documentText } from "../output/documents.ts";
import { usage } from "../usage-error.ts";
import type { SheetOptions } from "../options/command-options.ts";

export interface FreezeOptions {
  readonly reason: string;
  readonly replace?: true;
}

/** Checked before the folder or stack is opened. */
export const freezeReason = ({ reason }: FreezeOptions): string => {
  if (reason.trim() === "")
    throw usage(
      "Cannot freeze the fleet: --reason is empty; give the reason that describe and the log show",
    );
  return reason;
};

export const freeze = async (
  { service }: Session,
  printer: Printer,
  reason: string,
  replace: boolean,
): Promise<void> => {
  const { changed, frozen } = await service.freeze(reason, replace);
  const already = frozen
    ? text`The fleet is already frozen ${frozenText(withLocalTimes(frozen))}\nNothing was changed; use --replace to replace this reason with yours\n`
    : text``;
  await printer.print(changed ? text`Fleet frozen; every workload keeps its count\n` : already);
};

export const thaw = async ({ service }: Session, printer: Printer): Promise<void> => {
  await service.thaw();
  await printer.print(text`Fleet thawed\n`);
};

/** Checked before the stack is opened. */
export const confirmed = ({ yes }: { readonly yes?: true }): void => {
  if (!yes)
    throw usage(
      "Cannot adopt the tables: what happened after the instant of the restore is unknown to them; check that no other stack goes on with the former tables, then add --yes",
    );
};

export const adopt = async ({ service }: Session, printer: Printer): Promise<void> => {
  const { clusters, autoscalers, frozen } = await service.adopt();
  const counts = text`${autoscalers} autoscalers of ${clusters} clusters`;
  await printer.print(
    text`Tables adopted; ${counts} go on as if each had just been scaled as far as its rules allow\n`,
  );
  if (frozen) await printer.print(text`Fleet frozen ${frozenText(withLocalTimes(frozen))}\n`);
};

export const moveTo = async ({ service }: Session, printer: Printer, to: string): Promise<void> => {
  await printer.print(movedText(await service.move(to)));
};

const movedText = ({ kind, region, from, takeAt = "now", autoscalers, partitions }: FleetMoved) => {
  const counts = text`${autoscalers} autoscalers of ${partitions} partitions`;
  const source = from === undefined ? text`` : text` from "${from}"`;
  switch (kind) {
    case "left":
      return text`Fleet given up${source}; nothing is scaled until the stack in "${region}" takes it, from ${takeAt} on\nRun the same command there\n`;
    case "taken":
      return text`Fleet moved to "${region}"${source}; ${counts} go on as if each had just been scaled as far as its rules allow\n`;
    case "repaired":
      return text`The fleet is in "${region}"; ${counts} that another region had written over go on as if each had just been scaled as far as its rules allow\n`;
    case "here":
      return text`The fleet is in "${region}"; nothing was to be done\n`;
  }
};

export const describe = async (
  { service }: Session,
  printer: Printer,
  { output }: SheetOptions,
): Promise<void> => {
  const fleet = await service.fleet();
  const restored = fleet.restored
    ? text`The tables were restored or are a copy: nothing is scaled until "tidemark fleet adopt"\n`
    : text``;
  const words = fleet.frozen
    ? text`${restored}${placeText(fleet)}Fleet frozen ${frozenText(withLocalTimes(fleet.frozen))}\n`
    : text`${restored}${placeText(fleet)}Fleet not frozen\n`;
  await printer.print(output === "text" ? words : documentText(fleet, output));
};

const placeText = ({ standby, leaving, moved }: FleetView) => {
  if (standby)
    return text`This stack is a standby: the fleet is in ${standby.region ?? "another region"}${standby.since === undefined ? text`` : text` since ${standby.since}`}\n`;
  if (leaving)
    return text`Given up for ${leaving.to} at ${leaving.at}: nothing is scaled until "tidemark fleet move --to ${leaving.to}" there\n`;
  return moved
    ? text`Moved here${moved.from === undefined ? text`` : text` from ${moved.from}`} at ${moved.at} by ${moved.by}\n`
    : text``;
};

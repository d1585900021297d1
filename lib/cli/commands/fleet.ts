import { text } from "../../report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { frozenText } from "../output/describe-sheet.ts";
import { documentText } from "../output/document-text.ts";
import { usage } from "../usage-error.ts";
import type { SheetOptions } from "./describe.ts";

export interface FreezeOptions {
  readonly reason: string;
  readonly replace?: true;
}

/** Checked before the folder or stack is opened. */
export const reasonOf = ({ reason }: FreezeOptions): string => {
  if (reason.trim() === "") throw usage("Cannot freeze the fleet: --reason is empty; give the reason that describe and the log show");
  return reason;
};

export const freeze = async ({ service }: Session, printer: Printer, reason: string, replace: boolean): Promise<void> => {
  const { changed, frozen } = await service.freeze(reason, replace);
  const already = frozen
    ? text`The fleet is already frozen ${frozenText(frozen)}\nNothing was changed; use --replace to replace this reason with yours\n`
    : text``;
  await printer.print(changed ? text`Fleet frozen; every workload keeps its count\n` : already);
};

export const thaw = async ({ service }: Session, printer: Printer): Promise<void> => {
  await service.thaw();
  await printer.print(text`Fleet thawed\n`);
};

export const describe = async ({ service }: Session, printer: Printer, { output }: SheetOptions): Promise<void> => {
  const fleet = await service.fleet();
  const words = fleet.frozen ? text`Fleet frozen ${frozenText(fleet.frozen)}\n` : text`Fleet not frozen\n`;
  await printer.print(output === "text" ? words : documentText(fleet, output));
};

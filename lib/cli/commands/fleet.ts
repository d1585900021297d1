import type { Printer, Session } from "../io.ts";
import { frozenText } from "../output/describe-sheet.ts";
import { documentText } from "../output/document.ts";
import type { SheetOptions } from "./describe.ts";

export const freeze = async ({ service }: Session, printer: Printer, reason: string): Promise<void> => {
  await service.freeze(reason);
  await printer.print("Fleet frozen: every workload keeps its count\n");
};

export const thaw = async ({ service }: Session, printer: Printer): Promise<void> => {
  await service.thaw();
  await printer.print("Fleet thawed\n");
};

export const describe = async ({ service }: Session, printer: Printer, { output }: SheetOptions): Promise<void> => {
  const fleet = await service.fleet();
  const words = fleet.frozen ? `Fleet frozen ${frozenText(fleet.frozen)}\n` : "Fleet not frozen\n";
  await printer.print(output === "text" ? words : documentText(fleet, output));
};

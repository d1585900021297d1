import type { TargetOptions } from "../select/command-target.ts";
import type { Printer, Session, Shows } from "../io.ts";

/** Runs a command with its open data folder or stack, and always closes it. What it shows says where its head is printed. */
export type Run = (target: TargetOptions, shows: Shows, work: (session: Session, printer: Printer) => Promise<void>) => Promise<void>;

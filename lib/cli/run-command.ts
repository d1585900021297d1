import type { TargetOptions } from "./command-target.ts";
import type { Printer, Session } from "./io.ts";

/** Runs a command with its open data folder or stack, and always closes it. */
export type Run = (target: TargetOptions, work: (session: Session, printer: Printer) => Promise<void>) => Promise<void>;

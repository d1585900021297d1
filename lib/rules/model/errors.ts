/**
 * The one class for operating errors: something outside the code failed or was refused. Expected
 * outcomes are values; a programmer's mistake is a RangeError or a TypeError (docs/architecture.md,
 * "Failure").
 *
 * `code` is dotted and stable (`manifest.invalid`, `store.condition-lost`). `details` is the typed
 * payload of the message. A message has one grammar: sentence case, no final period, quoted values;
 * the action that failed, a colon, the present state and the wanted one: `Cannot scale "web" in
 * cluster "eu-1" to 12: maxReplicas is 10`.
 */
export class TidemarkError<Code extends string = string, Details = unknown> extends Error {
  readonly code: Code;
  readonly details: Details;

  constructor(
    code: Code,
    message: string,
    details: Details,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = "TidemarkError";
    this.code = code;
    this.details = details;
  }
}

/**
 * True for an operating error of the given code, or of any code below it ("store" covers
 * "store.condition-lost").
 */
export const isTidemarkError = (error: unknown, code?: string): error is TidemarkError =>
  error instanceof TidemarkError &&
  (code === undefined || error.code === code || error.code.startsWith(`${code}.`));

import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";

/**
 * A validator that is not ours, for the draft that the schema names; texts in the form of a time
 * are looked at by their pattern alone.
 */
export const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
  formats: { "date-time": true },
});

export const told = (errors: readonly ErrorObject[] | null | undefined): readonly string[] =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

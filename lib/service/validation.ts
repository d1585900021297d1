/** Exported here for rooms that may import the service and not lib/manifest. */
export { VALIDATIONS, type Validation } from "../manifest/validation.ts";

/** For the rooms that see the service and no manifests. */
export { VALIDATIONS, type Validation } from "../manifest/validation.ts";

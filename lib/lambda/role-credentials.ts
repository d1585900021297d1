import type { AwsCredentials } from "../stack/aws/sha256.ts";
import { TidemarkError } from "../rules/model/errors.ts";

/**
 * The credentials of the function's role, which Lambda gives in the environment. `build/build.ts`
 * puts this in the place of the SDK's chain of providers, which would also look into files,
 * metadata services and logins that a function does not have: they are a tenth of the bundle, and
 * compiled at every start.
 */
export const defaultProvider = () => async (): Promise<AwsCredentials> => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env;
  if (accessKeyId === "" || secretAccessKey === "") {
    throw new TidemarkError(
      "function.credentials",
      "Cannot sign requests to AWS: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and Lambda sets both",
      {},
    );
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
};

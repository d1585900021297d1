import { GetWebIdentityTokenCommand, STSClient } from "@aws-sdk/client-sts";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { AWS_CALLS } from "../request-limits.ts";

/**
 * Three times as long as a secret is kept, so that each reading of the secret comes with a new
 * token, and a copy of one is soon worth nothing.
 */
const TOKEN_SECONDS = 900;
/** API servers know it without a setting. */
const ALGORITHM = "RS256";

/** The error of an account that signs for no other party. */
const IS_OFF = "OutboundWebIdentityFederationDisabledException";

/**
 * A JSON Web Token in which AWS says who this function is, for one audience. It is refused by any
 * API server that trusts another audience. Throws what `refuse` makes.
 */
export const webIdentityToken = async (
  audience: string,
  refuse: (why: string) => Error,
): Promise<string> => {
  // It is made for each call: the client itself keeps nothing, and all clients share one handler.
  const sts = new STSClient(AWS_CALLS);
  const { WebIdentityToken } = await sts
    .send(
      new GetWebIdentityTokenCommand({
        Audience: [audience],
        DurationSeconds: TOKEN_SECONDS,
        SigningAlgorithm: ALGORITHM,
      }),
    )
    .catch((error: unknown) => {
      // The error is no cause: one of an unreadable answer holds the answer.
      throw refuse(`AWS gives no token for the audience "${audience}": ${wordsOf(error)}`);
    });
  if (!WebIdentityToken) throw refuse("STS answered without a token");
  return WebIdentityToken;
};

const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error) || error instanceof SyntaxError)
    return "the answer of STS cannot be read";
  return error.name === IS_OFF
    ? "the account does not sign for others; turn it on with aws iam enable-outbound-web-identity-federation"
    : foreignText(error.message);
};

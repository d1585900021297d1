import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import type { FileIn } from "./api-server-flags.ts";
import { kubeconfigText } from "./kubeconfig.ts";

/**
 * A stand-in for the token authenticator of EKS. The API server shows it each bearer token that it
 * does not know itself.
 */
export interface Authenticator {
  /** Flags with which the API server asks it. */
  readonly flags: (file: FileIn) => readonly string[];
  readonly close: () => Promise<void>;
}

/** The user and the group of every token that is accepted. */
const ROLE_USER = "arn:aws:sts::111122223333:assumed-role/tidemark/sync";
const GROUP = "tidemark";

const PREFIX = "k8s-aws-v1.";
/** The authenticator counts from the signature, whatever the URL says. */
const TOKEN_LIFE_MS = 900_000;
/** An answer is forgotten so soon that an expired token is refused in the next call. */
const CACHE = "100ms";

export const startAuthenticator = async (dir: string): Promise<Authenticator> => {
  const { certificatePem, keyPem, caPem } = await serverCredentials(dir, Date.now());
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    json(request).then(
      (review) => {
        const { token } = (review as { readonly spec: { readonly token: string } }).spec;
        response.writeHead(200, { "content-type": "application/json" });
        response.end(
          JSON.stringify({
            apiVersion: "authentication.k8s.io/v1",
            kind: "TokenReview",
            status: statusOf(token),
          }),
        );
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    flags: (file) => [
      `--authentication-token-webhook-config-file=${file("authenticator.kubeconfig", kubeconfigText({ url: `https://127.0.0.1:${port}/`, ca: caPem }, {}))}`,
      "--authentication-token-webhook-version=v1",
      `--authentication-token-webhook-cache-ttl=${CACHE}`,
    ],
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const refused = (error: string) => ({ authenticated: false, error });

/** What EKS checks of a token, but for the signature, which STS alone can check. */
const statusOf = (token: string): object => {
  if (!token.startsWith(PREFIX)) return refused("this is no token of EKS");
  const text = Buffer.from(token.slice(PREFIX.length), "base64url").toString("utf8");
  if (!URL.canParse(text)) return refused("the token holds no URL");
  const url = new URL(text);
  if (
    !/^sts\.[\w-]+\.amazonaws\.com$/.test(url.hostname) ||
    url.searchParams.get("Action") !== "GetCallerIdentity"
  )
    return refused("the URL asks STS for no identity");
  if (!(url.searchParams.get("X-Amz-SignedHeaders") ?? "").split(";").includes("x-k8s-aws-id"))
    return refused("the cluster is not signed");
  const signedMs = Date.parse(
    (url.searchParams.get("X-Amz-Date") ?? "").replace(
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
      "$1-$2-$3T$4:$5:$6Z",
    ),
  );
  if (!(Math.abs(Date.now() - signedMs) < TOKEN_LIFE_MS)) return refused("the token has expired");
  return { authenticated: true, user: { username: ROLE_USER, groups: [GROUP] } };
};

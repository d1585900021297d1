import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { apiHandler } from "../../functions/api.ts";
import { viewHandler } from "../../functions/view.ts";
import {
  type FunctionPlace,
  functionPlace,
  type SignedCall,
} from "../../lib/answers/api/signed-call.ts";
import { COMMAND_PATHS } from "../../lib/answers/api/paths.ts";
import { signedCallOf } from "../../lib/answers/remote/invoke-function.ts";
import { requestSender } from "../../lib/answers/remote/send-request.ts";
import { invokedFunction } from "../../lib/answers/remote/find-stack.ts";
import { remoteService } from "../../lib/answers/remote/service.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { eksToken } from "../../lib/stack/cluster/access/eks-token.ts";
import { type ApiWorld, apiWorld, eventOf } from "../api/world.ts";
import { NOON } from "../noon.ts";
import { hpa } from "../service/world/manifests.ts";
import { type Account, identityXml, startAccount } from "./stand-in/account.ts";
import { ADA, callerOf, credentialsOf, IDENTITIES } from "./world.ts";

const REGION = "eu-central-1";
const ACCOUNT = "123456789012";
const arnOf = (name: string, account = ACCOUNT): string =>
  `arn:aws:lambda:${REGION}:${account}:function:${name}`;
const placeOf = (name: string): FunctionPlace => {
  const place = functionPlace(arnOf(name));
  if (!place) throw new TypeError(`${name} is no function`);
  return place;
};
const VIEW = placeOf("tidemark-prod-view");
const API = placeOf("tidemark-prod-api");
const CONNECT = placeOf("tidemark-prod-connect");
/** A person with a role in another account, which AWS knows as well. */
const STRANGER = {
  STRANGER: {
    secretAccessKey: "of a stranger",
    arn: "arn:aws:iam::999999999999:user/ada",
    isAllowed: true,
  },
};

let world: ApiWorld;
let account: Account;
beforeEach(async () => {
  world = await apiWorld();
  account = await startAccount(
    { region: REGION, accountId: ACCOUNT },
    { ...IDENTITIES, ...STRANGER },
    () => NOON,
  );
  vi.stubEnv("AWS_ENDPOINT_URL", account.url);
  const { tables, insert, newUid } = world.context;
  const parts = {
    ...{ tables, insert, newUid, clock: () => NOON },
    reporter: { line: () => undefined },
    calledBy: "invoke" as const,
  };
  account.functions[VIEW.name] = viewHandler(parts);
  account.functions[API.name] = apiHandler({
    ...parts,
    connecting: { kind: "elsewhere", url: CONNECT.arn },
  });
  account.functions[CONNECT.name] = apiHandler({ ...parts, connecting: { kind: "here" } });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await account.close();
  await world.close();
});

/** The service of the stack, as the command has it. */
const serviceOf = (key: string, place = API) => {
  const sender = requestSender({
    stack: invokedFunction(place, "--stack"),
    caller: callerOf(key),
    clock: () => NOON,
    wait: async () => undefined,
    random: () => 0,
  });
  let keys = 0;
  return remoteService(sender, () => `key-of-an-edit-${++keys}`);
};

describe("a stack that is called by lambda:Invoke", () => {
  it.each(["ADA", "GRACE"])(
    "answers %s, and records edits for the ARN that STS names",
    async (key) => {
      expect((await Array.fromAsync(serviceOf(key, VIEW).clusters())).length).toBeGreaterThan(0);
      const service = serviceOf(key);
      await service.freeze("drill");
      expect(await service.fleet()).toMatchObject({ frozen: { by: IDENTITIES[key]?.arn } });
      expect(
        account.asked.every((asked) =>
          asked.startsWith(
            "GET sts.eu-central-1.amazonaws.com /?Action=GetCallerIdentity&Version=2011-06-15 ",
          ),
        ),
      ).toBe(true);
    },
  );

  it("sends a cluster to the function that connects, and gives a problem as it came", async () => {
    const service = serviceOf("ADA");
    const file = { file: "web.yaml", text: hpa("web") };
    await expect(service.addCluster({ name: "Bad Name" } as never)).rejects.toMatchObject({
      code: expect.stringMatching(/^api\.|^service\.|^manifest/),
    });
    expect(await service.apply([file], { dryRun: true, cluster: "eu-1" })).toMatchObject([
      expect.objectContaining({}),
    ]);
    await expect(serviceOf("ADA", VIEW).freeze("no")).rejects.toMatchObject({
      code: "api.read-only",
    });
  });

  it("says what a person can do where Lambda refuses, and where the function failed", async () => {
    await expect(serviceOf("MALLORY").fleet()).rejects.toMatchObject({
      code: "remote.forbidden",
      message: expect.stringContaining("must allow lambda:InvokeFunction on this function"),
    });
    delete account.functions[API.name];
    await expect(serviceOf("ADA").fleet()).rejects.toMatchObject({
      code: "remote.not-found",
      message: expect.stringContaining(`no function is named "${API.name}"`),
    });
    account.functions[API.name] = () => Promise.reject(new Error("boom"));
    await expect(serviceOf("ADA").fleet()).rejects.toMatchObject({ code: "remote.failed" });
  });
});

const FREEZE: SignedCall["request"] = {
  method: "POST",
  path: COMMAND_PATHS.freeze,
  query: "",
  headers: { "content-type": "application/json", "idempotency-key": "key-of-a-freeze-1" },
  body: '{"reason":"drill"}',
};

const callOf = (
  key: string,
  more: {
    readonly place?: FunctionPlace;
    readonly request?: SignedCall["request"];
    readonly nowMs?: number;
  } = {},
): Promise<SignedCall> =>
  signedCallOf(
    more.place ?? API,
    more.request ?? FREEZE,
    key === "STRANGER"
      ? { accessKeyId: key, secretAccessKey: STRANGER.STRANGER.secretAccessKey }
      : credentialsOf(key),
    more.nowMs ?? NOON,
  );

let attacks = 0;
/** Whoever may invoke the function writes any event. */
const invokeWith = async (event: unknown, handler?: FunctionUrlHandler) => {
  const answer = await (handler ?? account.functions[API.name])?.(event as never, {
    invokedFunctionArn: API.arn,
    // Lambda names each call anew.
    awsRequestId: `attack-${++attacks}`,
  });
  if (typeof answer !== "object") throw new TypeError("an answer has a status");
  return { status: answer.statusCode, ...JSON.parse(answer.body ?? "{}") };
};
const isFrozen = async (): Promise<boolean> =>
  (await serviceOf("GRACE", VIEW).fleet()).frozen !== undefined;

const REFUSED = { status: 403, code: "api.no-identity" };

describe("an event that claims to be of somebody", () => {
  it("is taken as signed, and not for any other request", async () => {
    const call = await callOf("ADA");
    const others: readonly SignedCall["request"][] = [
      { ...FREEZE, body: '{"reason":"drill!"}' },
      { ...FREEZE, path: COMMAND_PATHS.thaw },
      { ...FREEZE, method: "GET" },
      { ...FREEZE, query: "dryRun=true" },
      { ...FREEZE, headers: {} },
      { ...FREEZE, headers: { ...FREEZE.headers, "if-match": "*" } },
      { ...FREEZE, headers: { ...FREEZE.headers, "idempotency-key": "key-of-a-freeze-2" } },
    ];
    for (const request of others)
      expect(await invokeWith({ ...call, request })).toMatchObject(REFUSED);
    expect(await isFrozen()).toBe(false);
    expect(await invokeWith(call)).toMatchObject({ status: 200 });
    expect(await isFrozen()).toBe(true);
  });

  it("is refused with the signature of another stack, function, account or credential", async () => {
    const proofs = [
      await callOf("ADA", { place: VIEW }),
      await callOf("ADA", { place: placeOf("tidemark-dev-api") }),
      await callOf("ADA", { place: { ...API, arn: arnOf(API.name, "999999999999") } }),
      await callOf("ADA", { place: { ...API, region: "eu-west-1" } }),
      await callOf("NOBODY"),
    ];
    for (const call of proofs)
      expect(await invokeWith(call)).toMatchObject({
        ...REFUSED,
        detail: expect.stringContaining("AWS does not accept the signature"),
      });
    expect(await invokeWith(await callOf("STRANGER"))).toMatchObject({
      ...REFUSED,
      detail: expect.stringContaining("another account of AWS"),
    });
    expect(await isFrozen()).toBe(false);
  });

  it("is refused six minutes from now, before STS is asked", async () => {
    for (const nowMs of [NOON - 301_000, NOON + 301_000])
      expect(await invokeWith(await callOf("ADA", { nowMs }))).toMatchObject({
        ...REFUSED,
        detail: expect.stringContaining("is good for 5 minutes"),
      });
    expect(account.asked).toEqual([]);
    expect(await invokeWith(await callOf("ADA", { nowMs: NOON - 299_000 }))).toMatchObject({
      status: 200,
    });
  });

  it("gets the first answer when it is played once more, and makes no second edit", async () => {
    const call = await callOf("ADA");
    const first = await invokeWith(call);
    expect(first).toMatchObject({ status: 200 });
    await serviceOf("GRACE").thaw();
    expect(await invokeWith(call)).toEqual(first);
    expect(await isFrozen()).toBe(false);
  });

  it("makes one edit where it has no idempotency key, too, however often it is played", async () => {
    const headers = { "content-type": "application/json" };
    const call = await callOf("ADA", { request: { ...FREEZE, headers } });
    const first = await invokeWith(call);
    expect(first).toMatchObject({ status: 200 });
    await serviceOf("GRACE").thaw();
    expect(await invokeWith(call)).toEqual(first);
    expect(await isFrozen()).toBe(false);
  });

  it("chooses no host, region, query or header of the question to STS", async () => {
    const { proof, ...call } = await callOf("ADA");
    const smuggled: readonly object[] = [
      { ...proof, host: "evil.example" },
      { ...proof, region: "us-east-1" },
      { ...proof, url: "http://169.254.169.254/" },
      { ...proof, query: "Action=AssumeRole" },
      { ...proof, authorization: "AWS4-HMAC-SHA256 Credential=ADA" },
      { ...proof, accessKeyId: "ADA/20260301/us-east-1/sts/aws4_request, SignedHeaders=host" },
      { ...proof, accessKeyId: "ADA\r\nhost: evil.example" },
      { ...proof, date: `${proof.date}/../` },
      { ...proof, date: "20269999T999999Z" },
      { ...proof, sessionToken: "a\r\nx-tidemark-request: b" },
      { ...proof, signature: `${proof.signature}, SignedHeaders=host` },
      { ...proof, signature: proof.signature.toUpperCase() },
      {},
    ];
    for (const attack of smuggled)
      expect(await invokeWith({ ...call, proof: attack })).toMatchObject(REFUSED);
    expect(await invokeWith({ ...call, proof, by: ADA })).toMatchObject(REFUSED);
    expect(account.asked).toEqual([]);
  });

  it("is refused as a request of a URL with a name in it, without any signature, and as anything else", async () => {
    const request = { path: COMMAND_PATHS.freeze, body: FREEZE.body, headers: FREEZE.headers };
    for (const event of [
      eventOf({ ...request, by: ADA }),
      { tidemark: "signed-call/1", request: FREEZE, by: ADA },
      { request: FREEZE },
      {},
      null,
      "text",
      [],
    ])
      expect(await invokeWith(event)).toMatchObject(REFUSED);
    expect(account.asked).toEqual([]);
    expect(await isFrozen()).toBe(false);
  });

  it("is refused with the token of an EKS cluster, which is a signature for STS too", async () => {
    const token = await eksToken({
      credentials: credentialsOf("ADA"),
      clusterId: "web",
      region: REGION,
      nowMs: NOON,
    });
    const url = new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString());
    const call = await callOf("NOBODY");
    const proof = {
      accessKeyId: "ADA",
      date: url.searchParams.get("X-Amz-Date"),
      signature: url.searchParams.get("X-Amz-Signature"),
    };
    expect(await invokeWith({ ...call, proof })).toMatchObject(REFUSED);
  });

  it("is refused where STS fails, or says anything but one ARN", async () => {
    const call = await callOf("ADA");
    const answers = [
      { status: 200, body: identityXml(ADA, ADA) },
      { status: 200, body: identityXml() },
      { status: 200, body: `{"GetCallerIdentityResponse":"${ADA}"}` },
      { status: 403, body: identityXml(ADA) },
      { status: 302, body: identityXml(ADA) },
    ];
    for (const sts of answers) {
      account.sts = sts;
      expect(await invokeWith(call)).toMatchObject(REFUSED);
    }
    account.sts = { status: 500, body: identityXml(ADA) };
    expect(await invokeWith(call)).toMatchObject({ status: 503, code: "api.no-identity" });
    delete account.sts;
    expect(await isFrozen()).toBe(false);
  });

  it("is refused by a stack that is called by its URLs, where only Lambda names the caller", async () => {
    const { tables, insert, newUid } = world.context;
    const byUrl = apiHandler({
      ...{ tables, insert, newUid, clock: () => NOON },
      reporter: { line: () => undefined },
      connecting: { kind: "here" },
    });
    await expect(invokeWith(await callOf("ADA"), byUrl)).rejects.toThrow();
    expect(await isFrozen()).toBe(false);
  });
});

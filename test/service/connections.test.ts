import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { checkConnection } from "../../lib/stack/cluster/check/check-connection.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import type { Connection } from "../../lib/rules/model/records.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import {
  getCluster,
  getConnection,
  putCluster,
  putConnection,
} from "../../lib/stack/store/records/clusters.ts";
import { type AwsEndpoint, awsEndpoint } from "../cluster/stand-in/aws.ts";
import { authority } from "../cluster/stand-in/certificates.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { openStored } from "../../lib/stack/sync/connected.ts";

/**
 * What is refused when a cluster is added or its connection is replaced, before anything is stored.
 */
let world: ServiceWorld;
let service: Service;
beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  await service.addCluster({
    name: "there",
    connection: { kind: "secret", secretId: "prod/there" },
  });
});
afterAll(() => world.close());

const eks = (more: Partial<Extract<Connection, { kind: "eks" }>> = {}): Connection => ({
  kind: "eks",
  clusterId: "prod",
  region: "eu-west-1",
  ...more,
});
const OWN =
  "its endpoint is an address of this machine, of its network link or of a metadata service";

describe("a connection", () => {
  it.each<readonly [connection: Connection, words: string]>([
    [
      eks({ endpoint: "http://10.0.0.1" }),
      "its endpoint must begin with https://: anything else would send the token in the clear",
    ],
    [eks({ endpoint: "file:///etc/passwd" }), "its endpoint must begin with https://"],
    [eks({ endpoint: "https://169.254.169.254" }), OWN],
    [eks({ endpoint: "https://2852039166" }), OWN],
    [eks({ endpoint: "https://0xa9fea9fe" }), OWN],
    [eks({ endpoint: "https://[::ffff:169.254.169.254]" }), OWN],
    [eks({ endpoint: "https://[fd00:ec2::254]" }), OWN],
    [eks({ endpoint: "https://169.254.170.2" }), OWN],
    [eks({ endpoint: "https://localhost" }), OWN],
    [eks({ region: "attacker.example" }), 'its region must be one of AWS, such as "eu-west-1"'],
    [
      eks({ clusterId: "a/b" }),
      "the name of an EKS cluster has letters, digits, - and _, at most 100",
    ],
    [eks({ roleArn: "role" }), "its role must be an ARN"],
    [
      { kind: "secret", secretId: "arn:aws:secretsmanager:attacker:secret:prod/x" },
      "the secret of this cluster must be named FOLDER/x",
    ],
    [
      { kind: "secret", secretId: "arn:aws:secretsmanager:s3:123456789012:secret:prod/x" },
      "the secret of this cluster must be named FOLDER/x",
    ],
    [{ kind: "secret", secretId: "prod /x" }, "the secret of this cluster must be named FOLDER/x"],
    [
      { kind: "secret", secretId: "prod/another" },
      'the secret of this cluster must be named FOLDER/x, such as "tidemark-prod/x"',
    ],
    [
      {
        kind: "secret",
        secretId: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/another-AbCdEf",
      },
      "the secret of this cluster must be named FOLDER/x",
    ],
  ])("is refused before it is stored: %j", async (connection, words) => {
    await expect(service.addCluster({ name: "x", connection })).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining(`Cannot add cluster "x": ${words}`),
    });
    expect(await getCluster(world.tables, clusterName("x"))).toBeUndefined();
    const before = await service.cluster("there");
    await expect(service.replaceCluster({ name: "there", connection })).rejects.toMatchObject({
      code: "service.invalid",
    });
    expect(await service.cluster("there")).toEqual(before);
  });

  it.each<readonly [connection: Connection]>([
    [{ kind: "secret", secretId: "prod/fits" }],
    [
      {
        kind: "secret",
        secretId: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/fits-AbCdEf",
      },
    ],
    [
      {
        kind: "secret",
        secretId: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/fits",
      },
    ],
    [eks({ endpoint: "https://10.1.2.3:6443" })],
    [
      eks({
        region: "us-gov-west-1",
        roleArn: "arn:aws-us-gov:iam::123456789012:role/tidemark-prod-cluster-x",
      }),
    ],
  ])("is stored where nothing is wrong with it: %j", async (connection) => {
    expect((await service.addCluster({ name: "fits", connection })).connection).toEqual(connection);
    await service.removeCluster("fits");
  });
});

describe("a connection to EKS, at the URL that connects clusters", () => {
  const ENDPOINT = "https://ABC.gr7.eu-west-1.eks.amazonaws.com";
  let aws: AwsEndpoint;
  let connecting: Service;
  let ca: string;
  beforeAll(async () => {
    ca = Buffer.from((await authority()).ca).toString("base64");
    connecting = openService({
      ...world.context,
      checkConnection: (target) => checkConnection(target, { clock: Date.now }),
    });
  });
  beforeEach(async () => {
    aws = await awsEndpoint();
    aws.answer = ({ request }) =>
      request === "GET /clusters/prod"
        ? {
            status: 200,
            type: "application/json",
            body: JSON.stringify({
              cluster: { name: "prod", endpoint: ENDPOINT, certificateAuthority: { data: ca } },
            }),
          }
        : {
            status: 404,
            type: "application/json",
            body: JSON.stringify({ message: "No cluster found" }),
          };
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    vi.stubEnv("AWS_ENDPOINT_URL_EKS", aws.url);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await aws.close();
  });

  it.each([
    [
      "an attacker's endpoint",
      { endpoint: "https://attacker.example" },
      "the given endpoint differs from the one that AWS gives; leave it out",
    ],
    [
      "an attacker's CA",
      { endpoint: ENDPOINT, caData: "QUFB" },
      "the given CA differs from the one that AWS gives",
    ],
    ["a cluster that is not there", { clusterId: "none" }, "No cluster found"],
  ])(
    "with %s is refused by add and by replace, and nothing is stored",
    async (_name, given, words) => {
      const wanted = { code: "service.unusable", message: expect.stringContaining(words) };
      await expect(
        connecting.addCluster({ name: "x", connection: eks(given) }),
      ).rejects.toMatchObject(wanted);
      await expect(
        connecting.replaceCluster({ name: "there", connection: eks(given) }),
      ).rejects.toMatchObject(wanted);
      expect(await getCluster(world.tables, clusterName("x"))).toBeUndefined();
      expect((await connecting.cluster("there")).connection).toMatchObject({ kind: "secret" });
    },
  );

  it("is stored as it was given, so that no address comes from anywhere but AWS; with force nothing is looked at", async () => {
    expect(
      (await connecting.addCluster({ name: "good", connection: eks(), force: true })).connection,
    ).toEqual(eks());
    expect(aws.calls).toEqual([]);
    await connecting.removeCluster("good");
  });

  it("is not asked about where an edit leaves it as it is", async () => {
    await connecting.replaceCluster({ name: "there", syncPeriodMs: 20_000 });
    expect(aws.calls).toEqual([]);
  });
});

describe("the connection of a cluster", () => {
  const cluster = clusterName("there");
  const opened = async () => openStored(world.tables)(await recordOf(), { clock: () => 0 });
  const recordOf = async () => {
    const record = await getCluster(world.tables, cluster);
    if (!record) throw new Error("the cluster is not stored");
    return record;
  };

  it("is taken from its own item alone, and from nothing that the record of the cluster says", async () => {
    const record = await recordOf();
    const forged = {
      ...record,
      connection: { kind: "kubeconfig", path: "/forged" },
      version: record.version + 1,
    };
    expect(await putCluster(world.tables, forged, record.version)).toEqual({ kind: "stored" });
    await expect(opened()).rejects.toMatchObject({
      message: expect.stringContaining("prod/there"),
    });
    expect((await service.cluster("there")).connection).toEqual({
      kind: "secret",
      secretId: "prod/there",
    });
  });

  it("counts for the cluster that it was stored for, and not for another one of its name", async () => {
    const stored = await getConnection(world.tables, cluster);
    if (!stored) throw new Error("no connection is stored");
    const foreign = { ...stored, uid: "another", version: stored.version + 1 };
    await putConnection(world.tables, foreign, stored);
    await expect(opened()).rejects.toMatchObject({ code: "cluster.access.none" });
    expect(await service.cluster("there")).not.toHaveProperty("connection");
    await service.replaceCluster({
      name: "there",
      connection: { kind: "secret", secretId: "prod/there" },
    });
    await expect(opened()).rejects.not.toMatchObject({ code: "cluster.access.none" });
  });

  it("is stored under a higher version than one whose editor died before the cluster was written", async () => {
    const before = await recordOf();
    const stored = await getConnection(world.tables, cluster);
    await putConnection(
      world.tables,
      { cluster, uid: before.uid, connection: eks(), version: before.version + 7 },
      stored,
    );
    const { version } = await service.replaceCluster({
      name: "there",
      connection: { kind: "secret", secretId: "prod/there" },
    });
    expect(version).toBe(before.version + 8);
    expect((await service.cluster("there")).connection).toEqual({
      kind: "secret",
      secretId: "prod/there",
    });
  });
});

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { describe, expect, it } from "vitest";
import {
  arnOf,
  awsPartition,
  functionUrlRegion,
  isOfPartition,
} from "../../lib/rules/model/aws-partitions.ts";

/** What the AWS SDK knows of partitions. It exports no function for it. */
const sdkPartitions = async () => {
  const core = dirname(createRequire(import.meta.url).resolve("@aws-sdk/core/package.json"));
  const file = join(core, "dist-es/submodules/client/util-endpoints/lib/aws/partitions.js");
  const { partitionsInfo } = await import(pathToFileURL(file).href);
  return z
    .object({
      partitions: z.array(
        z.object({
          id: z.string(),
          outputs: z.object({ dnsSuffix: z.string(), dualStackDnsSuffix: z.string() }),
          regions: z.record(z.string(), z.unknown()),
        }),
      ),
    })
    .parse(partitionsInfo).partitions;
};

describe("the partition of a region", () => {
  it("is the one that the AWS SDK says, with its domains, for each region that the SDK knows", async () => {
    const partitions = await sdkPartitions();
    const regions = partitions.flatMap(({ id, outputs, regions: named }) =>
      Object.keys(named)
        .filter((region) => !region.endsWith("-global"))
        .map((region) => [
          region,
          {
            id,
            domain: outputs.dnsSuffix,
            urlDomain: outputs.dualStackDnsSuffix.replace(/^api\./, "on."),
          },
        ]),
    );
    expect(regions.length).toBeGreaterThan(40);
    expect(
      regions.map(([region]) => {
        const { regions: _pattern, ...known } = awsPartition(String(region)) ?? {};
        return [region, known];
      }),
    ).toEqual(regions);
  });

  it("is the head of an ARN", () => {
    expect(arnOf("iam", "cn-north-1", "123456789012", "role/a")).toBe(
      "arn:aws-cn:iam::123456789012:role/a",
    );
    expect(arnOf("sqs", "us-gov-west-1", "123456789012", "q")).toBe(
      "arn:aws-us-gov:sqs:us-gov-west-1:123456789012:q",
    );
    expect(isOfPartition("arn:aws-cn:iam::123456789012:role/a", "cn-northwest-1")).toBe(true);
    expect(isOfPartition("arn:aws:iam::123456789012:role/a", "cn-northwest-1")).toBe(false);
    expect(isOfPartition("arn:undefined:iam::123456789012:role/a", "nowhere")).toBe(false);
  });
});

describe("the region of a function URL", () => {
  it.each([
    ["abc.lambda-url.eu-central-1.on.aws", "eu-central-1"],
    ["abc.lambda-url.us-gov-west-1.on.aws", "us-gov-west-1"],
    ["abc.lambda-url.cn-north-1.on.amazonwebservices.com.cn", "cn-north-1"],
    ["abc.lambda-url.eusc-de-east-1.on.amazonwebservices.eu", "eusc-de-east-1"],
  ])("of %s is %s", (host, region) => expect(functionUrlRegion(host)).toBe(region));

  it.each([
    "abc.lambda-url.cn-north-1.on.aws",
    "abc.lambda-url.eu-central-1.on.amazonwebservices.com.cn",
    "abc.lambda-url.eu-central-1.on.aws.evil.net",
    "abc.lambda-url.evil.net.on.aws",
    "abc.lambda-url.nowhere.on.aws",
    "abc.lambda-url.nowhere.undefined",
    "lambda-url.eu-central-1.on.aws",
  ])("is unknown for %s, because a signed request goes there", (host) =>
    expect(functionUrlRegion(host)).toBeUndefined(),
  );
});

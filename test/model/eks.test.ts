import { describe, expect, it } from "vitest";
import { eksFault } from "../../lib/rules/model/aws-names.ts";
import { awsDomain } from "../../lib/rules/model/aws-partitions.ts";

describe("the domain of AWS in a region", () => {
  it.each([
    ["eu-west-1", "amazonaws.com"],
    ["us-east-1", "amazonaws.com"],
    ["ap-southeast-10", "amazonaws.com"],
    ["sa-east-1", "amazonaws.com"],
    ["ca-central-1", "amazonaws.com"],
    ["me-south-1", "amazonaws.com"],
    ["af-south-1", "amazonaws.com"],
    ["il-central-1", "amazonaws.com"],
    ["mx-central-1", "amazonaws.com"],
    ["us-gov-west-1", "amazonaws.com"],
    ["us-gov-east-12", "amazonaws.com"],
    ["cn-north-1", "amazonaws.com.cn"],
    ["cn-northwest-12", "amazonaws.com.cn"],
    ["us-iso-east-1", "c2s.ic.gov"],
    ["us-iso-west-12", "c2s.ic.gov"],
    ["us-isob-east-1", "sc2s.sgov.gov"],
    ["us-isob-west-12", "sc2s.sgov.gov"],
    ["eu-isoe-west-1", "cloud.adc-e.uk"],
    ["eu-isoe-west-12", "cloud.adc-e.uk"],
    ["us-isof-south-1", "csp.hci.ic.gov"],
    ["us-isof-east-12", "csp.hci.ic.gov"],
    ["eusc-de-east-1", "amazonaws.eu"],
    ["eusc-de-east-12", "amazonaws.eu"],
  ])("of %s is %s", (region, domain) => expect(awsDomain(region)).toBe(domain));

  const regions = [
    "eu-west-1",
    "us-gov-west-1",
    "cn-north-1",
    "us-iso-east-1",
    "us-isob-east-1",
    "eu-isoe-west-1",
    "us-isof-south-1",
    "eusc-de-east-1",
  ];

  it.each(regions)(
    "is unknown for every text around %s, because it becomes a part of a host name",
    (region) => {
      const changed = [
        `x${region}`,
        `${region}x`,
        `${region}.evil.net`,
        `evil.net/${region}`,
        `${region}\n`,
        `${region}23`,
        region.slice(0, -1),
        region.toUpperCase(),
      ];
      expect(changed.filter((text) => awsDomain(text) !== undefined)).toEqual([]);
    },
  );

  it.each([
    "",
    "eu",
    "eu-1",
    "eu--1",
    "eu-we5t-1",
    "xx-west-1",
    "eusc-d-east-1",
    "eusc-deu-east-1",
    "eusc-d3-east-1",
    "cn-1",
    "us-iso--1",
  ])('is unknown for "%s"', (text) => expect(awsDomain(text)).toBeUndefined());
});

describe("the address of an EKS cluster", () => {
  const place = { clusterId: "payments-prod", region: "eu-west-1" };
  const role = "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1";

  it.each([
    ["a name alone", place],
    ["a name of one letter", { ...place, clusterId: "p" }],
    ["a name of 100 characters", { ...place, clusterId: `A${"9".repeat(99)}` }],
    ["every character of a name", { ...place, clusterId: "0Aa_-z" }],
    ["a role", { ...place, roleArn: role }],
    [
      "a role with a path",
      {
        ...place,
        region: "us-gov-west-1",
        roleArn: "arn:aws-us-gov:iam::123456789012:role/a/b+c=d,e.f@g_h-i",
      },
    ],
    [
      "a role of 512 characters",
      {
        ...place,
        region: "cn-north-1",
        roleArn: `arn:aws-cn:iam::123456789012:role/${"r".repeat(512)}`,
      },
    ],
  ])("is valid with %s", (_, given) => expect(eksFault(given)).toBeUndefined());

  it.each(["", "-a", "_a", "a b", "a/b", "a.b", "a\n", "\na", `a${"b".repeat(100)}`])(
    'refuses the name "%s"',
    (clusterId) =>
      expect(eksFault({ ...place, clusterId })).toBe(
        "the name of an EKS cluster has letters, digits, - and _, at most 100",
      ),
  );

  it("refuses a text that is not a region", () =>
    expect(eksFault({ ...place, region: "evil.net/" })).toBe(
      'its region must be one of AWS, such as "eu-west-1"',
    ));

  it.each([
    "",
    ` ${role}`,
    `${role} `,
    role.replace("123456789012", "12345678901"),
    role.replace("123456789012", "1234567890123"),
    role.replace("123456789012", "12345678901x"),
    role.replace("role/", "user/"),
    role.replace("arn:aws", "arn:xws"),
    role.replace("arn:aws", "arn:aws-CN"),
    "arn:aws:iam::123456789012:role/",
    "arn:aws:iam::123456789012:role/a b",
    `arn:aws:iam::123456789012:role/${"r".repeat(513)}`,
  ])('refuses the role "%s"', (roleArn) =>
    expect(eksFault({ ...place, roleArn })).toBe(
      'its role must be an ARN, such as "arn:aws:iam::123456789012:role/tidemark-prod-cluster-eu-1"',
    ),
  );
});

import { sessionPolicy } from "../../../platform/permissions";
import { rolesOf } from "../policies";
import type { TemplateJson } from "./pins";
import { everywhere, everything as platform } from "./platforms";
import { limits, policiesOf } from "./policy-limits";

const keyArn = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
const boundary = "arn:aws:iam::111122223333:policy/boundary";

describe("a platform with a key, a boundary, Session Manager and the longest names", () => {
  it("encrypts the data bucket with the key, and the access logs with S3's own", () => {
    const { DataBucket, AccessLogBucket } = platform().template("data").findResources("AWS::S3::Bucket");
    const encryptionOf = (bucket: typeof DataBucket) =>
      bucket?.["Properties"].BucketEncryption.ServerSideEncryptionConfiguration[0];
    expect(encryptionOf(DataBucket)).toEqual({
      BucketKeyEnabled: true,
      ServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms", KMSMasterKeyID: keyArn },
    });
    expect(encryptionOf(AccessLogBucket)).toEqual({ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } });
  });

  it("lets exactly the roles that use the bucket use the key, through S3", () => {
    const roles = rolesOf(platform().template("workflow")).map(({ logicalId, rights }) => ({
      logicalId,
      bucket: rights.some((right) => /^s3:(Get|Put)/.test(right)),
      key: rights.filter((right) => right.startsWith("kms:")),
    }));
    expect(roles.filter(({ bucket }) => bucket).length).toBeGreaterThan(5);
    for (const { logicalId, bucket, key } of roles) {
      const expected = bucket ? [`kms:Decrypt ${keyArn}`, `kms:GenerateDataKey ${keyArn}`] : [];
      expect([logicalId, key]).toEqual([logicalId, expected]);
    }
  });

  it("gives every role the boundary, except for the trainers', which keeps its own", () => {
    const boundaries = everywhere(platform(), "AWS::IAM::Role").map(([id, { Properties }]) => ({
      id,
      boundary: Properties["PermissionsBoundary"] as unknown,
    }));
    const others = boundaries.filter((one) => one.boundary !== boundary);
    expect(boundaries.length).toBeGreaterThan(25);
    expect(others).toEqual([{ id: expect.stringMatching(/^RunRole/), boundary: { Ref: expect.any(String) } }]);
  });

  it("lets operators open a shell on trainer instances, without AWS's broad policy", () => {
    const role = rolesOf(platform().template("compute")).find(({ logicalId }) =>
      logicalId.startsWith("InstancesRole"),
    )!;
    const rights = role.rights.map((right) => right.split(" ")[0]!).filter((right) => !right.startsWith("logs:"));
    expect(rights).toEqual([
      "ssm:UpdateInstanceInformation",
      "ssmmessages:CreateControlChannel",
      "ssmmessages:CreateDataChannel",
      "ssmmessages:OpenControlChannel",
      "ssmmessages:OpenDataChannel",
    ]);
    expect(role.managed.join()).not.toContain("SSM");
  });

  it("puts tags on everything but what would be replaced for them, and on instances", () => {
    const compute = platform().template("compute").toJSON() as TemplateJson;
    const tagged = (id: string) => JSON.stringify(compute.Resources[id]?.Properties).includes("cost-center");
    const byType = (type: string) =>
      Object.keys(compute.Resources).filter((id) => compute.Resources[id]!.Type === type);
    for (const type of ["JobQueue", "ComputeEnvironment", "SchedulingPolicy"]) {
      expect(byType(`AWS::Batch::${type}`).filter(tagged)).toEqual([]);
    }
    expect(byType("AWS::EC2::PlacementGroup").filter(tagged)).toEqual([]);
    for (const type of ["AWS::EC2::LaunchTemplate", "AWS::EC2::VPC", "AWS::IAM::Role"]) {
      // Except the role of CDK's own function, which has no tags.
      expect(byType(type).filter((id) => !id.startsWith("Custom") && !tagged(id))).toEqual([]);
    }
  });

  it("has no policy beyond the quotas of its service", () => {
    const policies = policiesOf(platform());
    expect(policies.length).toBeGreaterThan(60);
    expect(policies.map(({ type }) => type).filter((type) => !limits[type])).toEqual([]);
    const measured = policies.flatMap((policy) =>
      limits[policy.type]!.map(([what, max, measure]) => ({ at: policy.at, what, max, is: measure(policy) })),
    );
    expect(measured.filter(({ is, max }) => is > max)).toEqual([]);
  });

  it("attaches at most ten managed policies to a role", () => {
    for (const [, { Properties }] of everywhere(platform(), "AWS::IAM::Role"))
      expect((Properties["ManagedPolicyArns"] ?? []).length).toBeLessThanOrEqual(10);
  });
});

it("a trainer's session may use the key", () => {
  const world = { partition: "aws", region: "us-east-1", account: "111122223333", prefix: "ringmaster", bucket: "b" };
  const policy = sessionPolicy({ team: "vision", runId: "run-1" }, { ...world, bucketKeyArn: keyArn });
  const Action = ["kms:Decrypt", "kms:GenerateDataKey"];
  expect(policy.Statement.at(-1)).toEqual({ Effect: "Allow", Action, Resource: keyArn });
});

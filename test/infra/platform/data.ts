import { Match } from "aws-cdk-lib/assertions";
import { checkTeamName } from "../../../core/access/principals";
import { InvalidInputError } from "../../../core/errors";
import { teamIncomingPrefix } from "../../../core/object-keys";
import { DataStack } from "../../../infra/stacks/data-stack";
import { runRolePermissions } from "../../../platform/permissions";
import { tableNameIn, tables } from "../../../platform/tables";
import { functionPermissions } from "../../support/permissions";
import { resources, synthesizeStack } from "../synthesized";
import { defaults } from "./platforms";

const data = () => defaults().template("data");

it("contains the tables, and none that is unused", () => {
  for (const table of tables) {
    data().hasResource("AWS::DynamoDB::Table", {
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: {
        TableName: tableNameIn("ringmaster", table.name),
        BillingMode: "PAY_PER_REQUEST",
        SSESpecification: { SSEEnabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 },
        OnDemandThroughput: { MaxReadRequestUnits: 12_000, MaxWriteRequestUnits: 6_000 },
        DeletionProtectionEnabled: true,
        TimeToLiveSpecification:
          table.timeToLive === undefined ? Match.absent() : { AttributeName: table.timeToLive, Enabled: true },
      },
    });
  }
  const permissions = [...Object.values(functionPermissions).flat(), ...runRolePermissions];
  const used = new Set(permissions.map(({ resource }) => resource.split("/").slice(0, 2).join("/")));
  expect(tables.filter(({ name }) => !used.has(`table/${name}`))).toEqual([]);
});

it("keeps its buckets private, encrypted and TLS-only", () => {
  const buckets = resources(data(), "AWS::S3::Bucket");
  expect(buckets).toHaveLength(2);
  for (const { Properties } of buckets) {
    expect(Properties["PublicAccessBlockConfiguration"]).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(Properties["BucketEncryption"]).toBeDefined();
  }
  const policies = resources(data(), "AWS::S3::BucketPolicy");
  expect(policies).toHaveLength(2);
  for (const policy of policies) {
    expect(JSON.stringify(policy)).toContain('"Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"');
  }
});

it("keeps replaced and deleted objects for a week, moves teams' objects to cheaper storage, expires received content, and ends abandoned uploads", () => {
  data().hasResourceProperties("AWS::S3::Bucket", {
    VersioningConfiguration: { Status: "Enabled" },
    NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    LifecycleConfiguration: {
      TransitionDefaultMinimumObjectSize: "all_storage_classes_128K",
      Rules: [
        {
          Id: "seldom-read",
          Prefix: "teams/",
          Status: "Enabled",
          Transitions: [{ StorageClass: "INTELLIGENT_TIERING", TransitionInDays: 30 }],
        },
        {
          Id: "replaced-and-deleted",
          Status: "Enabled",
          NoncurrentVersionExpiration: { NoncurrentDays: 7 },
          ExpiredObjectDeleteMarker: true,
        },
        {
          Id: "taken-in",
          Prefix: "teams/.incoming/",
          Status: "Enabled",
          ExpirationInDays: 7,
        },
        {
          Id: "uploads-given-up",
          Status: "Enabled",
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
        },
      ],
    },
  });
});

it("expires no team's objects: the prefix of received content cannot be a team's name", () => {
  expect(teamIncomingPrefix("vision")).toBe("teams/.incoming/vision/");
  expect(() => checkTeamName(".incoming")).toThrow(InvalidInputError);
});

it.each(["trainer", "hosts"])("keeps the output of %s for as long as the configuration says", (name) => {
  data().hasResource("AWS::Logs::LogGroup", {
    DeletionPolicy: "RetainExceptOnCreate",
    Properties: { LogGroupName: `/aws/batch/ringmaster-${name}`, RetentionInDays: 90 },
  });
});

it("counts the errors of GPU drivers, by a metric that is the platform's own", () => {
  data().hasResourceProperties("AWS::Logs::MetricFilter", {
    LogGroupName: { Ref: "HostLogGroup" },
    FilterPattern: '"NVRM: Xid"',
    MetricTransformations: [{ MetricNamespace: "Ringmaster/ringmaster", MetricName: "GpuErrors", MetricValue: "1" }],
  });
});

it("deletes everything with a test platform", () => {
  const settings = { removal: "destroy", retention: { logDays: 7 } } as const;
  const { template, stack } = synthesizeStack(settings, (app, config) => new DataStack(app, "Data", { config }));
  const { Resources } = template.toJSON() as {
    readonly Resources: Readonly<Record<string, { readonly Type: string; readonly DeletionPolicy?: string }>>;
  };
  expect(Object.values(Resources).filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith("Retain"))).toEqual([]);
  template.allResourcesProperties("AWS::DynamoDB::Table", { DeletionProtectionEnabled: false });
  template.hasResourceProperties("AWS::Logs::LogGroup", { RetentionInDays: 7 });
  expect(stack.terminationProtection).toBe(false);
});

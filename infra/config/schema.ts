import * as z from "zod";
import { defaultEvaluationOperations } from "../../platform/config";
import * as part from "./parts";

/** Builds an object that may be omitted completely or partly. Missing values have defaults. */
const section = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: "must be an object" }).prefault({} as never);
/** A choice between objects by their `mode`, which the error names if there is one. */
const modes =
  (...names: readonly string[]) =>
  ({ code }: { readonly code?: string }) =>
    `${code === "invalid_union" ? "must be one of" : "must be an object whose mode is one of"}: ${names.join(", ")}`;
const list = <T extends z.ZodType>(item: T) => z.array(item, { error: "must be a list" }).readonly();

const team = z.strictObject(
  {
    name: part.teamName,
    weight: part.amount(0.01, 100, "the team's part of a contended queue").default(1),
    /** The share of the queue. Teams that name the same one use it together. Default: one of its own. */
    share: part.teamName.optional(),
    priority: part.wholeNumber(0, 9_999, "the priority of the team's jobs within their share").default(0),
    /** Limits of the team's runs whose job has none. */
    limits: z
      .strictObject(
        {
          hours: part.amount(0.01, 8_760, "hours of training").optional(),
          dollars: part.amount(0.01, 10_000_000, "US dollars of training").optional(),
        },
        { error: "must be a mapping with hours, dollars or both" },
      )
      .optional(),
    principals: list(part.principal).default([]),
    groups: list(part.groupName).default([]),
    /** The estimated cost of the team's runs in a calendar month above which an alarm is raised. */
    monthlyBudgetUsd: part.amount(1, 10_000_000, "US dollars a month").optional(),
  },
  { error: "must be an object with at least a name" },
);

const network = z
  .discriminatedUnion(
    "mode",
    [
      z.strictObject({
        /**
         * The kind of network. `public`: trainers have public addresses and accept connections only from each other; it
         * costs nothing while idle. `private`: no public addresses; a NAT gateway (about $33 a month) carries traffic
         * without a gateway endpoint.
         */
        mode: part.oneOf("public", "private"),
        /**
         * The number of availability zones. More zones offer more spot capacity, but traffic between them costs $0.01
         * per GB in each direction.
         */
        zones: part.wholeNumber(1, 6, "the number of availability zones").default(3),
        /** Set zones if the region's first ones lack the instance families. Gangs run in the first zone. */
        zoneNames: list(part.zoneName).default([]),
        cidr: part.cidr.default("10.42.0.0/16"),
      }),
      z.strictObject({
        /** An existing VPC. Its subnets must reach S3, DynamoDB, STS, Lambda, ECR, ECS and CloudWatch Logs. */
        mode: part.oneOf("existing"),
        vpcId: part.vpcId,
        subnetIds: list(part.subnetId).refine((ids) => ids.length > 0, { error: "must name at least one subnet" }),
      }),
    ],
    { error: modes("public", "private", "existing") },
  )
  .prefault({ mode: "public" });

const auth = z
  .discriminatedUnion(
    "mode",
    [
      z.strictObject({
        mode: part.oneOf("iam"),
        /**
         * The roles whose session name the identity provider sets, so that it identifies a person: those of IAM
         * Identity Center, `AWSReservedSSO_<permission set>_*`. The caller of any other role chooses the session name.
         * All sessions of such a role count as one person where persons are compared.
         */
        personalRoles: list(part.principal).default([]),
      }),
      z.strictObject({
        mode: part.oneOf("cognito"),
        /**
         * The domain prefix of the hosted sign-in page: `<domainPrefix>.auth.<region>.amazoncognito.com`. Without it
         * there is no such page.
         */
        domainPrefix: part.prefix.optional(),
        callbackUrls: list(part.httpsUrl).default([]),
      }),
      z.strictObject({
        mode: part.oneOf("oidc"),
        issuer: part.httpsUrl,
        audience: part.audience,
        groupsClaim: part.audience.default("groups"),
      }),
    ],
    { error: modes("iam", "cognito", "oidc") },
  )
  .prefault({ mode: "iam" });

export const schema = z.strictObject(
  {
    /** The prefix of every name. It distinguishes several platforms in one account. */
    prefix: part.prefix.default("ringmaster"),
    /** The account and region to deploy to. The default is that of the credentials. */
    account: part.account.optional(),
    region: part.region.optional(),
    network,
    compute: section({
      /**
       * The instance families of trainers without GPU. The numerics of a run include the processor, so all families
       * must have the same processor generation. Otherwise workers would not be bit-identical.
       */
      cpu: section({
        instanceClasses: list(part.instanceClass)
          .refine((classes) => classes.length > 0, { error: "must name at least one instance family" })
          .default(["c6i", "m6i", "r6i"]),
        /** The maximum number of vCPUs at once, per market. */
        maxVcpus: part.wholeNumber(1, 100_000, "the most vCPUs at once").default(256),
      }),
      gpu: section({
        /**
         * The instance families. Families with the same GPU model form a GPU class (docs/gpu.md), which has queues of its
         * own. The first family's class is the default of jobs that name none.
         */
        instanceClasses: list(part.instanceClass)
          .refine((classes) => classes.length > 0, { error: "must name at least one instance family" })
          .default(["g5"]),
        /** The maximum number of vCPUs at once, per queue. The smallest g5 has 4 vCPUs per GPU. */
        maxVcpus: part.wholeNumber(1, 100_000, "the most vCPUs at once").default(192),
      }),
      /** Multiply-adds above which an evaluation is a job of its own, instead of a function of 15 minutes. */
      evaluationOperations: part
        .wholeNumber(0, 1e15, "the multiply-adds above which an evaluation is a job")
        .default(defaultEvaluationOperations),
      /** The maximum price of a spot instance, in percent of its on-demand price. */
      spotPricePercent: part
        .wholeNumber(10, 100, "the most to pay for spot, in percent of the on-demand price")
        .default(100),
      /** The size of each instance's disk in GiB, for the image and the shard cache. */
      diskGib: part.wholeNumber(64, 16_384, "the size of an instance's disk in GiB").default(200),
      /** Whether operators can open a shell on instances, which run users' code, with Session Manager. */
      sessionManager: part.flag.default(false),
    }),
    functions: section({
      /**
       * The account's limit on concurrent executions (Service Quotas, AWS Lambda). A new account has 10, of which none
       * can be reserved. From 300 on, functions that could use up the concurrency of others are limited.
       */
      accountConcurrency: part.wholeNumber(10, 1_000_000, "the account's limit of concurrent executions").default(10),
    }),
    /** The teams other than `default`. While none names principals or groups, every caller belongs to `default`. */
    teams: list(team).default([]),
    retention: section({
      logDays: part.logDays.default(90),
      /** The time for which overwritten or deleted objects of the bucket can be restored. */
      noncurrentVersionDays: part
        .wholeNumber(1, 3_650, "the days for which replaced and deleted objects are kept")
        .default(7),
    }),
    /** The effect of `cdk destroy` on tables and buckets. `destroy` is for test platforms. */
    removal: part.oneOf("retain", "destroy").default("retain"),
    /** The maximum request units per second of one table. It limits the cost of a faulty loop. */
    tables: section({
      maxReadUnits: part.wholeNumber(1, 1_000_000, "read request units a second").default(12_000),
      maxWriteUnits: part.wholeNumber(1, 1_000_000, "write request units a second").default(6_000),
    }),
    api: section({
      auth,
      /** The operator's domain for the API. The certificate must be in the deployment's region. */
      domain: z
        .strictObject({
          name: part.domainName,
          certificateArn: part.certificateArn,
          /** The hosted zone. If set, the address record is also created. */
          hostedZone: z.strictObject({ id: part.hostedZoneId, name: part.domainName }).optional(),
        })
        .optional(),
      /** Whether the API has a web ACL (about $7 a month). Default: with `cognito` and `oidc`. */
      waf: part.flag.optional(),
      throttling: section({
        ratePerSecond: part.wholeNumber(1, 10_000, "requests a second").default(200),
        burst: part.wholeNumber(1, 5_000, "requests at once").default(400),
      }),
      /** The origins of web pages that may call the API. */
      corsOrigins: list(part.origin).default([]),
    }),
    /** The recipient of alarms, who must confirm the subscription. */
    alarms: section({ email: part.email.optional() }),
    /** The monthly bill for this platform's tag above whose forecast an alarm is raised. */
    budget: section({ monthlyUsd: part.amount(1, 100_000_000, "US dollars a month").default(500) }),
    /**
     * The trainer image in a registry. Without it, the deployment builds the image from `trainer-container/Dockerfile`.
     */
    trainerImage: part.image.optional(),
    encryption: section({
      /**
       * The customer-managed key of the data bucket, whose policy must let IAM grant its use. Default: S3's own key.
       */
      bucketKeyArn: part.keyArn.optional(),
    }),
    /** The permissions boundary of all roles but the trainers', for accounts that require one. */
    permissionsBoundary: part.policyArn.optional(),
    /** The tags of every resource, in addition to `ringmaster: <prefix>`. */
    tags: z.record(part.tagKey, part.tag, { error: "must be an object of tags and their values" }).default({}),
  },
  { error: "must be an object" },
);

/** The content of `ringmaster.config.ts`. Every setting is optional. */
export type RingmasterConfig = z.input<typeof schema>;
export type TeamConfig = z.output<typeof team>;
type Parsed = z.output<typeof schema>;

/** The configuration for `infra/`: checked, with all defaults. */
export interface DeploymentConfig extends Omit<Parsed, "api"> {
  /** The teams, which always include `default`. */
  readonly teams: readonly TeamConfig[];
  readonly api: Parsed["api"] & { readonly waf: boolean };
}

/** Gives `ringmaster.config.ts` its types. The values, and the command line's, are checked at synthesis. */
export function defineConfig(config: RingmasterConfig): RingmasterConfig {
  return config;
}

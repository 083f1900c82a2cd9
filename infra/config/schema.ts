import { z } from "zod";
import * as part from "./parts";

/** An object that may be left out, whole or in part: what is missing has its default. */
const section = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: "must be an object" }).prefault({} as never);
/** The rule of a choice between objects by their `mode`: told of the mode where there is one, else of the object. */
const modes =
  (...names: readonly string[]) =>
  ({ code }: { readonly code?: string }) =>
    `${code === "invalid_union" ? "must be one of" : "must be an object whose mode is one of"}: ${names.join(", ")}`;
const list = <T extends z.ZodType>(item: T) => z.array(item, { error: "must be a list" }).readonly();

const team = z.strictObject(
  {
    name: part.teamName,
    /** The team's part of a contended queue, relative to the other teams' weights. */
    weight: part.amount(0.01, 100, "the team's part of a contended queue").default(1),
    /** Teams that name the same share draw from one part of the queue; by itself each team has one of its own. */
    share: part.teamName.optional(),
    /** Within one share the waiting job of the highest priority goes first. */
    priority: part.wholeNumber(0, 9_999, "the priority of the team's jobs within their share").default(0),
    /** IAM principals whose calls are this team's; `*` stands for any characters but `:` and `/`. */
    principals: list(part.principal).default([]),
    /** Groups of Cognito or of the OIDC token whose members are this team's. */
    groups: list(part.groupName).default([]),
    /** An alarm when the team's runs are estimated to have cost so much in a calendar month. */
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
         * `public`: trainers have public addresses and admit nobody but each other; costs nothing while idle. `private`: no public addresses; a NAT gateway
         * (about $33 a month) for what has no gateway endpoint.
         */
        mode: part.oneOf("public", "private"),
        /** Availability zones: more of them see more spot capacity, and traffic between them costs $0.01 a GB each way. */
        zones: part.wholeNumber(1, 6, "the number of availability zones").default(3),
        /** Which ones, where the region's first are the wrong ones: not every zone has every family of machines. Gangs are in the first. */
        zoneNames: list(part.zoneName).default([]),
        cidr: part.cidr.default("10.42.0.0/16"),
      }),
      z.strictObject({
        /** A VPC that is there. Its subnets must reach S3, DynamoDB, STS, Lambda, ECR, ECS and CloudWatch Logs. */
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
         * Roles whose session name the identity provider sets, so that it names a person: those of IAM Identity Center, `AWSReservedSSO_<permission set>_*`. Of
         * every other role the caller chooses the session name, and all its sessions count as one person where people are compared.
         */
        personalRoles: list(part.principal).default([]),
      }),
      z.strictObject({
        mode: part.oneOf("cognito"),
        /** Of the hosted sign-in page: `<domainPrefix>.auth.<region>.amazoncognito.com`; without one there is no such page. */
        domainPrefix: part.prefix.optional(),
        callbackUrls: list(part.httpsUrl).default([]),
      }),
      z.strictObject({
        mode: part.oneOf("oidc"),
        issuer: part.httpsUrl,
        audience: part.audience,
        /** The claim that lists the caller's groups. */
        groupsClaim: part.audience.default("groups"),
      }),
    ],
    { error: modes("iam", "cognito", "oidc") },
  )
  .prefault({ mode: "iam" });

export const schema = z.strictObject(
  {
    /** Begins every name: several platforms may stand in one account. */
    prefix: part.prefix.default("ringmaster"),
    /** Where to deploy; by default the account and region of the credentials. */
    account: part.account.optional(),
    region: part.region.optional(),
    network,
    compute: section({
      /**
       * Instance families of trainers without GPU. The numerics of a run include the processor, so families of one processor generation only: workers
       * on different ones would not be bit-identical.
       */
      cpu: section({
        instanceClasses: list(part.instanceClass)
          .refine((classes) => classes.length > 0, { error: "must name at least one instance family" })
          .default(["c6i", "m6i", "r6i"]),
        /** Most vCPUs at once, of each market. */
        maxVcpus: part.wholeNumber(1, 100_000, "the most vCPUs at once").default(256),
      }),
      gpu: section({
        /** One family, because it is one GPU model. */
        instanceClass: part.instanceClass.default("g5"),
        /** Most vCPUs at once, of each market: g5 has 4 vCPUs to a GPU in its smallest size, 48 to 4 GPUs in `12xlarge`. */
        maxVcpus: part.wholeNumber(1, 100_000, "the most vCPUs at once").default(192),
      }),
      /** Most that is paid for a spot instance, in percent of its on-demand price. */
      spotPricePercent: part
        .wholeNumber(10, 100, "the most to pay for spot, in percent of the on-demand price")
        .default(100),
      /** Of each instance's disk, in GiB: image, shard cache. */
      diskGib: part.wholeNumber(64, 16_384, "the size of an instance's disk in GiB").default(200),
    }),
    functions: section({
      /**
       * The account's limit of concurrent executions (Service Quotas, AWS Lambda). A new account has 10, of which nothing can be set aside; from 300 on functions
       * that could crowd out the others, or what they call, are bounded.
       */
      accountConcurrency: part.wholeNumber(10, 1_000_000, "the account's limit of concurrent executions").default(10),
    }),
    /** The team `default` is always there. While no team names principals or groups everyone is of it; once one does, a caller whom none names is refused. */
    teams: list(team).default([]),
    retention: section({
      logDays: part.logDays.default(90),
      /** How long what was overwritten or deleted in the bucket can be had back. */
      noncurrentVersionDays: part
        .wholeNumber(1, 3_650, "the days for which replaced and deleted objects are kept")
        .default(7),
    }),
    /** What `cdk destroy` does with tables and buckets. `destroy` is for platforms that are tried out. */
    removal: part.oneOf("retain", "destroy").default("retain"),
    /** Most that one table serves a second, in request units: a mistake in a loop costs no more than this. */
    tables: section({
      maxReadUnits: part.wholeNumber(1, 1_000_000, "read request units a second").default(12_000),
      maxWriteUnits: part.wholeNumber(1, 1_000_000, "write request units a second").default(6_000),
    }),
    api: section({
      auth,
      /** A domain of your own before the API. The certificate must be in the deployment's region. */
      domain: z
        .strictObject({
          name: part.domainName,
          certificateArn: part.certificateArn,
          /** With it the address record is made too. */
          hostedZone: z.strictObject({ id: part.hostedZoneId, name: part.domainName }).optional(),
        })
        .optional(),
      /**
       * A web ACL before the API (about $7 a month). By default where strangers' requests get as far as an authorizer (`cognito`, `oidc`); API Gateway
       * itself turns away what IAM has not signed.
       */
      waf: part.flag.optional(),
      throttling: section({
        ratePerSecond: part.wholeNumber(1, 10_000, "requests a second").default(200),
        burst: part.wholeNumber(1, 5_000, "requests at once").default(400),
      }),
      /** Origins of web pages that may call the API. */
      corsOrigins: list(part.origin).default([]),
    }),
    /** Who hears of alarms. The address must confirm its subscription. */
    alarms: section({ email: part.email.optional() }),
    /** An alarm when the account's bill for this platform's tag is forecast to pass this. */
    budget: section({ monthlyUsd: part.amount(1, 100_000_000, "US dollars a month").default(500) }),
    /** A trainer image in a registry; without one, the image is built from `trainer-container/Dockerfile` at deployment. */
    trainerImage: part.image.optional(),
    /** On every resource, beside `ringmaster: <prefix>`. */
    tags: z.record(part.tagKey, part.tag, { error: "must be an object of tags and their values" }).default({}),
  },
  { error: "must be an object" },
);

/** What `ringmaster.config.ts` holds: everything may be left out. */
export type RingmasterConfig = z.input<typeof schema>;
export type TeamConfig = z.output<typeof team>;
type Parsed = z.output<typeof schema>;

/** The configuration as `infra/` reads it: checked, with every default filled in. */
export interface DeploymentConfig extends Omit<Parsed, "api"> {
  /** Never empty: `default` is among them. */
  readonly teams: readonly TeamConfig[];
  readonly api: Parsed["api"] & { readonly waf: boolean };
}

/** Gives `ringmaster.config.ts` its types; the values are checked at synthesis, together with what the command line overrides. */
export function defineConfig(config: RingmasterConfig): RingmasterConfig {
  return config;
}

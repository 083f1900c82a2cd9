import * as z from "zod";
import { principalPatternProblem, teamNamePattern, teamNameRule } from "../../core/access/principals";

// The schemas of single values. Each states its rule as the end of the sentence "`path` is `value`, but …".

const text = (pattern: RegExp, rule: string) => z.string({ error: rule }).regex(pattern, { error: rule, abort: true });

export const wholeNumber = (least: number, most: number, what: string) => {
  const rule = `must be ${what}: a whole number from ${least} to ${most}`;
  return z.int({ error: rule }).min(least, { error: rule }).max(most, { error: rule });
};

export const amount = (least: number, most: number, what: string) => {
  const rule = `must be ${what}: a number from ${least} to ${most}`;
  return z.number({ error: rule }).min(least, { error: rule }).max(most, { error: rule });
};

export const flag = z.boolean({ error: "must be true or false" });

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: `must be one of: ${values.join(", ")}` });

/** Prefix of globally unique names of at most 63 characters: `<prefix>-data-<account>-<region>`. */
export const prefix = text(
  /^[a-z](?:[a-z0-9]|-(?!-)){0,22}[a-z0-9]$/,
  "must be 2 to 24 lowercase letters, digits and single hyphens, begin with a letter and not end in a hyphen: it begins the names of buckets, functions and queues",
);

export const account = text(
  /^\d{12}$/,
  "must be the 12 digits of an AWS account, as text: a number would lose leading zeros",
);

export const region = text(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the code of an AWS region, such as "eu-central-1"');

export const teamName = text(teamNamePattern, teamNameRule);

/** An IAM ARN. `*` matches any characters of a name. */
export const principal = text(
  /^arn:aws[a-z-]*:(iam|sts)::\d{12}:(role|user|assumed-role|federated-user)\/[\w+=,.@*/-]+$/,
  'must be the ARN of an IAM principal, such as "arn:aws:iam::111122223333:role/vision-*"',
).superRefine((pattern, { addIssue }) => {
  const problem = principalPatternProblem(pattern);
  if (problem) addIssue({ code: "custom", message: problem });
});

export const groupName = text(
  /^\S[^\n]{0,127}$/,
  "must be the name of a group in Cognito or in the token of the OIDC provider: 1 to 128 characters",
);

export const email = text(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'must be an e-mail address, such as "ml-platform@example.com"');

export const instanceClass = text(
  /^[a-z]+\d+[a-z0-9-]*$/,
  'must be an instance family, such as "c6i" or "g5", without a size',
);

export const vpcId = text(/^vpc-[0-9a-f]{8,17}$/, 'must be the id of a VPC, such as "vpc-0123456789abcdef0"');
export const subnetId = text(
  /^subnet-[0-9a-f]{8,17}$/,
  'must be the id of a subnet, such as "subnet-0123456789abcdef0"',
);
export const zoneName = text(/^[a-z]{2}(-[a-z]+)+-\d[a-z]$/, 'must be an availability zone, such as "eu-central-1a"');

export const cidr = text(
  /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\/(1[6-9]|20)$/,
  'must be an IPv4 range of 16 to 20 bits, such as "10.42.0.0/16"',
);

export const domainName = text(
  /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
  'must be a domain name in lower case, such as "ringmaster.example.com"',
);
export const keyArn = text(
  /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/,
  "must be the ARN of a symmetric KMS key in the region of the deployment, not of an alias",
);
export const policyArn = text(
  /^arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/,
  'must be the ARN of an IAM policy, such as "arn:aws:iam::111122223333:policy/boundary"',
);
export const certificateArn = text(
  /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
  "must be the ARN of a certificate in AWS Certificate Manager, in the region of the deployment",
);
export const hostedZoneId = text(
  /^Z[A-Z0-9]{3,31}$/,
  'must be the id of a Route 53 hosted zone, such as "Z0123456789ABCDEFGHIJ"',
);
export const httpsUrl = text(/^https:\/\/[^\s?#]+$/, "must be an https:// URL without query or fragment");
export const origin = text(
  /^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/,
  'must be an origin, such as "https://console.example.com": scheme, host and port only',
);
export const audience = text(
  /^\S{1,256}$/,
  "must be the audience that the provider writes into tokens for this API: 1 to 256 characters without spaces",
);

export const image = text(
  /^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+(:[\w.-]{1,128}|@sha256:[0-9a-f]{64})$/,
  "must be an image in a registry, with its tag or digest: registry/name:tag or registry/name@sha256:…",
);

export const tag = text(
  /^[\p{L}\p{N}\s_.:/=+@-]{0,256}$/u,
  "must be at most 256 letters, digits, spaces and _ . : / = + - @",
);
export const tagKey = text(
  /^(?!aws:)[\p{L}\p{N}\s_.:/=+@-]{1,128}$/u,
  'must be 1 to 128 letters, digits, spaces and _ . : / = + - @, and not begin with "aws:"',
);

/** The retention periods that CloudWatch Logs supports, in days. */
export const logDays = (() => {
  const days = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
  ];
  const rule = `must be a time that CloudWatch Logs knows, in days: ${days.join(", ")}`;
  return z.number({ error: rule }).refine((value) => days.includes(value), { error: rule });
})();

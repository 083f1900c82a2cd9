import { STSClient } from "@aws-sdk/client-sts";
import type { SessionDenials } from "../../core/training/end-sessions";
import { endedRunsPolicy, endedRunsPolicyName, type PolicyDocument } from "../../platform/permissions";
import { putRunRolePolicy } from "../../platform/permissions/grants";
import { sharedPort } from "../port";
import { type Credentials, Signer } from "../signer";

/** IAM's endpoint in each partition, and the region of its signatures (AWS General Reference, "IAM endpoints"). */
const endpoints: Readonly<Record<string, { readonly url: string; readonly region: string }>> = {
  aws: { url: "https://iam.amazonaws.com", region: "us-east-1" },
  "aws-cn": { url: "https://iam.cn-north-1.amazonaws.com.cn", region: "cn-north-1" },
  "aws-us-gov": { url: "https://iam.us-gov.amazonaws.com", region: "us-gov-west-1" },
};

const timeoutMs = 10_000;

export interface SessionDenialsOptions {
  readonly roleArn: string;
  readonly credentials: () => Promise<Credentials>;
  readonly endpoint?: string;
  readonly now?: () => Date;
}

/**
 * Creates the port to the run role's policy `ended-runs` in IAM. The policy is written by one signed request of the
 * query protocol, because the platform uses no other operation of IAM. The caller repeats a failed request.
 */
export function createSessionDenials({
  roleArn,
  credentials,
  endpoint,
  now = () => new Date(),
}: SessionDenialsOptions): SessionDenials {
  const [, partition = ""] = roleArn.split(":");
  const signer = new Signer("iam");

  /** @throws Error with IAM's code and message */
  async function put(document: PolicyDocument): Promise<void> {
    const service = endpoints[partition];
    if (!service) throw new Error(`No IAM endpoint is known for the partition "${partition}" of ${roleArn}`);
    const url = new URL(endpoint ?? service.url);
    const form = new URLSearchParams({
      Action: "PutRolePolicy",
      Version: "2010-05-08",
      RoleName: roleArn.split("/").at(-1) ?? "",
      PolicyName: endedRunsPolicyName,
      PolicyDocument: JSON.stringify(document),
    });
    const body = Buffer.from(form.toString());
    const request = { host: url.host, contentType: "application/x-www-form-urlencoded", body };
    // `fetch` sets these two headers itself, to the same values.
    const {
      host,
      "content-length": length,
      ...headers
    } = signer.sign(request, await credentials(), service.region, now());
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: "POST", headers, body, signal });
    if (!response.ok) throw new Error(`IAM refused PutRolePolicy on ${roleArn}: ${await refusalOf(response)}`);
    await response.body?.cancel();
  }

  return {
    async replace(runIds) {
      const { document, omitted } = endedRunsPolicy(runIds);
      await put(document);
      return omitted;
    },
  };
}

/** Returns the code and message of an answer of the query protocol, or the beginning of any other answer. */
async function refusalOf(response: Response): Promise<string> {
  const text = await response.text();
  const [, code] = /<Code>([^<]*)<\/Code>/.exec(text) ?? [];
  const [, message] = /<Message>([^<]*)<\/Message>/.exec(text) ?? [];
  return `${response.status} ${code === undefined ? text.slice(0, 200) : `${code}: ${message ?? ""}`}`;
}

export const sessionDenials = sharedPort({
  grants: { deny: [putRunRolePolicy] },
  make: (_uses, { config, environment }) =>
    createSessionDenials({
      roleArn: config.runRoleArn,
      credentials: new STSClient({}).config.credentials,
      endpoint: environment["AWS_ENDPOINT_URL"],
    }),
});

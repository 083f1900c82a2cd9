import type { ComputeEnvironmentDetail } from "@aws-sdk/client-batch";
import type { Credentials } from "../../adapters/signer";
import { RingmasterError } from "../../core/errors";
import { gpuClasses } from "../../core/metering/prices";
import { gpuQueuePrefixes, jobQueueNames, resourceNames } from "../../platform/trainer-job";
import { NoCredentialsError, signRequest } from "../signing";
import type { AccountReader, ComputeEnvironment } from "./account";

interface AwsConnection {
  readonly credentials: Credentials;
  readonly region: string;
  /** One endpoint for all services, such as AWS_ENDPOINT_URL. */
  readonly endpoint?: string;
}

interface Service {
  readonly name: string;
  readonly global?: boolean;
}

/** AWS refused a request. `code` is AWS's own, such as `AccessDeniedException`. */
class AwsRefusalError extends RingmasterError {
  constructor(
    what: string,
    readonly awsCode: string,
    message: string,
  ) {
    super(`AWS refused ${what}: ${awsCode}${message ? `: ${message}` : ""}`, { code: "AWS_REFUSED", httpStatus: 502 });
  }
}

/** Calls an operation of the protocol AWS JSON 1.1. `target` is the header `X-Amz-Target`. */
async function callJson<T>(connection: AwsConnection, service: Service, target: string, body: object): Promise<T> {
  const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": target };
  const { ok, text } = await send(connection, service, headers, JSON.stringify(body));
  const answer = JSON.parse(text || "{}") as T & {
    readonly __type?: string;
    readonly message?: string;
    Message?: string;
  };
  if (ok) return answer;
  const code = (answer.__type ?? "UnknownError").split("#").at(-1)!;
  throw new AwsRefusalError(target.split(".").at(-1)!, code, answer.message ?? answer.Message ?? "");
}

async function callQuery(
  connection: AwsConnection,
  service: Service,
  parameters: Readonly<Record<string, string>> & { readonly Action: string },
): Promise<string> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { ok, text } = await send(connection, service, headers, new URLSearchParams(parameters).toString());
  if (ok) return text;
  const element = (name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "";
  throw new AwsRefusalError(parameters.Action, element("Code") || "UnknownError", element("Message"));
}

async function send(
  { credentials, region, endpoint }: AwsConnection,
  { name, global = false }: Service,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const china = region.startsWith("cn-");
  const host = `${global ? name : `${name}.${region}`}.amazonaws.com${china ? ".cn" : ""}`;
  const url = new URL(endpoint ?? `https://${host}`);
  const scope = { region: global && !china ? "us-east-1" : region, service: name, now: Date.now() };
  const request = { method: "POST", url, headers, body };
  const signed = await signRequest(request, credentials, scope);
  try {
    const response = await fetch(url, { method: "POST", headers: signed, body, signal: AbortSignal.timeout(30_000) });
    return { ok: response.ok, text: await response.text() };
  } catch (cause) {
    throw new RingmasterError(`${url.host} does not respond: ${(cause as Error).message}. Check the network`, {
      code: "AWS_UNREACHABLE",
      httpStatus: 503,
      cause,
    });
  }
}

/** Opens the account of the environment's AWS credentials; the SDK is loaded here. @throws NoCredentialsError */
export async function openAccount(prefix: string, region: string | undefined): Promise<AccountReader> {
  const [{ STSClient, GetCallerIdentityCommand }, batch, sns] = await Promise.all([
    import("@aws-sdk/client-sts"),
    import("@aws-sdk/client-batch"),
    import("@aws-sdk/client-sns"),
  ]);
  const sts = new STSClient(region === undefined ? {} : { region });
  const { config } = sts;
  const endpoint = process.env["AWS_ENDPOINT_URL"];
  let connection: AwsConnection;
  try {
    connection = {
      credentials: await config.credentials(),
      region: await config.region(),
      ...(endpoint ? { endpoint } : {}),
    };
  } catch (cause) {
    throw new NoCredentialsError("AWS", cause);
  }
  const { Account: account = "" } = await sts.send(new GetCallerIdentityCommand({}));
  const batchClient = new batch.BatchClient({ region: connection.region });
  const snsClient = new sns.SNSClient({ region: connection.region });
  const queues = async () => {
    const further = gpuQueuePrefixes(prefix).flatMap((begin) => gpuClasses.map((name) => begin + name.toLowerCase()));
    const jobQueues = [...jobQueueNames(prefix), ...further];
    return (await batchClient.send(new batch.DescribeJobQueuesCommand({ jobQueues }))).jobQueues ?? [];
  };
  return {
    account,
    region: connection.region,
    prefix,
    async queues() {
      return (await queues()).map(({ jobQueueName, state, status, statusReason }) => ({
        name: jobQueueName ?? "",
        state: state ?? "",
        status: status ?? "",
        reason: statusReason ?? "",
      }));
    },
    async environments() {
      const arns = (await queues()).flatMap(({ computeEnvironmentOrder = [] }) =>
        computeEnvironmentOrder.flatMap(({ computeEnvironment }) => computeEnvironment ?? []),
      );
      if (arns.length === 0) return []; // Without names, Batch would describe all environments of the account.
      const command = new batch.DescribeComputeEnvironmentsCommand({ computeEnvironments: [...new Set(arns)] });
      return ((await batchClient.send(command)).computeEnvironments ?? []).map(environmentOf);
    },
    quota: (serviceCode, quotaCode) => readQuota(connection, serviceCode, quotaCode),
    async dualStackIPv6() {
      const target = "AmazonEC2ContainerServiceV20141113.ListAccountSettings";
      const body = { name: "dualStackIPv6", effectiveSettings: true };
      const { settings = [] } = await callJson<{ readonly settings?: readonly { readonly value?: string }[] }>(
        connection,
        { name: "ecs" },
        target,
        body,
      );
      return settings[0]?.value ?? "";
    },
    async publicNetwork() {
      const { jobDefinition: jobDefinitionName } = resourceNames(prefix);
      const command = new batch.DescribeJobDefinitionsCommand({ jobDefinitionName, status: "ACTIVE" });
      const definitions = (await batchClient.send(command)).jobDefinitions ?? [];
      // A public network has the endpoint of Lambda with IPv6 (infra/constructs/trainer-network.ts).
      return definitions.some(({ containerProperties }) =>
        containerProperties?.environment?.some(({ name }) => name === "AWS_ENDPOINT_URL_LAMBDA"),
      );
    },
    async spotRole() {
      try {
        const RoleName = "AWSServiceRoleForEC2Spot";
        await callQuery(
          connection,
          { name: "iam", global: true },
          { Action: "GetRole", Version: "2010-05-08", RoleName },
        );
        return true;
      } catch (error) {
        if (error instanceof AwsRefusalError && error.awsCode === "NoSuchEntity") return false;
        throw error;
      }
    },
    async subscriptions(TopicArn) {
      try {
        const { Subscriptions = [] } = await snsClient.send(new sns.ListSubscriptionsByTopicCommand({ TopicArn }));
        return Subscriptions.map(({ Endpoint = "", SubscriptionArn = "" }) => ({
          endpoint: Endpoint,
          confirmed: SubscriptionArn.startsWith("arn:"),
        }));
      } catch (error) {
        if (error instanceof sns.NotFoundException) return undefined;
        throw error;
      }
    },
    async costTag() {
      const { CostAllocationTags = [] } = await callJson<{
        readonly CostAllocationTags?: readonly { readonly Status?: string }[];
      }>(connection, { name: "ce", global: true }, "AWSInsightsIndexService.ListCostAllocationTags", {
        TagKeys: ["ringmaster"],
      });
      return CostAllocationTags[0]?.Status;
    },
  };
}

function environmentOf(one: ComputeEnvironmentDetail): ComputeEnvironment {
  return {
    name: one.computeEnvironmentName ?? "",
    state: one.state ?? "",
    status: one.status ?? "",
    reason: one.statusReason ?? "",
    market: one.computeResources?.type === "SPOT" ? "spot" : "on-demand",
    instanceTypes: one.computeResources?.instanceTypes ?? [],
    maxVcpus: one.computeResources?.maxvCpus ?? 0,
  };
}

/** Reads a quota. An account that never changed one has AWS's default. */
async function readQuota(connection: AwsConnection, serviceCode: string, quotaCode: string): Promise<number> {
  const call = async (operation: string): Promise<number> => {
    const target = `ServiceQuotasV20190624.${operation}`;
    const body = { ServiceCode: serviceCode, QuotaCode: quotaCode };
    const { Quota } = await callJson<{ readonly Quota: { readonly Value: number } }>(
      connection,
      { name: "servicequotas" },
      target,
      body,
    );
    return Quota.Value;
  };
  try {
    return await call("GetServiceQuota");
  } catch (error) {
    if (error instanceof AwsRefusalError && error.awsCode === "NoSuchResourceException")
      return call("GetAWSDefaultServiceQuota");
    throw error;
  }
}

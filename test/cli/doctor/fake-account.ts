import type { IncomingMessage } from "node:http";
import { jobQueueNames } from "../../../platform/trainer-job";
import { startServer } from "../../support/web-server";

export interface FakeAccount {
  queues: {
    jobQueueName: string;
    state: string;
    status: string;
    statusReason?: string;
    computeEnvironmentOrder: object[];
  }[];
  environments: {
    computeEnvironmentName: string;
    state: string;
    status: string;
    statusReason?: string;
    computeResources: { type: string; instanceTypes: string[]; maxvCpus: number };
  }[];
  /** By quota code. A code that is not listed has AWS's default of 0. */
  quotas: Record<string, number>;
  dualStackIPv6: string;
  publicNetwork: boolean;
  spotRole: boolean;
  subscriptions: { endpoint: string; confirmed: boolean }[] | undefined;
  costTag: string | undefined;
  /** Operations that the caller may not call. */
  denied: string[];
}

export function healthyAccount(): FakeAccount {
  const environment = (name: string, type: string, family: string, maxvCpus: number) => ({
    computeEnvironmentName: name,
    state: "ENABLED",
    status: "VALID",
    computeResources: { type, instanceTypes: [family], maxvCpus },
  });
  return {
    queues: jobQueueNames("ringmaster").map((jobQueueName) => ({
      jobQueueName,
      state: "ENABLED",
      status: "VALID",
      computeEnvironmentOrder: [{ order: 1, computeEnvironment: `arn:${jobQueueName}` }],
    })),
    environments: [
      environment("spot", "SPOT", "c6i", 256),
      environment("spot-gpu", "SPOT", "g5", 192),
      environment("on-demand", "EC2", "c6i", 256),
      environment("on-demand-gpu", "EC2", "g5", 192),
      environment("cluster", "EC2", "c6i", 256),
      environment("cluster-gpu", "EC2", "g5", 192),
    ],
    quotas: { "L-34B43A08": 256, "L-3819A6DF": 192, "L-1216C47A": 256, "L-DB2E81BA": 192, "L-B99A9384": 1_000 },
    dualStackIPv6: "enabled",
    publicNetwork: true,
    spotRole: true,
    subscriptions: [{ endpoint: "ops@example.com", confirmed: true }],
    costTag: "Active",
    denied: [],
  };
}

interface Answer {
  readonly status?: number;
  readonly json?: object;
  readonly xml?: string;
}

export async function serveAccount(account: FakeAccount) {
  const calls: string[] = [];
  const server = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const operation = operationOf(request, body);
    calls.push(operation);
    const {
      status = 200,
      json,
      xml,
    } = request.headers.authorization?.startsWith("AWS4-HMAC-SHA256 ")
      ? answerTo(account, operation, body)
      : { status: 403, json: { __type: "MissingAuthenticationToken" } };
    response.writeHead(status, { "content-type": json ? "application/json" : "text/xml" });
    response.end(json ? JSON.stringify(json) : xml);
  });
  return {
    endpoint: server.endpoint,
    calls,
    stop: () => server.close(),
  };
}

function operationOf({ headers, url = "" }: IncomingMessage, body: string): string {
  const target = headers["x-amz-target"];
  if (typeof target === "string") return target.split(".")[1]!;
  return url === "/" ? (new URLSearchParams(body).get("Action") ?? "") : url.split("/").at(-1)!;
}

function answerTo(account: FakeAccount, operation: string, body: string): Answer {
  if (account.denied.includes(operation))
    return {
      status: 400,
      json: { __type: "AccessDeniedException", Message: `not authorized to perform ${operation}` },
    };
  const { QuotaCode: code = "" } = body.startsWith("{") ? (JSON.parse(body) as { readonly QuotaCode?: string }) : {};
  switch (operation) {
    case "GetCallerIdentity":
      return {
        xml: "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>",
      };
    case "describejobqueues":
      return { json: { jobQueues: account.queues } };
    case "describecomputeenvironments":
      return { json: { computeEnvironments: account.environments } };
    case "describejobdefinitions": {
      const environment = account.publicNetwork ? [{ name: "AWS_ENDPOINT_URL_LAMBDA", value: "https://…" }] : [];
      return { json: { jobDefinitions: [{ containerProperties: { environment } }] } };
    }
    case "GetServiceQuota":
      return code in account.quotas
        ? { json: { Quota: { Value: account.quotas[code] } } }
        : { status: 400, json: { __type: "com.amazonaws#NoSuchResourceException" } };
    case "GetAWSDefaultServiceQuota":
      return { json: { Quota: { Value: 0 } } };
    case "ListAccountSettings":
      return { json: { settings: [{ name: "dualStackIPv6", value: account.dualStackIPv6 }] } };
    case "ListCostAllocationTags":
      return { json: { CostAllocationTags: account.costTag === undefined ? [] : [{ Status: account.costTag }] } };
    case "GetRole":
      return account.spotRole
        ? { xml: "<GetRoleResponse/>" }
        : {
            status: 404,
            xml: "<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>no role</Message></Error></ErrorResponse>",
          };
    case "ListSubscriptionsByTopic":
      return subscriptionsAnswer(account);
    default:
      return { status: 400, json: { __type: "UnknownOperationException", message: operation } };
  }
}

function subscriptionsAnswer({ subscriptions }: FakeAccount): Answer {
  if (subscriptions === undefined)
    return {
      status: 404,
      xml: "<ErrorResponse><Error><Type>Sender</Type><Code>NotFound</Code></Error></ErrorResponse>",
    };
  const members = subscriptions.map(
    ({ endpoint, confirmed }) =>
      `<member><Endpoint>${endpoint}</Endpoint><SubscriptionArn>${confirmed ? "arn:aws:sns:…" : "PendingConfirmation"}</SubscriptionArn></member>`,
  );
  return {
    xml: `<ListSubscriptionsByTopicResponse><ListSubscriptionsByTopicResult><Subscriptions>${members.join("")}</Subscriptions></ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>`,
  };
}

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { InstanceMetadata } from "./host-messages";
import { instanceId } from "./names";

/** The state of an instance that changes during its life. */
export interface InstanceState {
  pid?: number;
  /** The time of the spot interruption (ISO 8601), once the notice was given. */
  interruption?: string;
}

/**
 * Creates the instance metadata service (version 2) of one host. It issues a token and answers the paths that a
 * training process reads. Unlike the real service it listens at `AWS_EC2_METADATA_SERVICE_ENDPOINT`. The server is not
 * listening yet.
 */
export function createMetadataServer(instance: InstanceMetadata, state: InstanceState): Server {
  const tokens = new Set<string>();
  return createServer((request, response) => {
    const answer = respond(instance, state, tokens, request);
    response.writeHead(answer.status, { "content-type": "text/plain", connection: "close" });
    response.end(answer.body);
  });
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function respond(
  instance: InstanceMetadata,
  state: InstanceState,
  tokens: Set<string>,
  request: IncomingMessage,
): Answer {
  const path = (request.url ?? "/").split("?")[0]!;
  if (request.method === "PUT" && path === "/latest/api/token") {
    const ttl = Number(request.headers["x-aws-ec2-metadata-token-ttl-seconds"]);
    if (!(ttl >= 1 && ttl <= 21_600)) return { status: 400, body: "400 - Bad Request" };
    const token = randomBytes(24).toString("base64");
    tokens.add(token);
    return { status: 200, body: token };
  }
  const token = request.headers["x-aws-ec2-metadata-token"];
  if (typeof token !== "string" || !tokens.has(token)) return { status: 401, body: "401 - Unauthorized" };
  const body = request.method === "GET" ? categories(instance, state)[path] : undefined;
  return body === undefined ? { status: 404, body: "404 - Not Found" } : { status: 200, body };
}

function categories(instance: InstanceMetadata, state: InstanceState): Readonly<Record<string, string | undefined>> {
  const { region, account } = instance;
  const id = instanceId(state.pid ?? 0);
  const zone = `${region}a`;
  const document = {
    accountId: account,
    availabilityZone: zone,
    instanceId: id,
    instanceType: instance.instanceType,
    privateIp: "127.0.0.1",
    region,
  };
  return {
    "/latest/meta-data/instance-id": id,
    "/latest/meta-data/instance-type": instance.instanceType,
    "/latest/meta-data/instance-life-cycle": instance.lifeCycle,
    "/latest/meta-data/local-ipv4": "127.0.0.1",
    "/latest/meta-data/placement/region": region,
    "/latest/meta-data/placement/availability-zone": zone,
    "/latest/meta-data/spot/instance-action":
      state.interruption && JSON.stringify({ action: "terminate", time: state.interruption }),
    "/latest/meta-data/spot/termination-time": state.interruption,
    "/latest/dynamic/instance-identity/document": JSON.stringify(document),
  };
}

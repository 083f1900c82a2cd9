import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { createSessionDenials } from "../../../adapters/iam/session-denials";
import { endedRunsPolicy } from "../../../platform/permissions";
import { sign } from "../../support/sign";
import { startServer, type WebServer } from "../../support/web-server";

const keys = { accessKeyId: "ASIA", secretAccessKey: "secret", sessionToken: "to/ken+=" };
const now = new Date("2026-02-03T23:59:58.765Z");
const runIds = ["run-0123456789abcdef"];
const roleArn = "arn:aws:iam::123456789012:role/ringmaster-run-eu-north-1";

describe("the run role's policy in IAM", () => {
  const seen: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  let answer = { status: 200, body: "<PutRolePolicyResponse/>" };
  let server: WebServer;
  let endpoint: string;
  const denialsAt = (url?: string, arn = roleArn) =>
    createSessionDenials({ roleArn: arn, credentials: async () => keys, endpoint: url, now: () => now });

  beforeAll(async () => {
    server = await startServer(async (request, response) => {
      seen.push({ headers: request.headers, body: await text(request) });
      response.writeHead(answer.status).end(answer.body);
    });
    endpoint = server.endpoint;
  });
  afterAll(() => server.close());
  afterEach(() => jest.restoreAllMocks());

  it("is written by PutRolePolicy, signed as Amazon's own library signs it", async () => {
    await denialsAt(endpoint).replace(runIds);
    const { headers, body } = seen.at(-1)!;
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      Action: "PutRolePolicy",
      Version: "2010-05-08",
      RoleName: "ringmaster-run-eu-north-1",
      PolicyName: "ended-runs",
      PolicyDocument: JSON.stringify(endedRunsPolicy(runIds).document),
    });
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const signed = await sign({ method: "POST", url: endpoint, headers: type, body, service: "iam" }, keys, now);
    expect(headers.authorization).toBe(signed["authorization"]);
    expect(headers).toMatchObject({ ...type, "x-amz-date": "20260203T235958Z", "x-amz-security-token": "to/ken+=" });
  });

  it.each([
    ["aws", "https://iam.amazonaws.com/", "us-east-1"],
    ["aws-cn", "https://iam.cn-north-1.amazonaws.com.cn/", "cn-north-1"],
    ["aws-us-gov", "https://iam.us-gov.amazonaws.com/", "us-gov-west-1"],
  ])("goes to the endpoint of the partition %s", async (partition, url, region) => {
    const fetched = jest.spyOn(globalThis, "fetch").mockResolvedValue(new Response(""));
    await denialsAt(undefined, roleArn.replace("arn:aws:", `arn:${partition}:`)).replace(runIds);
    const [target, init] = fetched.mock.calls[0]!;
    expect(String(target)).toBe(url);
    expect(new Headers(init?.headers).get("authorization")).toContain(`/20260203/${region}/iam/aws4_request,`);
  });

  it("refuses an unknown partition by name", async () => {
    const unknown = denialsAt(undefined, roleArn.replace("arn:aws:", "arn:aws-moon:"));
    await expect(unknown.replace(runIds)).rejects.toThrow('No IAM endpoint is known for the partition "aws-moon"');
  });

  it.each([
    [
      400,
      "<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>",
      "400 Throttling: Rate exceeded",
    ],
    [503, "busy", "503 busy"],
  ])("fails with what IAM answers (%d)", async (status, body, message) => {
    answer = { status, body };
    await expect(denialsAt(endpoint).replace(runIds)).rejects.toThrow(
      `IAM refused PutRolePolicy on ${roleArn}: ${message}`,
    );
  });
});

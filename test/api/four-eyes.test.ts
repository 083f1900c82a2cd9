import type { APIGatewayProxyEvent } from "aws-lambda";
import { useTestApp } from "../support/app";
import { judgeNow, versionOfRun } from "../support/registry";

type RequestContext = Partial<Pick<APIGatewayProxyEvent["requestContext"], "identity" | "authorizer">>;

const session = (name: string, role = "Scientist", id = "AROASCIENTIST"): RequestContext => ({
  identity: {
    userArn: `arn:aws:sts::1:assumed-role/${role}/${name}`,
    caller: `${id}:${name}`,
  } as APIGatewayProxyEvent["requestContext"]["identity"],
});
const cognito = (sub: string, email: string): RequestContext => ({
  authorizer: { claims: { iss: "https://pool", sub, email, email_verified: "true" } },
});
const token = (actor: string): RequestContext => ({
  authorizer: { principalId: actor, team: "default", person: `token:${actor.toLowerCase()}` },
});
const unauthenticated = (actor: string): RequestContext => ({ authorizer: { principalId: actor, team: "default" } });

/** Two approvals are required of every model here; the callers are those that a gateway authenticated. */
describe("approvals of several people through the API", () => {
  const { platform, app } = useTestApp({
    checkResponses: true,
    personalRoles: ["arn:aws:iam::1:role/AWSReservedSSO_*"],
  });
  let name: string;
  let made = 0;

  async function call(who: RequestContext, method: string, path: string, body: object = {}) {
    const event = { requestContext: who } as APIGatewayProxyEvent;
    const headers = { "content-type": "application/json", "x-ringmaster-actor": "another person" };
    const response = await app.request(path, { method, headers, body: JSON.stringify(body) }, { event });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }
  const policy = (who: RequestContext, approvals: object) =>
    call(who, "PUT", `/api/v1/models/${name}/policy`, { approvals });
  const approve = (who: RequestContext) =>
    call(who, "POST", `/api/v1/models/${name}/versions/1/approvals`, { decision: "approved" });
  const promoteNatively = (who: RequestContext) =>
    call(who, "PUT", `/api/v1/models/${name}/versions/1/stage`, { stage: "production" });
  const promoteByMlflow = (who: RequestContext) =>
    call(who, "POST", "/api/2.0/mlflow/model-versions/transition-stage", {
      ...{ name, version: "1", stage: "Production", archive_existing_versions: false },
    });

  beforeEach(async () => {
    name = `digits-${++made}`;
    await platform.registry.register(platform.team, versionOfRun(name, `run-${name}`), {
      by: "test",
      at: "now",
    });
    await policy(session("setup", "Setup", "AROASETUP"), { required: 2 });
    await judgeNow(platform.registry, name, 1);
  });

  it.each<[string, RequestContext, RequestContext]>([
    ["three sessions of one role", session("ada"), session("grace")],
    ["a Cognito user who changes the e-mail address", cognito("1", "ada@x"), cognito("1", "grace@x")],
  ])("is one person, and promotes at neither API: %s", async (_name, first, second) => {
    for (const who of [first, second, first]) expect((await approve(who)).status).toBe(200);
    expect((await platform.registry.version(name, 1)).approvals).toHaveLength(1);
    for (const promote of [promoteNatively, promoteByMlflow]) {
      const { status, body } = await promote(second);
      expect([status >= 400, JSON.stringify(body)]).toEqual([true, expect.stringContaining("has 1 of 2 approvals")]);
    }
  });

  it("one person does not lift the policy: a looser one is a proposal until another sets the same", async () => {
    const [ada, grace] = [session("ada"), session("grace", "Other", "AROAOTHER")];
    await approve(ada);
    const { body } = await policy(session("ada again"), { required: 1 });
    expect(body.model).toMatchObject({ policy: { approvals: { required: 2 } }, policyProposal: { requests: [{}] } });
    expect(body.warnings).toEqual([
      { code: "POLICY_PROPOSED", message: expect.stringContaining("1 more person must set the same policy") },
    ]);
    expect((await policy(ada, { required: 1 })).body.warnings).toHaveLength(1);
    expect((await promoteNatively(ada)).body.error.code).toBe("NOT_APPROVED");
    expect((await policy(grace, { required: 1 })).body.warnings).toBeUndefined();
    expect((await promoteNatively(ada)).status).toBe(200);
  });

  it("approvals of callers that are not authenticated do not count, which the policy's answer says", async () => {
    const { body } = await policy(unauthenticated("ada"), { required: 2, notTheSubmitter: true });
    expect(body.warnings).toEqual([expect.objectContaining({ code: "CALLERS_NOT_AUTHENTICATED" })]);
    for (const who of ["ada", "grace"]) {
      expect(await approve(unauthenticated(who))).toMatchObject({
        status: 403,
        body: { error: { code: "NOT_AN_APPROVER", details: { refusal: "no-identity" } } },
      });
    }
  });

  it.each<[string, (who: RequestContext, model: string, runId: string) => Promise<{ status: number }>]>([
    [
      "the native API",
      (who, model, runId) => call(who, "POST", "/api/v1/models/register", { name: model, source: "s3://b/x", runId }),
    ],
    [
      "MLflow's",
      async (who, model, runId) => {
        await call(who, "POST", "/api/2.0/mlflow/registered-models/create", { name: model });
        return call(who, "POST", "/api/2.0/mlflow/model-versions/create", {
          ...{ name: model, source: "s3://b/x", run_id: runId },
        });
      },
    ],
  ])(
    "the people behind a version's run are its submitters, whichever caller registers it at %s",
    async (_api, register) => {
      const [ada, grace, alan] = [token("ada"), token("grace"), token("alan")];
      const { body } = await call(ada, "POST", "/api/v1/runs", { experiment: "four eyes" });
      name = `registered-${++made}`;
      expect((await register(grace, name, body.run.runId)).status).toBeLessThan(300);
      await policy(ada, { notTheSubmitter: true });
      await judgeNow(platform.registry, name, 1);
      for (const who of [ada, grace]) expect((await approve(who)).body.error.details.refusal).toBe("submitter");
      expect((await approve(alan)).status).toBe(200);
    },
  );
});

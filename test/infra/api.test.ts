import type { Template } from "aws-cdk-lib/assertions";
import { Match } from "aws-cdk-lib/assertions";
import { allOperations } from "../../api/operations";
import { apiStack } from "./api-stack";
import { resources } from "./synthesized";

interface Method {
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly "x-amazon-apigateway-request-validator"?: string;
  readonly "x-amazon-apigateway-integration": Readonly<Record<string, unknown>>;
}
interface Body {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Method>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: { readonly caller: Readonly<Record<string, unknown>> };
  };
  readonly "x-amazon-apigateway-binary-media-types": readonly string[];
  readonly "x-amazon-apigateway-gateway-responses": Readonly<
    Record<string, { readonly statusCode: number; readonly responseTemplates: Readonly<Record<string, string>> }>
  >;
}

const bodyOf = (template: Template): Body =>
  resources(template, "AWS::ApiGateway::RestApi")[0]!.Properties["Body"] as unknown as Body;
const methodsOf = (body: Body) =>
  Object.entries(body.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, definition]) => ({ path, method, definition })),
  );

describe("with IAM, which is the default", () => {
  const { template } = apiStack({});
  const body = bodyOf(template);

  it("has every operation of the allOperations, signed and validated", () => {
    const operations = methodsOf(body).filter(({ definition }) => definition.operationId !== undefined);
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      allOperations.map(({ method, path }) => `${method} /api/v1${path}`).sort(),
    );
    for (const { path, method, definition } of methodsOf(body)) {
      // A request to a hook is verified by the function.
      const isHook = path.startsWith("/api/v1/hooks/") && method === "post";
      expect(definition.security).toEqual(isHook ? undefined : [{ caller: [] }]);
      expect(definition["x-amazon-apigateway-request-validator"]).toBe("all");
    }
    expect(body.components.securitySchemes.caller).toMatchObject({ "x-amazon-apigateway-authtype": "awsSigv4" });
  });

  it("requires a body where it is mandatory, and accepts a missing optional one", () => {
    const bodyOfOperation = (path: string) =>
      (body.paths[`/api/v1${path}`]!["post"] as unknown as { readonly requestBody: object }).requestBody;
    expect(bodyOfOperation("/training-runs")).toEqual({
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/SubmitRequest" } } },
    });
    expect(bodyOfOperation("/datasets/{name}/versions/{version}/deprecate")).toEqual({
      required: false,
      content: {
        "application/json": {
          schema: { properties: { reason: { type: "string", maxLength: 1_000 } }, additionalProperties: false },
        },
      },
    });
  });

  it("passes each operation to its function, and streams if the function streams", () => {
    for (const operation of allOperations) {
      const method = body.paths[`/api/v1${operation.path}`]![operation.method.toLowerCase()]!;
      const integration = method["x-amazon-apigateway-integration"];
      const uri = JSON.stringify(integration["uri"]);
      if (operation.function === "stream-metrics") {
        expect(integration).toMatchObject({
          type: "aws_proxy",
          responseTransferMode: "STREAM",
          timeoutInMillis: 900_000,
        });
        expect(uri).toContain("lambda:path/2021-11-15/functions/");
        expect(uri).toContain("/response-streaming-invocations");
      } else {
        expect(integration).toMatchObject({ type: "aws_proxy", timeoutInMillis: 29_000 });
        expect(integration).not.toHaveProperty("responseTransferMode");
        expect(uri).toContain("lambda:path/2015-03-31/functions/");
        expect(uri).toContain("/invocations");
      }
    }
    const streamed = allOperations.filter((operation) => operation.function === "stream-metrics");
    expect(streamed.map(({ operationId }) => operationId)).toEqual(["getTrainingRunMetrics", "exportExperiment"]);
  });

  it("passes unknown paths and methods to the function, so that the gateway's own refusal means a missing signature", () => {
    for (const [path, item] of Object.entries(body.paths)) {
      expect([path, Object.keys(item)]).toEqual([path, expect.arrayContaining(["x-amazon-apigateway-any-method"])]);
    }
  });

  it("passes MLflow's paths to the API's function by every method, and for signed callers alone", () => {
    // The gateway selects the longest matching path. The greedy variable matches all other paths.
    const beginnings = Object.keys(body.paths).map((known) => known.slice(0, known.indexOf("{") >>> 0));
    for (const path of ["/api/2.0/mlflow/runs/create", "/api/3.0/mlflow/traces", "/ajax-api/2.0/mlflow/x", "/version"])
      expect(beginnings.filter((known) => path.startsWith(known))).toEqual(["/"]);
    const { "x-amazon-apigateway-any-method": everyMethod, ...others } = body.paths["/{proxy+}"]!;
    expect(others).toEqual({});
    expect(everyMethod!.security).toEqual([{ caller: [] }]);
    expect(everyMethod!["x-amazon-apigateway-integration"]).toMatchObject({
      type: "aws_proxy",
      timeoutInMillis: 29_000,
    });
    expect(JSON.stringify(everyMethod!["x-amazon-apigateway-integration"]["uri"])).toContain(":ringmaster-api");
  });

  it("hands bodies on as bytes, except JSON", () => {
    const listed = body["x-amazon-apigateway-binary-media-types"];
    const asBytes = (type: string) => listed.includes(type) || listed.includes(type.replace(/\/.*/, "/*"));
    const binary = ["application/octet-stream", "image/png", "text/csv", "application/zip", "application/x-hdf5"];
    expect(binary.filter((type) => !asBytes(type))).toEqual([]);
    expect(["application/json", "application/problem+json"].filter(asBytes)).toEqual([]);
    expect(listed).not.toContain("*/*");
    expect(new Set(listed).size).toBe(listed.length);
  });

  it("is imported in full or not at all, is Regional, logs and traces", () => {
    template.hasResourceProperties("AWS::ApiGateway::RestApi", {
      FailOnWarnings: true,
      EndpointConfiguration: { Types: ["REGIONAL"] },
    });
    template.hasResourceProperties("AWS::ApiGateway::Stage", {
      StageName: "live",
      TracingEnabled: true,
      AccessLogSetting: { Format: Match.stringLikeRegexp('^\\{"requestId":"\\$context.requestId",.*\\}$') },
    });
    template.resourceCountIs("AWS::WAFv2::WebACL", 0);
    template.resourceCountIs("AWS::Cognito::UserPool", 0);
  });

  it("keeps the gateway's own log no longer than the others", () => {
    const [[id, group]] = Object.entries(template.findResources("AWS::Logs::LogGroup")).filter(([, { Properties }]) =>
      JSON.stringify(Properties.LogGroupName ?? "").includes("API-Gateway-Execution-Logs_"),
    ) as [[string, { readonly Properties: Readonly<Record<string, unknown>> }]];
    expect(group.Properties["RetentionInDays"]).toBe(90);
    const [stage] = Object.values(template.findResources("AWS::ApiGateway::Stage"));
    expect(stage!.DependsOn).toContain(id);
  });

  it("throttles writes and expensive calls before reads", () => {
    const stage = resources(template, "AWS::ApiGateway::Stage")[0]!.Properties["MethodSettings"] as readonly object[];
    expect(stage).toContainEqual(
      expect.objectContaining({
        HttpMethod: "*",
        ResourcePath: "/*",
        ThrottlingRateLimit: 200,
        ThrottlingBurstLimit: 400,
      }),
    );
    const of = (path: string, method: string) =>
      stage.filter(
        (one) =>
          JSON.stringify(one).includes(`"HttpMethod":"${method}"`) &&
          JSON.stringify(one).includes(`"ResourcePath":"/${path.replaceAll("/", "~1")}"`),
      );
    expect(of("/api/v1/training-runs", "POST")).toEqual([
      expect.objectContaining({
        ThrottlingRateLimit: 100,
        ThrottlingBurstLimit: 200,
        LoggingLevel: "ERROR",
        MetricsEnabled: false,
      }),
    ]);
    expect(of("/api/v1/uploads", "POST")).toEqual([
      expect.objectContaining({ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 }),
    ]);
    expect(of("/api/v1/training-runs", "GET")).toEqual([]);
  });

  it("refuses in the API's error format", () => {
    for (const [type, response] of Object.entries(body["x-amazon-apigateway-gateway-responses"])) {
      const filled = response.responseTemplates["application/json"]!.replace(
        "$context.error.messageString",
        '"the \\"gateway\\" says so"',
      ).replace("$context.requestId", "r-1");
      const { error } = JSON.parse(filled) as { readonly error: Readonly<Record<string, string>> };
      expect([type, error]).toEqual([
        type,
        { code: expect.any(String), message: expect.any(String), requestId: "r-1" },
      ]);
    }
    expect(body["x-amazon-apigateway-gateway-responses"]).toMatchObject({
      MISSING_AUTHENTICATION_TOKEN: { statusCode: 401 },
      THROTTLED: { statusCode: 429 },
      WAF_FILTERED: { statusCode: 403 },
      INTEGRATION_TIMEOUT: { statusCode: 504 },
    });
  });

  it("respects API Gateway's rules for paths, and CloudFormation's for size", () => {
    for (const path of Object.keys(body.paths)) {
      for (const part of path.slice(1).split("/")) expect(part).toMatch(/^([\w.,:-]+|\{\w+\+?\})$/);
    }
    // A path parameter has only one name at the same position in the tree.
    const names = new Map<string, Set<string>>();
    for (const path of Object.keys(body.paths)) {
      const parts = path.split("/");
      parts.forEach((part, i) => {
        if (!part.startsWith("{") || part.endsWith("+}")) return;
        const place = parts.slice(0, i).join("/");
        names.set(place, (names.get(place) ?? new Set()).add(part));
      });
    }
    expect([...names].filter(([, found]) => found.size > 1)).toEqual([]);
    expect(JSON.stringify(template.toJSON()).length).toBeLessThan(600_000);
  });
});

describe("with Cognito", () => {
  const { template } = apiStack({
    teams: [
      { name: "vision", groups: ["vision", "pixels"] },
      { name: "nlp", groups: ["nlp"] },
    ],
    api: {
      auth: { mode: "cognito", domainPrefix: "ml-example", callbackUrls: ["https://console.example.com/in"] },
    },
  });

  it("requires a token of its pool, which has no sign-up and requires a second factor", () => {
    expect(bodyOf(template).components.securitySchemes.caller).toMatchObject({
      "x-amazon-apigateway-authtype": "cognito_user_pools",
      "x-amazon-apigateway-authorizer": {
        type: "cognito_user_pools",
        providerARNs: [{ "Fn::GetAtt": [expect.stringContaining("Users"), "Arn"] }],
      },
    });
    template.hasResource("AWS::Cognito::UserPool", {
      DeletionPolicy: "RetainExceptOnCreate",
      Properties: {
        AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
        MfaConfiguration: "ON",
        DeletionProtection: "ACTIVE",
      },
    });
    template.hasResourceProperties("AWS::Cognito::UserPoolClient", {
      GenerateSecret: false,
      AllowedOAuthFlows: ["code"],
      CallbackURLs: ["https://console.example.com/in"],
    });
    template.resourceCountIs("AWS::Cognito::UserPoolDomain", 1);
  });

  it("has the groups of the teams, each once", () => {
    const groups = resources(template, "AWS::Cognito::UserPoolGroup").map(({ Properties }) => Properties["GroupName"]);
    expect(groups.sort()).toEqual(["nlp", "pixels", "vision"]);
  });

  it("has a web ACL that only counts the rules that JSON bodies trigger", () => {
    template.hasResourceProperties("AWS::WAFv2::WebACL", {
      Scope: "REGIONAL",
      Rules: [
        Match.objectLike({ Statement: { RateBasedStatement: Match.objectLike({ AggregateKeyType: "IP" }) } }),
        Match.objectLike({
          Statement: {
            ManagedRuleGroupStatement: Match.objectLike({
              Name: "AWSManagedRulesCommonRuleSet",
              RuleActionOverrides: Match.arrayWith([{ Name: "SizeRestrictions_BODY", ActionToUse: { Count: {} } }]),
            }),
          },
        }),
      ],
    });
    template.resourceCountIs("AWS::WAFv2::WebACLAssociation", 1);
  });
});

describe("with another OpenID provider, a domain and callers in browsers", () => {
  const { template } = apiStack({
    api: {
      auth: { mode: "oidc", issuer: "https://id.example.com", audience: "ringmaster" },
      waf: false,
      corsOrigins: ["https://console.example.com"],
      domain: {
        name: "ml.example.com",
        certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/abc",
        hostedZone: { id: "Z0123456789ABC", name: "example.com" },
      },
    },
  });

  it("has an authorizer with the issuer and without other rights", () => {
    expect(bodyOf(template).components.securitySchemes.caller).toMatchObject({
      "x-amazon-apigateway-authtype": "custom",
      "x-amazon-apigateway-authorizer": { type: "token", authorizerResultTtlInSeconds: 300 },
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      FunctionName: "ringmaster-authorize",
      Environment: {
        Variables: Match.objectLike({
          RINGMASTER_OIDC_ISSUER: "https://id.example.com",
          RINGMASTER_OIDC_AUDIENCE: "ringmaster",
          RINGMASTER_OIDC_GROUPS_CLAIM: "groups",
        }),
      },
    });
    expect(resources(template, "AWS::Lambda::Permission")).toHaveLength(3);
    template.resourceCountIs("AWS::WAFv2::WebACL", 0);
  });

  it("answers preflights and hooks unsigned, and nothing else", () => {
    const open = methodsOf(bodyOf(template)).filter(
      ({ path, method, definition }) =>
        definition.security === undefined && !(path.startsWith("/api/v1/hooks/") && method === "post"),
    );
    expect(open.length).toBe(Object.keys(bodyOf(template).paths).length);
    expect(new Set(open.map(({ method }) => method))).toEqual(new Set(["options"]));
  });

  it("is reachable only by its domain", () => {
    template.hasResourceProperties("AWS::ApiGateway::RestApi", { DisableExecuteApiEndpoint: true });
    template.hasResourceProperties("AWS::ApiGateway::DomainName", {
      DomainName: "ml.example.com",
      SecurityPolicy: "TLS_1_2",
    });
    template.hasResourceProperties("AWS::Route53::RecordSet", { Name: "ml.example.com.", Type: "A" });
    template.hasOutput("Url", { Value: "https://ml.example.com/" });
  });
});

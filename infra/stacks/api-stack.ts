import { Aws, CfnOutput, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import { CfnPermission, type IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { OpenApiDocument } from "../../api/openapi/model";
import { openApiText } from "../../api/openapi/text";
import { authorizerEnvironment } from "../../platform/config/settings";
import { authorizer, type FunctionName } from "../../platform/functions";
import { accessLogFormat } from "../api/access-log";
import { acknowledgeApiFindings } from "../api/acknowledgements";
import { gatewayDocument } from "../api/document";
import { lambdaIntegration } from "../api/integrations";
import { throttlingByClass } from "../api/throttling";
import type { DeploymentConfig } from "../config";
import { cognitoScheme, iamScheme, oidcScheme, type SecurityScheme } from "../constructs/api-authorization";
import { ApiDomain } from "../constructs/api-domain";
import { ApiUsers } from "../constructs/api-users";
import { functionCode } from "../constructs/bundled-code";
import { PlatformFunction } from "../constructs/platform-function";
import { StageWebAcl } from "../constructs/web-acl";
import { PlatformArns } from "../names";
import { retentionOf } from "../retention";

const stageName = "live";

export interface ApiStackProps extends StackProps {
  readonly config: DeploymentConfig;
  readonly bundles: string;
}

/** A regional REST API from the contracts' document. By default callers sign with IAM, whose policies decide. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, { config, bundles, ...props }: ApiStackProps) {
    super(scope, id, props);
    acknowledgeApiFindings(this, config);
    const document = JSON.parse(openApiText()) as OpenApiDocument;
    const arns = new PlatformArns(this, config.prefix);
    const caller = this.caller(config, bundles);
    // The API's metrics are free, but those of each method cost money, and the access log contains the route.
    const settings = { metricsEnabled: false, loggingLevel: MethodLoggingLevel.ERROR };
    const api = new SpecRestApi(this, "Api", {
      restApiName: config.prefix,
      apiDefinition: ApiDefinition.fromInline(
        gatewayDocument(document, {
          title: config.prefix,
          securityScheme: caller.scheme,
          integration: (operation) => lambdaIntegration(operation.function, arns.function(operation.function)),
          preflight: config.api.corsOrigins.length > 0,
        }),
      ),
      endpointTypes: [EndpointType.REGIONAL],
      failOnWarnings: true,
      // The default host name would bypass the domain and its web ACL.
      disableExecuteApiEndpoint: config.api.domain !== undefined,
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.DESTROY,
      deployOptions: {
        stageName,
        tracingEnabled: true,
        ...settings,
        throttlingRateLimit: config.api.throttling.ratePerSecond,
        throttlingBurstLimit: config.api.throttling.burst,
        methodOptions: throttlingByClass(document, config, settings),
        accessLogDestination: new LogGroupLogDestination(
          new LogGroup(this, "AccessLog", { retention: retentionOf(config), removalPolicy: RemovalPolicy.DESTROY }),
        ),
        accessLogFormat: accessLogFormat(),
      },
    });
    // Without this, API Gateway creates the group with unlimited retention.
    const executionLog = new LogGroup(this, "ExecutionLog", {
      logGroupName: `API-Gateway-Execution-Logs_${api.restApiId}/${stageName}`,
      retention: retentionOf(config),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    api.deploymentStage.node.addDependency(executionLog);
    // The permission is in this stack because it names the API, and the function must not depend on the API.
    const called = new Set(
      Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => one["x-ringmaster"].function)),
    );
    for (const name of called) this.mayInvoke(name, arns.function(name), api.arnForExecuteApi("*", "/*", "*"));
    if (caller.authorizer) {
      const arn = `arn:${Aws.PARTITION}:execute-api:${Aws.REGION}:${Aws.ACCOUNT_ID}:${api.restApiId}/authorizers/*`;
      this.mayInvoke(authorizer.name, caller.authorizer.functionArn, arn);
    }

    if (config.api.waf) new StageWebAcl(this, "WebAcl", { prefix: config.prefix, stage: api.deploymentStage });
    const { domain } = config.api;
    if (domain !== undefined) {
      const { target } = new ApiDomain(this, "Domain", { api, domain });
      new CfnOutput(this, "DomainTarget", { value: target, description: "The target for the domain's alias record." });
    }
    new CfnOutput(this, "Url", {
      value: domain === undefined ? api.deploymentStage.urlForPath("/") : `https://${domain.name}/`,
    });
  }

  /** Returns how callers authenticate, with the authorizer function if the platform has one. */
  private caller(
    config: DeploymentConfig,
    bundles: string,
  ): { readonly scheme: SecurityScheme; readonly authorizer?: IFunction } {
    const { auth } = config.api;
    if (auth.mode === "iam") return { scheme: iamScheme() };
    if (auth.mode === "cognito") return { scheme: cognitoScheme(new ApiUsers(this, "Users", config, auth).pool) };
    const verifier = new PlatformFunction(this, {
      definition: authorizer,
      code: functionCode(bundles, authorizer.name),
      permissions: [],
      layers: [],
      environment: authorizerEnvironment(auth),
      prefix: config.prefix,
      retention: retentionOf(config),
    });
    return { scheme: oidcScheme(verifier), authorizer: verifier };
  }

  private mayInvoke(name: FunctionName, functionName: string, sourceArn: string): void {
    new CfnPermission(this, `${name}-permission`, {
      action: "lambda:InvokeFunction",
      principal: "apigateway.amazonaws.com",
      functionName,
      // The ARN contains the account and the API's id. `sourceAccount` is not used: AWS does not document that API
      // Gateway sends it, and without it nobody could call.
      sourceArn,
    });
  }
}

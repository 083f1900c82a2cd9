import { CfnOutput, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { DeploymentConfig } from "../config";

export interface ApiStackProps extends StackProps {
  readonly config: DeploymentConfig;
  readonly handler: IFunction;
}

/** The API: one function behind a Regional REST API. Callers sign with IAM; who may call is a matter of IAM policies. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, { config, handler, ...props }: ApiStackProps) {
    super(scope, id, props);
    const accessLog = new LogGroup(this, "AccessLog", {
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const api = new RestApi(this, "Api", {
      restApiName: config.prefix,
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.DESTROY,
      defaultMethodOptions: { authorizationType: AuthorizationType.IAM },
      deployOptions: {
        stageName: "live",
        tracingEnabled: true,
        metricsEnabled: true,
        loggingLevel: MethodLoggingLevel.ERROR,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.jsonWithStandardFields(),
        throttlingRateLimit: config.api.throttling.ratePerSecond,
        throttlingBurstLimit: config.api.throttling.burst,
      },
    });
    api.root.addProxy({ defaultIntegration: new LambdaIntegration(handler) });
    new CfnOutput(this, "Url", { value: api.url });
  }
}

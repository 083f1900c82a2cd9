import { Aws, Duration } from "aws-cdk-lib";
import type { IUserPool } from "aws-cdk-lib/aws-cognito";
import type { IFunction } from "aws-cdk-lib/aws-lambda";

/** The time that the gateway caches an authorizer's answer for a token. */
const remembered = Duration.minutes(5);
export type SecurityScheme = Readonly<Record<string, unknown>>;

const authorizationHeader = { type: "apiKey", name: "Authorization", in: "header" };

export function iamScheme(): SecurityScheme {
  return { ...authorizationHeader, "x-amazon-apigateway-authtype": "awsSigv4" };
}

export function cognitoScheme(users: IUserPool): SecurityScheme {
  return {
    ...authorizationHeader,
    "x-amazon-apigateway-authtype": "cognito_user_pools",
    "x-amazon-apigateway-authorizer": { type: "cognito_user_pools", providerARNs: [users.userPoolArn] },
  };
}

export function oidcScheme(authorizer: IFunction): SecurityScheme {
  return {
    ...authorizationHeader,
    "x-amazon-apigateway-authtype": "custom",
    "x-amazon-apigateway-authorizer": {
      type: "token",
      authorizerUri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${authorizer.functionArn}/invocations`,
      authorizerResultTtlInSeconds: remembered.toSeconds(),
      // The gateway answers 401 to anything but a bearer token, without calling the function.
      identityValidationExpression: "^[Bb]earer [A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
    },
  };
}

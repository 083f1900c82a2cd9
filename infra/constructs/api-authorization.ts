import { Aws, Duration } from "aws-cdk-lib";
import type { IUserPool } from "aws-cdk-lib/aws-cognito";
import type { IFunction } from "aws-cdk-lib/aws-lambda";

/** For how long the gateway remembers what an authorizer said of a token. */
const remembered = Duration.minutes(5);
/** OpenAPI's, with the gateway's extensions. */
export type SecurityScheme = Readonly<Record<string, unknown>>;

const authorizationHeader = { type: "apiKey", name: "Authorization", in: "header" };

/** Callers sign with IAM credentials. */
export function iamScheme(): SecurityScheme {
  return { ...authorizationHeader, "x-amazon-apigateway-authtype": "awsSigv4" };
}

/** Callers send an ID token of the user pool. */
export function cognitoScheme(users: IUserPool): SecurityScheme {
  return {
    ...authorizationHeader,
    "x-amazon-apigateway-authtype": "cognito_user_pools",
    "x-amazon-apigateway-authorizer": { type: "cognito_user_pools", providerARNs: [users.userPoolArn] },
  };
}

/** Callers send a token of another OpenID provider, which our own function verifies. */
export function oidcScheme(authorizer: IFunction): SecurityScheme {
  return {
    ...authorizationHeader,
    "x-amazon-apigateway-authtype": "custom",
    "x-amazon-apigateway-authorizer": {
      type: "token",
      authorizerUri: `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${authorizer.functionArn}/invocations`,
      authorizerResultTtlInSeconds: remembered.toSeconds(),
      // What is no bearer token is answered 401 without waking the function.
      identityValidationExpression: "^[Bb]earer [A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
    },
  };
}

import { CfnOutput, Duration, Stack } from "aws-cdk-lib";
import {
  AccountRecovery,
  CfnUserPoolGroup,
  Mfa,
  OAuthScope,
  UserPool,
  type UserPoolClient,
} from "aws-cdk-lib/aws-cognito";
import { Construct } from "constructs";
import type { DeploymentConfig } from "../config";
import { removalOf } from "../retention";

type CognitoAuth = Extract<DeploymentConfig["api"]["auth"], { readonly mode: "cognito" }>;

/** Users are invited, a second factor is required, and the teams' groups exist without members. */
export class ApiUsers extends Construct {
  readonly pool: UserPool;
  readonly client: UserPoolClient;

  constructor(scope: Construct, id: string, config: DeploymentConfig, auth: CognitoAuth) {
    super(scope, id);
    const removalPolicy = removalOf(config);
    this.pool = new UserPool(this, "Pool", {
      userPoolName: config.prefix,
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      mfa: Mfa.REQUIRED,
      mfaSecondFactor: { sms: false, otp: true },
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
        tempPasswordValidity: Duration.days(3),
      },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      removalPolicy,
      deletionProtection: config.removal === "retain",
    });
    for (const name of new Set(config.teams.flatMap(({ groups }) => groups))) {
      new CfnUserPoolGroup(this, `Group-${name}`, { userPoolId: this.pool.userPoolId, groupName: name });
    }
    const browser = auth.domainPrefix !== undefined && auth.callbackUrls.length > 0;
    this.client = this.pool.addClient("Client", {
      // Consoles and command lines cannot keep a secret, so they use a code with PKCE, or SRP.
      generateSecret: false,
      authFlows: { userSrp: true },
      preventUserExistenceErrors: true,
      idTokenValidity: Duration.hours(1),
      accessTokenValidity: Duration.hours(1),
      refreshTokenValidity: Duration.days(30),
      enableTokenRevocation: true,
      disableOAuth: !browser,
      ...(browser
        ? {
            oAuth: {
              flows: { authorizationCodeGrant: true },
              scopes: [OAuthScope.OPENID, OAuthScope.EMAIL],
              callbackUrls: [...auth.callbackUrls],
            },
          }
        : {}),
    });
    if (auth.domainPrefix !== undefined) {
      this.pool.addDomain("Domain", { cognitoDomain: { domainPrefix: auth.domainPrefix } });
    }
    new CfnOutput(Stack.of(this), "UserPoolId", { value: this.pool.userPoolId });
    new CfnOutput(Stack.of(this), "UserPoolClientId", { value: this.client.userPoolClientId });
  }
}

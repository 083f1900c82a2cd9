import type { RingmasterConfig } from "../../infra/config";

/** Deployments with different resources. Rules about the platform must hold for each of them. */
export const configurations: Readonly<Record<string, RingmasterConfig>> = {
  "with the defaults": {},
  "with everything": {
    prefix: "every-thing",
    network: { mode: "private", zones: 2 },
    compute: { spotPricePercent: 70, gpu: { instanceClasses: ["g6"] }, sessionManager: true },
    encryption: { bucketKeyArn: "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9" },
    permissionsBoundary: "arn:aws:iam::111122223333:policy/boundary",
    teams: [
      { name: "vision", weight: 2, groups: ["vision"], monthlyBudgetUsd: 500 },
      { name: "nlp-2", share: "text", priority: 5, groups: ["nlp"] },
    ],
    api: {
      auth: { mode: "cognito", domainPrefix: "every-thing", callbackUrls: ["https://console.example.com/signed-in"] },
      domain: {
        name: "ringmaster.example.com",
        certificateArn: "arn:aws:acm:us-east-1:111122223333:certificate/0a1b2c3d",
        hostedZone: { id: "Z0123456789ABCDEFGHIJ", name: "example.com" },
      },
      corsOrigins: ["https://console.example.com"],
    },
    alarms: { email: "ml-platform@example.com" },
    trainerImage: "111122223333.dkr.ecr.us-east-1.amazonaws.com/trainer:1",
    tags: { "cost-center": "42" },
  },
  "in a VPC that is there, for a trial": {
    network: { mode: "existing", vpcId: "vpc-0123456789abcdef0", subnetIds: ["subnet-0123456789abcdef0"] },
    api: { auth: { mode: "oidc", issuer: "https://id.example.com", audience: "ringmaster" }, waf: false },
    removal: "destroy",
    retention: { logDays: 7, noncurrentVersionDays: 1 },
  },
};

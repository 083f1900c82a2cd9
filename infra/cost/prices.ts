/** Date of the list prices of us-east-1 in US dollars, without free tier. Other regions are up to a third higher. */
export const pricesAsOf = "2026-06-17";

/** The hours of a month, as AWS counts them. */
export const hoursAMonth = 730;

export const prices = {
  // https://aws.amazon.com/lambda/pricing/
  lambdaRequest: 0.2 / 1e6,
  lambdaGibSecond: 0.0000166667,
  // https://aws.amazon.com/xray/pricing/
  trace: 5 / 1e6,
  // https://aws.amazon.com/cloudwatch/pricing/
  alarmMetricMonth: 0.1,
  compositeAlarmMonth: 0.5,
  dashboardMonth: 3,
  logGibIngested: 0.5,
  logGibMonth: 0.03,
  // https://aws.amazon.com/dynamodb/pricing/on-demand/
  readRequestUnit: 0.125 / 1e6,
  writeRequestUnit: 0.625 / 1e6,
  tableGibMonth: 0.25,
  recoverableGibMonth: 0.2,
  // https://aws.amazon.com/s3/pricing/
  objectGibMonth: 0.023,
  // https://aws.amazon.com/vpc/pricing/
  natGatewayHour: 0.045,
  publicAddressHour: 0.005,
  interfaceEndpointHour: 0.01,
  // https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer: a GB between two zones, in both directions.
  zoneCrossingGb: 0.02,
  // https://aws.amazon.com/ebs/pricing/
  diskGibMonth: 0.08,
  // https://aws.amazon.com/waf/pricing/
  webAclMonth: 5,
  webAclRuleMonth: 1,
  // https://aws.amazon.com/kms/pricing/, https://aws.amazon.com/secrets-manager/pricing/, https://aws.amazon.com/route53/pricing/
  keyMonth: 1,
  secretMonth: 0.4,
  hostedZoneMonth: 0.5,
} as const;

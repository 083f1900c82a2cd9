import { DomainName, EndpointType, SecurityPolicy, type SpecRestApi } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import { Construct } from "constructs";
import type { DeploymentConfig } from "../config";

export class ApiDomain extends Construct {
  /** The target for an alias record in a zone that is managed elsewhere. */
  readonly target: string;

  constructor(
    scope: Construct,
    id: string,
    { api, domain }: { readonly api: SpecRestApi; readonly domain: NonNullable<DeploymentConfig["api"]["domain"]> },
  ) {
    super(scope, id);
    const name = new DomainName(this, "Name", {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, "Certificate", domain.certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    name.addBasePathMapping(api, { stage: api.deploymentStage });
    this.target = name.domainNameAliasDomainName;
    if (domain.hostedZone === undefined) return;
    const { id: hostedZoneId, name: zoneName } = domain.hostedZone;
    new ARecord(this, "Record", {
      zone: HostedZone.fromHostedZoneAttributes(this, "Zone", { hostedZoneId, zoneName }),
      recordName: `${domain.name}.`,
      target: RecordTarget.fromAlias(new ApiGatewayDomain(name)),
    });
  }
}

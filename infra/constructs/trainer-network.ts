import { Annotations, RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  FlowLogDestination,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  IpProtocol,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  Subnet,
  type SubnetConfiguration,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { DeploymentConfig } from "../config";
import { retentionOf } from "../retention";

type NetworkConfig = DeploymentConfig["network"];
type OwnNetwork = Extract<NetworkConfig, { readonly mode: "public" | "private" }>;

/**
 * Trainers reach each other, S3, DynamoDB and AWS through HTTPS, and accept nothing else. Why no NAT gateway: ADR 021.
 */
export class TrainerNetwork extends Construct {
  readonly vpc: IVpc;
  readonly securityGroup: SecurityGroup;
  /** The subnets of single-node jobs. */
  readonly subnets: readonly ISubnet[];
  /** The subnets of multi-node parallel jobs, because a cluster placement group is in one availability zone. */
  readonly gangSubnets: readonly ISubnet[];
  /** The variables that containers need for outgoing connections. */
  readonly environment: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, config: DeploymentConfig) {
    super(scope, id);
    const { network } = config;
    if (network.mode === "existing") {
      // Subnets are imported separately. CDK requires zones here but does not use them.
      this.vpc = Vpc.fromVpcAttributes(this, "Vpc", { vpcId: network.vpcId, availabilityZones: ["any"] });
      this.subnets = network.subnetIds.map((subnetId, i) => Subnet.fromSubnetId(this, `Subnet${i + 1}`, subnetId));
      // The owner manages the routes, and this stack does not use them.
      for (const subnet of this.subnets)
        Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId");
    } else {
      const vpc = this.ownVpc(network, config);
      this.vpc = vpc;
      this.subnets = network.mode === "public" ? vpc.publicSubnets : vpc.privateSubnets;
    }
    this.gangSubnets = this.subnets.slice(0, 1);
    this.securityGroup = new SecurityGroup(this, "Trainers", {
      vpc: this.vpc,
      description: "Trainers reach each other on any port (the collective listens on ephemeral ones) and AWS by HTTPS",
      allowAllOutbound: false,
    });
    this.securityGroup.addIngressRule(this.securityGroup, Port.allTcp(), "collective");
    this.securityGroup.addEgressRule(this.securityGroup, Port.allTcp(), "collective");
    this.securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "AWS endpoints");
    if (network.mode === "public") {
      this.securityGroup.addEgressRule(Peer.anyIpv6(), Port.tcp(443), "AWS endpoints");
    }
    // A node of a multi-node parallel job has its own network interface without a public IPv4 address, so it uses IPv6.
    // In addition to S3 and DynamoDB it calls only Lambda. This host name has addresses of both kinds.
    this.environment =
      network.mode === "public" ? { AWS_ENDPOINT_URL_LAMBDA: `https://lambda.${Stack.of(this).region}.api.aws` } : {};
  }

  private ownVpc({ mode, zones, cidr }: OwnNetwork, config: DeploymentConfig): Vpc {
    // Divides the range into sixteen parts, for up to six zones with two subnets each.
    const cidrMask = Number(cidr.split("/")[1]) + 4;
    const subnetConfiguration: SubnetConfiguration[] =
      mode === "public"
        ? [{ name: "trainers", subnetType: SubnetType.PUBLIC, cidrMask, mapPublicIpOnLaunch: true }]
        : [
            { name: "public", subnetType: SubnetType.PUBLIC, cidrMask, mapPublicIpOnLaunch: false },
            { name: "trainers", subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask },
          ];
    const logGroup = new LogGroup(this, "FlowLog", {
      retention: retentionOf(config),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr(cidr),
      ipProtocol: mode === "public" ? IpProtocol.DUAL_STACK : IpProtocol.IPV4_ONLY,
      maxAzs: zones,
      natGateways: mode === "public" ? 0 : 1,
      subnetConfiguration,
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
      flowLogs: { Flow: { destination: FlowLogDestination.toCloudWatchLogs(logGroup) } },
    });
  }
}

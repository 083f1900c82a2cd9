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
 * Where trainers run, and what they reach: each other on any port, S3 and DynamoDB by gateway endpoints, and AWS by HTTPS. Nobody reaches them. ADR 021 says
 * why the default has public addresses and no NAT gateway.
 */
export class TrainerNetwork extends Construct {
  readonly vpc: IVpc;
  readonly securityGroup: SecurityGroup;
  /** Of single-node jobs. */
  readonly subnets: readonly ISubnet[];
  /** Of multi-node-parallel jobs: a cluster placement group lies in one availability zone. */
  readonly gangSubnets: readonly ISubnet[];
  /** What containers must know to get out. */
  readonly environment: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, config: DeploymentConfig) {
    super(scope, id);
    const { network } = config;
    if (network.mode === "existing") {
      // Subnets come by themselves; of zones CDK wants one, and does nothing with it.
      this.vpc = Vpc.fromVpcAttributes(this, "Vpc", { vpcId: network.vpcId, availabilityZones: ["any"] });
      this.subnets = network.subnetIds.map((subnetId, i) => Subnet.fromSubnetId(this, `Subnet${i + 1}`, subnetId));
      // Their routes are the owner's, and nothing here looks at them.
      for (const subnet of this.subnets)
        Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId");
    } else {
      const vpc = this.#ownVpc(network, config);
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
    // A node of a multi-node-parallel job has a network interface of its own, which never gets a public IPv4 address: its way out is IPv6, and Lambda is
    // what it calls beside S3 and DynamoDB. This name has addresses of both kinds.
    this.environment =
      network.mode === "public" ? { AWS_ENDPOINT_URL_LAMBDA: `https://lambda.${Stack.of(this).region}.api.aws` } : {};
  }

  #ownVpc({ mode, zones, cidr }: OwnNetwork, config: DeploymentConfig): Vpc {
    // Sixteen parts: up to six zones, with two subnets each.
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

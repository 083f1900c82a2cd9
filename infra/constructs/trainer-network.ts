import {
  FlowLogDestination,
  GatewayVpcEndpointAwsService,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Construct } from "constructs";

/** Where trainers run: private subnets, the bulk of the data (S3, DynamoDB) by gateway endpoints, the rest through one NAT gateway. */
export class TrainerNetwork extends Construct {
  readonly vpc: Vpc;
  readonly securityGroup: SecurityGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.vpc = new Vpc(this, "Vpc", {
      maxAzs: 3,
      natGateways: 1,
      subnetConfiguration: [
        { name: "public", subnetType: SubnetType.PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false },
        { name: "trainers", subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 20 },
      ],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDB: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
      flowLogs: { Flow: { destination: FlowLogDestination.toCloudWatchLogs() } },
    });
    this.securityGroup = new SecurityGroup(this, "Trainers", {
      vpc: this.vpc,
      description: "Trainers reach each other on any port (the collective listens on ephemeral ones) and AWS by HTTPS",
      allowAllOutbound: false,
    });
    this.securityGroup.addIngressRule(this.securityGroup, Port.allTcp(), "collective");
    this.securityGroup.addEgressRule(this.securityGroup, Port.allTcp(), "collective");
    this.securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "AWS endpoints");
  }
}

import { App, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { type RingmasterConfig, readConfig } from "../../infra/config";
import { TrainerNetwork } from "../../infra/constructs/trainer-network";
import { ComputeStack } from "../../infra/stacks/compute-stack";
import { resources } from "./synthesized";

function networkOf(settings: RingmasterConfig) {
  const app = new App({ builtinCloudFormationValidation: false });
  const config = readConfig(settings, app.node);
  const stack = new Stack(app, "Stack");
  const network = new TrainerNetwork(stack, "Network", config);
  return { network, stack, template: Template.fromStack(stack) };
}

function rulesOf(template: Template) {
  const [group] = resources(template, "AWS::EC2::SecurityGroup");
  const out = (group!.Properties["SecurityGroupEgress"] ?? []) as readonly Record<string, unknown>[];
  return {
    in: resources(template, "AWS::EC2::SecurityGroupIngress").map(({ Properties }) => [
      JSON.stringify(Properties["SourceSecurityGroupId"]) === JSON.stringify(Properties["GroupId"]),
      Properties["IpProtocol"],
      Properties["FromPort"],
      Properties["ToPort"],
    ]),
    out: out.map((rule) => [rule["CidrIp"] ?? rule["CidrIpv6"], rule["FromPort"], rule["ToPort"]]),
    inline: group!.Properties["SecurityGroupIngress"],
  };
}

describe.each<[string, RingmasterConfig]>([
  ["public", {}],
  ["private", { network: { mode: "private", zones: 2 } }],
  [
    "existing",
    { network: { mode: "existing", vpcId: "vpc-0123456789abcdef0", subnetIds: ["subnet-0123456789abcdef0"] } },
  ],
])("a %s network", (mode, settings) => {
  it("allows trainers connections with each other and outgoing HTTPS, and puts gangs into one subnet", () => {
    const { template, network } = networkOf(settings);
    const rules = rulesOf(template);
    expect(rules.in).toEqual([[true, "tcp", 0, 65_535]]);
    expect(rules.inline).toBeUndefined();
    const anywhere = [["0.0.0.0/0", 443, 443]];
    expect(rules.out).toEqual(mode === "public" ? [...anywhere, ["::/0", 443, 443]] : anywhere);
    expect(network.gangSubnets).toEqual([network.subnets[0]]);
  });
});

describe("without a NAT gateway", () => {
  const { template, stack, network } = networkOf({});

  it("has no resource that costs money per hour", () => {
    for (const type of ["NatGateway", "EIP"]) template.resourceCountIs(`AWS::EC2::${type}`, 0);
    for (const { Properties } of resources(template, "AWS::EC2::VPCEndpoint")) {
      expect(Properties["VpcEndpointType"]).toBe("Gateway");
    }
    template.resourceCountIs("AWS::EC2::VPCEndpoint", 2);
  });

  it("has instances with public addresses, and IPv6 for the interfaces of gangs' nodes, which never get one", () => {
    for (const { Properties } of resources(template, "AWS::EC2::Subnet")) {
      expect(Properties).toMatchObject({ MapPublicIpOnLaunch: true, Ipv6CidrBlock: expect.anything() });
    }
    template.hasResourceProperties("AWS::EC2::Route", {
      DestinationIpv6CidrBlock: "::/0",
      GatewayId: Match.anyValue(),
    });
    expect(network.environment).toEqual({ AWS_ENDPOINT_URL_LAMBDA: `https://lambda.${stack.region}.api.aws` });
  });
});

it("has one NAT gateway, and instances without public addresses, if it is private", () => {
  const { template, network } = networkOf({ network: { mode: "private", zones: 2 } });
  template.resourceCountIs("AWS::EC2::NatGateway", 1);
  for (const { Properties } of resources(template, "AWS::EC2::Subnet")) {
    expect(Properties["MapPublicIpOnLaunch"]).toBe(false);
  }
  expect(network.subnets).toHaveLength(2);
  expect(network.environment).toEqual({});
});

it("creates only a security group in an existing VPC", () => {
  const subnetIds = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"];
  const { template, network } = networkOf({ network: { mode: "existing", vpcId: "vpc-0123456789abcdef0", subnetIds } });
  template.resourceCountIs("AWS::EC2::VPC", 0);
  template.resourceCountIs("AWS::EC2::Subnet", 0);
  expect(network.subnets.map(({ subnetId }) => subnetId)).toEqual(subnetIds);
  template.hasResourceProperties("AWS::EC2::SecurityGroup", { VpcId: "vpc-0123456789abcdef0" });
});

it("uses the configured number of zones, without lookups even if the account is known", () => {
  const app = new App({ builtinCloudFormationValidation: false });
  const config = readConfig({ network: { mode: "public", zones: 5, cidr: "10.9.0.0/20" } }, app.node);
  const stack = new ComputeStack(app, "Compute", {
    config,
    env: { account: "111122223333", region: "eu-central-1" },
    trainerImage: () => "registry.example.com/trainer:1",
  });
  const subnets = resources(Template.fromStack(stack), "AWS::EC2::Subnet").map(({ Properties }) => [
    Properties["AvailabilityZone"],
    Properties["CidrBlock"],
  ]);
  expect(subnets).toEqual(
    [0, 1, 2, 3, 4].map((zone) => [{ "Fn::Select": [zone, { "Fn::GetAZs": "" }] }, `10.9.${zone}.0/24`]),
  );
  expect(app.synth().manifest.missing ?? []).toEqual([]);
});

it("uses the named zones, and the first of them for gangs", () => {
  const app = new App({ builtinCloudFormationValidation: false });
  const config = readConfig(
    { network: { mode: "public", zones: 2, zoneNames: ["us-east-1d", "us-east-1b"] } },
    app.node,
  );
  const template = Template.fromStack(
    new ComputeStack(app, "Compute", { config, trainerImage: () => "registry.example.com/trainer:1" }),
  );
  const subnets = template.findResources("AWS::EC2::Subnet");
  const zonesOf = Object.values(template.findResources("AWS::Batch::ComputeEnvironment")).map(({ Properties }) =>
    (Properties.ComputeResources.Subnets as readonly { readonly Ref: string }[]).map(
      ({ Ref }) => subnets[Ref]!.Properties.AvailabilityZone as string,
    ),
  );
  const [arrays, gangs] = [["us-east-1d", "us-east-1b"], ["us-east-1d"]];
  expect(zonesOf).toEqual([arrays, arrays, arrays, arrays, gangs, gangs]);
});

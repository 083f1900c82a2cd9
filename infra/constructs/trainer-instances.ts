import {
  BlockDeviceVolume,
  type CfnLaunchTemplate,
  EbsDeviceVolumeType,
  LaunchTemplate,
  LaunchTemplateHttpTokens,
  MultipartBody,
  MultipartUserData,
  UserData,
} from "aws-cdk-lib/aws-ec2";
import { ManagedPolicy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { resourceNames } from "../../platform/trainer-job";
import type { DeploymentConfig } from "../config";
import { hostFactsCommands } from "./host-facts";
import { hostLogCommands } from "./host-logs";

/** The minimum for a shell by Session Manager (its user guide, "Verify or add instance permissions"). */
const sessionManagerActions = [
  "ssm:UpdateInstanceInformation",
  "ssmmessages:CreateControlChannel",
  "ssmmessages:CreateDataChannel",
  "ssmmessages:OpenControlChannel",
  "ssmmessages:OpenDataChannel",
];

export class TrainerInstances extends Construct {
  readonly role: Role;
  readonly launchTemplate: LaunchTemplate;

  constructor(scope: Construct, id: string, { prefix, compute, tags: configured }: DeploymentConfig) {
    super(scope, id);
    this.role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("ec2.amazonaws.com"),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName("service-role/AmazonEC2ContainerServiceforEC2Role")],
    });
    LogGroup.fromLogGroupName(this, "Log", resourceNames(prefix).hostLogGroup).grantWrite(this.role);
    // AWS's own policy for the agent would also allow the instance to read every parameter of the account. These actions
    // support no resources.
    if (compute.sessionManager)
      this.role.addToPrincipalPolicy(new PolicyStatement({ actions: sessionManagerActions, resources: ["*"] }));
    this.launchTemplate = new LaunchTemplate(this, "Template", {
      userData: userDataOf(prefix),
      httpTokens: LaunchTemplateHttpTokens.REQUIRED,
      httpEndpoint: true,
      httpPutResponseHopLimit: 1, // A token does not reach a container that has a network of its own.
      httpProtocolIpv6: false, // The block of the metadata service is for its IPv4 address (host-facts.ts).
      blockDevices: [
        {
          deviceName: "/dev/xvda",
          volume: BlockDeviceVolume.ebs(compute.diskGib, {
            encrypted: true,
            volumeType: EbsDeviceVolumeType.GP3,
            deleteOnTermination: true,
          }),
        },
      ],
    });
    // Replaces the default, the construct's path, which would change the template with every renamed construct.
    const template = this.launchTemplate.node.defaultChild as CfnLaunchTemplate;
    const tags = { Name: `${prefix}-trainer`, ringmaster: prefix, ...configured };
    template.addPropertyOverride(
      "LaunchTemplateData.TagSpecifications",
      ["instance", "volume"].map((ResourceType) => ({
        ResourceType,
        Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      })),
    );
  }
}

/**
 * Returns the user data that sets up the ECS agent, the instance's files for its containers, and its logs. After a spot notice, the agent takes no other containers: one that
 * starts there would only wait for the end of the host. Batch requires the MIME format.
 */
function userDataOf(prefix: string): MultipartUserData {
  const userData = new MultipartUserData();
  const script = UserData.forLinux();
  script.addCommands(
    "echo ECS_ENABLE_SPOT_INSTANCE_DRAINING=true >> /etc/ecs/ecs.config",
    ...hostFactsCommands(),
    ...hostLogCommands(prefix),
  );
  userData.addUserDataPart(script, MultipartBody.SHELL_SCRIPT, true);
  return userData;
}

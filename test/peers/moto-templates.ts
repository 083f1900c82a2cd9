/** A CloudFormation template as JSON. */
export interface CloudFormationTemplate {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown }>>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly DependsOn?: string | readonly string[];
  readonly Properties?: Readonly<Record<string, unknown>>;
}

const passedOver = "No Moto CloudFormation support";

/**
 * The types of the templates that moto 5.2.1 cannot make, with what it says. They are left out, and what refers to one gets a made-up value; everything
 * else must be created.
 */
export const motoCannotMake: Readonly<Record<string, string>> = {
  "AWS::ApiGateway::Account": passedOver,
  "AWS::ApiGateway::Deployment": "The REST API doesn't contain any methods: moto reads no Body",
  "AWS::ApiGateway::Stage": "stands on a deployment",
  "AWS::Batch::JobDefinition of type multinode": "containerProperties or eksProperties must be provided",
  "AWS::Batch::SchedulingPolicy": passedOver,
  "AWS::Budgets::Budget": passedOver,
  "AWS::CloudWatch::Alarm": passedOver,
  "AWS::EC2::PlacementGroup": passedOver,
  "AWS::EC2::SecurityGroupEgress": passedOver,
  "AWS::EC2::VPCCidrBlock": passedOver,
  "AWS::Lambda::EventInvokeConfig": passedOver,
  "AWS::Logs::MetricFilter": passedOver,
  "AWS::S3::BucketPolicy": passedOver,
  "AWS::SNS::TopicPolicy": passedOver,
  "AWS::SQS::QueuePolicy": passedOver,
  "AWS::Scheduler::ScheduleGroup": passedOver,
  "Custom::VpcRestrictDefaultSG": "would run its function in Docker",
};

type Properties = Readonly<Record<string, unknown>>;

/** Properties that moto stumbles over, and what becomes of them. */
const adapted: Readonly<Record<string, (properties: Properties, template: CloudFormationTemplate) => Properties>> = {
  // "resource … does not support attribute type Ipv6CidrBlocks in Fn::GetAtt"
  "AWS::EC2::Subnet": ({ Ipv6CidrBlock: _, AssignIpv6AddressOnCreation: __, ...rest }) => rest,
  // KeyError 'TagKey': it looks for the API's names of a tag's parts in CloudFormation's.
  "AWS::KMS::Key": ({ Tags: _, ...rest }) => rest,
  // KeyError 'ServiceRole': to AWS, none means the service-linked one. Here it must be one that there is.
  "AWS::Batch::ComputeEnvironment": (properties, template) => ({
    ...properties,
    ServiceRole: { "Fn::GetAtt": [aRoleOf(template), "Arn"] },
  }),
};

/**
 * The template as moto takes it.
 *
 * @param outputs of stacks that are there, by `stack/output`: for `Fn::GetStackOutput`, which moto does not know
 */
export function forMoto(
  template: CloudFormationTemplate,
  outputs: ReadonlyMap<string, string>,
): CloudFormationTemplate {
  const typeOf = (id: string) => {
    const { Type = "", Properties = {} } = template.Resources[id] ?? {};
    return Properties["Type"] === "multinode" ? `${Type} of type multinode` : Type;
  };
  const absent = (id: string) => typeOf(id) in motoCannotMake;

  function adapt(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(adapt);
    if (typeof value !== "object" || value === null) return value;
    const [[key, content] = []] = Object.entries(value);
    if (key === "Fn::GetStackOutput") {
      const { StackName, OutputName } = content as { readonly StackName: string; readonly OutputName: string };
      return outputs.get(`${StackName}/${OutputName}`) ?? `${StackName}.${OutputName}`;
    }
    if (key === "Ref" && absent(String(content))) return String(content);
    if (key === "Fn::GetAtt") {
      const [id, attribute] = content as readonly [string, string];
      if (absent(id)) return `${id}.${attribute}`;
      // 'ComputeEnvironment' object has no attribute 'get_cfn_attribute'; its Ref is the same.
      if (attribute === "ComputeEnvironmentArn") return { Ref: id };
    }
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, adapt(item)]));
  }

  const resources = Object.entries(template.Resources).filter(([id]) => !absent(id));
  return {
    Resources: Object.fromEntries(
      resources.map(([id, { Type, DependsOn = [], Properties = {} }]) => [
        id,
        {
          Type,
          DependsOn: [DependsOn].flat().filter((other) => !absent(other)),
          Properties: adapt(adapted[Type]?.(Properties, template) ?? Properties) as Properties,
        },
      ]),
    ),
    ...(template.Outputs ? { Outputs: adapt(template.Outputs) as CloudFormationTemplate["Outputs"] } : {}),
  } as CloudFormationTemplate;
}

function aRoleOf({ Resources }: CloudFormationTemplate): string {
  return Object.entries(Resources).find(([, { Type }]) => Type === "AWS::IAM::Role")![0];
}

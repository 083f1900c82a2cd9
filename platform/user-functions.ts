/** Functions of users that steps of pipelines may call: `<prefix>-user-*`, in the account and region of the platform. */
export const userFunctionPattern = (prefix: string): string => `${prefix}-user-*`;

/** Returns a check of a function's ARN: the rule that it breaks, if any. */
export function functionRule({
  prefix,
  stateMachineArn,
}: {
  readonly prefix: string;
  readonly stateMachineArn: string;
}) {
  const [, partition, , region, account] = stateMachineArn.split(":");
  const begin = `arn:${partition}:lambda:${region}:${account}:function:${prefix}-user-`;
  return (arn: string): string | undefined =>
    arn.startsWith(begin) && /^[\w-]{1,64}(:[\w$-]{1,128})?$/.test(arn.slice(begin.length))
      ? undefined
      : `must be a module that was bundled, or ${begin}NAME: only such functions of this account may be called`;
}

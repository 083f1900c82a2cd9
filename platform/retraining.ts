/** Names of the resources for retraining in an account. */
export const retrainingNames = ({ prefix, region }: { readonly prefix: string; readonly region: string }) => ({
  /** Holds a schedule for each rule on a schedule: `<team>.<rule>`. */
  scheduleGroup: `${prefix}-retraining`,
  /** The role that schedules call the function `retrain` by. Roles are the account's, not a region's. */
  scheduleRole: `${prefix}-retraining-${region}`,
  /** Firings that could not be delivered in a day. */
  deadLetterQueue: `${prefix}-retraining-undelivered`,
});

export function driftAlarmPrefix(prefix: string): string {
  return `${prefix}-drift-`;
}

/** The CloudWatch alarm of a monitor. A dot parts team and monitor, because both may hold hyphens. */
export function driftAlarmName(prefix: string, team: string, monitor: string): string {
  return `${driftAlarmPrefix(prefix)}${team}.${monitor}`;
}

/** The inverse of `driftAlarmName`; `undefined` for the name of another alarm. */
export function parseDriftAlarmName(
  prefix: string,
  alarm: string,
): { readonly team: string; readonly monitor: string } | undefined {
  if (!alarm.startsWith(driftAlarmPrefix(prefix))) return undefined;
  const [team, monitor, ...more] = alarm.slice(driftAlarmPrefix(prefix).length).split(".");
  return team && monitor && more.length === 0 ? { team, monitor } : undefined;
}
